//! What every reader of tensors is tried with.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use treering_store::{Fault, StoreError, Tensor, Tensors, Values, decode, encode};

/// Asserts that a file of tensors is refused, by the name of the tensor, when any of them is too long or missing, and when there is one too many.
pub(crate) fn tensors_are_checked<T: std::fmt::Debug>(
    good: &[u8],
    read: impl Fn(Tensors) -> Result<T, StoreError>,
) {
    let file = Path::new("some.safetensors");
    let read = |tensors: &[Tensor]| {
        let bytes = encode(tensors, &BTreeMap::new());
        read(decode(file, &bytes).unwrap())
    };
    let all = decode(file, good).unwrap().into_vec();
    read(&all).unwrap();
    let refused = |tensors: &[Tensor], name: &str| {
        let error = read(tensors).unwrap_err();
        let told = error.to_string();
        assert!(told.contains("some.safetensors"), "{told}");
        assert!(told.contains(name), "{name} is not in: {told}");
        error
    };
    for at in 0..all.len() {
        let name = all[at].name.clone();
        let mut longer = all.clone();
        let tensor = &mut longer[at];
        tensor.shape[0] += 1;
        let length = tensor.shape.iter().product();
        match &mut tensor.values {
            Values::F32(values) => values.resize(length, 0.5),
            Values::F64(values) => values.resize(length, 0.5),
        }
        let error = refused(&longer, &name);
        let wrong = matches!(
            *error.fault,
            Fault::WrongShape { .. } | Fault::Damaged { .. }
        );
        assert!(wrong, "{name}: {error}");
        let mut fewer = all.clone();
        fewer.remove(at);
        refused(&fewer, &name);
    }
    let mut more = all;
    more.push(Tensor::f32("spare", &[1], vec![1.0]));
    refused(&more, "spare");
}
