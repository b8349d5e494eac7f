//! Memory of numpy in a graph: the one place where it is lent without a copy.

use std::sync::Arc;

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use treering_graph::{Buffer, Lender};

use crate::failure::{Failure, Outcome};

/// An array that numpy owns, kept alive.
struct Held<T> {
    start: *const T,
    length: usize,
    _owner: Py<PyArrayDyn<T>>,
}

// SAFETY: the memory is only read, and belongs to an array that `_owner` keeps alive; numpy never moves an array's memory while a reference to it is held and
// it is read-only, which `lend` makes sure of. The reference itself is dropped by PyO3, which waits for the interpreter where need be.
#[allow(unsafe_code)]
unsafe impl<T: Sync> Send for Held<T> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<T: Sync> Sync for Held<T> {}

impl<T: Sync> Lender<T> for Held<T> {
    #[allow(unsafe_code)]
    fn items(&self) -> &[T] {
        // SAFETY: `lend` checked that so many elements lie there one after the other, aligned; they stay, see above.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// An array's numbers, row by row, without a copy. The array has to be contiguous, aligned and read-only.
///
/// # Errors
/// An array that holds other numbers or cannot be lent.
pub(crate) fn lend<T: Element + Clone + Send + Sync + 'static>(
    array: &Bound<'_, PyAny>,
) -> Outcome<Buffer<T>> {
    let numbers = array.cast::<PyArrayDyn<T>>().map_err(|_| {
        Failure::kind(
            "an array has other numbers than it should have; give one that numpy can convert",
        )
    })?;
    let flags = array.getattr("flags")?;
    let is = |flag: &str| -> PyResult<bool> { flags.getattr(flag)?.is_truthy() };
    if !(is("c_contiguous")? && is("aligned")?) || is("writeable")? {
        return Err(Failure::value(
            "an array is not contiguous, aligned and read-only",
        ));
    }
    if numbers.is_empty() {
        return Ok(Vec::new().into());
    }
    Ok(Buffer::shared(Arc::new(Held {
        start: numbers.data().cast_const(),
        length: numbers.len(),
        _owner: numbers.clone().unbind(),
    })))
}
