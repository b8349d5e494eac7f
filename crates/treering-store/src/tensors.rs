//! Named arrays of numbers, and the safetensors files that hold them.
//!
//! The header is written here, because the safetensors crate writes metadata in no fixed order and equal rings must give equal bytes. On the
//! way in the crate parses and validates the header; the end of the data is compared with the file here, because the crate's own
//! comparison adds sizes that a hostile header can make overflow.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::TensorInfo;
use serde_json::{Map, Value, json};
use treering_data::safetensors_header;

use crate::error::{Fault, Result, StoreError};

/// The numbers of a tensor, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers of 32 bits.
    F32(Vec<f32>),
    /// Numbers of 64 bits.
    F64(Vec<f64>),
}

/// A named array.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its name in the file.
    pub name: String,
    /// Its lengths; their product is the number of values.
    pub shape: Vec<usize>,
    /// Its values, row by row.
    pub values: Values,
}

impl Tensor {
    /// A tensor of 32-bit numbers.
    pub fn f32(name: impl Into<String>, shape: &[usize], values: Vec<f32>) -> Tensor {
        Tensor {
            name: name.into(),
            shape: shape.to_vec(),
            values: Values::F32(values),
        }
    }

    /// A tensor of 64-bit numbers.
    pub fn f64(name: impl Into<String>, shape: &[usize], values: Vec<f64>) -> Tensor {
        Tensor {
            name: name.into(),
            shape: shape.to_vec(),
            values: Values::F64(values),
        }
    }

    fn kind(&self) -> Dtype {
        match self.values {
            Values::F32(_) => Dtype::F32,
            Values::F64(_) => Dtype::F64,
        }
    }

    fn bytes(&self) -> usize {
        match &self.values {
            Values::F32(values) => values.len() * 4,
            Values::F64(values) => values.len() * 8,
        }
    }
}

/// The bytes of a safetensors file. Equal input gives equal bytes.
///
/// A tensor whose shape does not fit its values, or that shares its name with another, gives a file that [`decode`] and
/// [`Writer::commit`](crate::Writer::commit) refuse.
pub fn encode(tensors: &[Tensor], metadata: &BTreeMap<String, String>) -> Vec<u8> {
    // Wide numbers first: everything then lies at a multiple of its size.
    let mut order: Vec<&Tensor> = tensors.iter().collect();
    order.sort_by_key(|tensor| std::cmp::Reverse(tensor.kind().bitsize()));
    let mut header = Map::new();
    if !metadata.is_empty() {
        header.insert("__metadata__".into(), json!(metadata));
    }
    let mut end = 0;
    for tensor in &order {
        let start = end;
        end += tensor.bytes();
        let entry =
            json!({ "dtype": tensor.kind(), "shape": tensor.shape, "data_offsets": [start, end] });
        header.insert(tensor.name.clone(), entry);
    }
    let mut header = Value::Object(header).to_string();
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    let mut bytes = Vec::with_capacity(8 + header.len() + end);
    bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    for tensor in order {
        match &tensor.values {
            Values::F32(values) => values
                .iter()
                .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes())),
            Values::F64(values) => values
                .iter()
                .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes())),
        }
    }
    bytes
}

/// Reads the bytes of a safetensors file; `file` is its name in errors.
///
/// # Errors
/// When the bytes are no safetensors file, when a tensor holds something other than 32-bit or 64-bit floating-point numbers, or a number that is
/// not finite.
pub fn decode(file: &Path, bytes: &[u8]) -> Result<Tensors> {
    let (header, data) =
        safetensors_header(bytes).map_err(|why| Fault::Damaged { why }.at(file))?;
    let mut infos: Vec<(String, &TensorInfo)> = header.tensors().into_iter().collect();
    infos.sort_by(|(a, first), (b, second)| (first.data_offsets, a).cmp(&(second.data_offsets, b)));
    let metadata = header.metadata().clone().unwrap_or_default();
    let mut tensors = Tensors {
        file: file.to_owned(),
        metadata: metadata.into_iter().collect(),
        tensors: Vec::with_capacity(infos.len()),
    };
    for (name, info) in infos {
        let fail = |fault: Fault| fault.at(file).tensor(&name);
        let (from, to) = info.data_offsets;
        let bytes = data.get(from..to).ok_or_else(|| {
            let why = "its bytes lie outside of the file".into();
            fail(Fault::Damaged { why })
        })?;
        tensors.tensors.push(Tensor {
            shape: info.shape.clone(),
            values: values(info.dtype, bytes).map_err(fail)?,
            name,
        });
    }
    Ok(tensors)
}

fn values(kind: Dtype, bytes: &[u8]) -> std::result::Result<Values, Fault> {
    let (values, wrong) = match kind {
        Dtype::F32 => {
            let numbers = bytes.as_chunks().0.iter();
            let values: Vec<f32> = numbers.map(|&b| f32::from_le_bytes(b)).collect();
            let wrong = values.iter().position(|value| !value.is_finite());
            (Values::F32(values), wrong)
        }
        Dtype::F64 => {
            let numbers = bytes.as_chunks().0.iter();
            let values: Vec<f64> = numbers.map(|&b| f64::from_le_bytes(b)).collect();
            let wrong = values.iter().position(|value| !value.is_finite());
            (Values::F64(values), wrong)
        }
        other => {
            let found = format!("{other:?}");
            let expected = "F32 or F64";
            return Err(Fault::WrongType { found, expected });
        }
    };
    match wrong {
        Some(position) => Err(Fault::NotFinite { position }),
        None => Ok(values),
    }
}

/// The tensors of a file, to be taken out one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensors {
    file: PathBuf,
    metadata: BTreeMap<String, String>,
    tensors: Vec<Tensor>,
}

impl Tensors {
    /// Takes out a tensor of 32-bit numbers. `shape` has one entry per dimension; `None` stands for any length.
    ///
    /// # Errors
    /// When it is not there (any more), holds other numbers, or has another shape.
    pub fn f32(&mut self, name: &str, shape: &[Option<usize>]) -> Result<(Vec<usize>, Vec<f32>)> {
        let place = self.place(name, Dtype::F32, shape)?;
        let tensor = self.tensors.remove(place);
        match tensor.values {
            Values::F32(values) => Ok((tensor.shape, values)),
            Values::F64(_) => Err(self.wrong_type(name, Dtype::F64, Dtype::F32)),
        }
    }

    /// Takes out a tensor of 64-bit numbers, as [`Tensors::f32`] does.
    ///
    /// # Errors
    /// As [`Tensors::f32`].
    pub fn f64(&mut self, name: &str, shape: &[Option<usize>]) -> Result<(Vec<usize>, Vec<f64>)> {
        let place = self.place(name, Dtype::F64, shape)?;
        let tensor = self.tensors.remove(place);
        match tensor.values {
            Values::F64(values) => Ok((tensor.shape, values)),
            Values::F32(_) => Err(self.wrong_type(name, Dtype::F32, Dtype::F64)),
        }
    }

    /// The names of the tensors that were not taken out yet, in the order of the file.
    pub fn names(&self) -> Vec<&str> {
        self.tensors.iter().map(|t| t.name.as_str()).collect()
    }

    /// Whether there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.iter().any(|tensor| tensor.name == name)
    }

    /// The file that the tensors come from.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The texts that the file's header holds beside the tensors.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// All tensors that were not taken out, in the order of the file.
    pub fn into_vec(self) -> Vec<Tensor> {
        self.tensors
    }

    /// Where a tensor is, once it is known to be what the caller expects.
    fn place(&self, name: &str, kind: Dtype, shape: &[Option<usize>]) -> Result<usize> {
        let place = self.tensors.iter().position(|tensor| tensor.name == name);
        let Some((place, tensor)) = place.and_then(|at| Some((at, self.tensors.get(at)?))) else {
            let available = self.names().into_iter().map(str::to_owned).collect();
            return Err(self.wrong(name, Fault::MissingTensor { available }));
        };
        if tensor.kind() != kind {
            return Err(self.wrong_type(name, tensor.kind(), kind));
        }
        let fits = tensor.shape.len() == shape.len()
            && tensor
                .shape
                .iter()
                .zip(shape)
                .all(|(&found, expected)| expected.is_none_or(|n| n == found));
        if !fits {
            let fault = Fault::WrongShape {
                found: tensor.shape.clone(),
                expected: shape.to_vec(),
            };
            return Err(self.wrong(name, fault));
        }
        Ok(place)
    }

    fn wrong_type(&self, name: &str, found: Dtype, expected: Dtype) -> StoreError {
        let expected = if expected == Dtype::F32 { "F32" } else { "F64" };
        let found = format!("{found:?}");
        self.wrong(name, Fault::WrongType { found, expected })
    }

    fn wrong(&self, name: &str, fault: Fault) -> StoreError {
        fault.at(&self.file).tensor(name)
    }
}
