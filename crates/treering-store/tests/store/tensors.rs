//! Files of tensors: equal bytes for equal tensors, and no trust in what a file says.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use safetensors::SafeTensors;
use treering_store::{Fault, Tensor, Values, decode, encode};

use crate::common::tensors;

fn none() -> BTreeMap<String, String> {
    BTreeMap::new()
}

fn file_of(header: &str, data: &[u8]) -> Vec<u8> {
    [
        &(header.len() as u64).to_le_bytes()[..],
        header.as_bytes(),
        data,
    ]
    .concat()
}

fn fault_of(bytes: &[u8]) -> Fault {
    let error = decode(Path::new("x.safetensors"), bytes).unwrap_err();
    assert!(error.to_string().starts_with("x.safetensors"), "{error}");
    *error.fault
}

#[test]
fn the_bytes_are_those_of_the_format() {
    let metadata = BTreeMap::from([
        ("b".to_owned(), "2".to_owned()),
        ("a".to_owned(), "1".to_owned()),
    ]);
    let bytes = encode(&tensors(7), &metadata);
    let header = r#"{"__metadata__":{"a":"1","b":"2"},"mean":{"dtype":"F64","shape":[3],"data_offsets":[0,24]},"head":{"dtype":"F32","shape":[2,2],"data_offsets":[24,40]}}"#;
    let padded = format!("{header:width$}", width = header.len().next_multiple_of(8));
    assert!(bytes.starts_with(&file_of(&padded, &7f64.to_le_bytes())));
    // An independent reader agrees.
    let theirs = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(theirs.tensor("head").unwrap().shape(), [2, 2]);
    assert_eq!(
        theirs.tensor("head").unwrap().data()[..4],
        7f32.to_le_bytes()
    );
    let ours = decode(Path::new("x"), &bytes).unwrap();
    assert_eq!(*ours.metadata(), metadata);
    assert_eq!(ours.names(), ["mean", "head"]);
}

#[test]
fn tensors_are_taken_once_and_as_they_are() {
    let mut read = decode(Path::new("some/file"), &encode(&tensors(7), &none())).unwrap();
    assert!(read.has("head") && !read.has("tail"));
    let text = |error: treering_store::StoreError| error.to_string();
    let error = text(read.f32("mean", &[None]).unwrap_err());
    assert!(
        error.contains("some/file, tensor `mean`: elements are of type F64, not F32"),
        "{error}"
    );
    let error = text(read.f32("head", &[Some(2), Some(3)]).unwrap_err());
    assert!(error.contains("the shape is [2, 2], not [2, 3]"), "{error}");
    let error = text(read.f32("head", &[None]).unwrap_err());
    assert!(error.contains("not [any]"), "{error}");
    let error = text(read.f64("tail", &[None]).unwrap_err());
    assert!(
        error.contains("`tail`: it is missing (there: `mean`, `head`)"),
        "{error}"
    );
    assert_eq!(read.f32("head", &[Some(2), None]).unwrap().0, [2, 2]);
    assert_eq!(read.f64("mean", &[None]).unwrap().1[0], 7.0);
    assert!(read.f64("mean", &[None]).is_err());
    assert!(read.into_vec().is_empty());
}

#[test]
fn values_that_are_not_finite_are_refused() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let narrow = Tensor::f32("t", &[3], vec![0.0, value, 0.0]);
        let wide = Tensor::f64("t", &[2], vec![0.0, value.into()]);
        for tensor in [narrow, wide] {
            let fault = fault_of(&encode(&[tensor], &none()));
            assert!(matches!(fault, Fault::NotFinite { position: 1 }), "{fault}");
        }
    }
}

#[test]
fn tensors_that_contradict_themselves_give_a_file_that_is_refused() {
    let lists = [
        vec![Tensor::f32("t", &[3], vec![0.0])],
        vec![
            Tensor::f32("t", &[1], vec![0.0]),
            Tensor::f32("t", &[1], vec![1.0]),
        ],
        vec![Tensor::f32("__metadata__", &[1], vec![0.0])],
    ];
    for list in lists {
        fault_of(&encode(&list, &none()));
    }
}

#[test]
fn headers_that_lie_are_refused() {
    let huge = 2_305_843_009_213_693_951u64; // As many bytes as a length in bits can say.
    let ends: Vec<u64> = (0..8).map(|i| huge * i).collect();
    let overflowing: Vec<String> = ends
        .windows(2)
        .map(|w| {
            format!(
                r#""t{}":{{"dtype":"U8","shape":[{huge}],"data_offsets":[{},{}]}}"#,
                w[0], w[0], w[1]
            )
        })
        .collect();
    let last = format!(
        r#""z":{{"dtype":"U8","shape":[{huge}],"data_offsets":[{},{}]}}"#,
        huge * 7,
        huge * 8
    );
    let headers = [
        String::new(),
        "{".into(),
        "[]".into(),
        "{}".into(),
        format!("{{{},{last}}}", overflowing.join(",")),
        r#"{"t":{"dtype":"F32","shape":[18446744073709551615,2],"data_offsets":[0,8]}}"#.into(),
        r#"{"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#.into(),
        r#"{"t":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#.into(),
        r#"{"t":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#.into(),
        r#"{"t":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}"#.into(),
        r#"{"t":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}"#.into(),
        r#"{"t":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}"#.into(),
        format!(r#"{{"t":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000)),
    ];
    for header in headers {
        fault_of(&file_of(&header, &[0; 8]));
    }
    for bytes in [
        &b""[..],
        b"1234567",
        &[255; 8],
        &[255; 100],
        &9u64.to_le_bytes(),
    ] {
        fault_of(bytes);
    }
}

#[test]
fn every_cut_of_a_file_is_refused() {
    let bytes = encode(&tensors(3), &none());
    for length in 0..bytes.len() {
        fault_of(&bytes[..length]);
    }
}

fn any_tensors() -> impl Strategy<Value = Vec<Tensor>> {
    let shape = prop::collection::vec(0usize..4, 0..4);
    let any = (shape, any::<bool>(), -1e30f64..1e30);
    prop::collection::btree_map("[a-z\"\\\\é.]{0,6}", any, 0..6).prop_map(|map| {
        let tensor = |(name, (shape, wide, value)): (String, (Vec<usize>, bool, f64))| {
            let count: usize = shape.iter().product();
            match wide {
                true => Tensor::f64(name, &shape, vec![value; count]),
                false => Tensor::f32(name, &shape, vec![value as f32; count]),
            }
        };
        map.into_iter().map(tensor).collect()
    })
}

proptest! {
    #[test]
    fn what_was_encoded_is_decoded(tensors in any_tensors()) {
        let bytes = encode(&tensors, &none());
        prop_assert_eq!(&bytes, &encode(&tensors, &none()));
        let mut read = decode(Path::new("x"), &bytes).unwrap().into_vec();
        read.sort_by(|a, b| a.name.cmp(&b.name));
        prop_assert_eq!(read, tensors);
    }

    #[test]
    fn any_bytes_give_tensors_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..60) {
        let header = r#"{"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
        let _ = decode(Path::new("x"), &bytes);
        let mut lying = file_of(header, &bytes);
        if let Some(byte) = bytes.first() {
            lying[8 + cut.min(header.len() - 1)] = *byte;
        }
        if let Ok(read) = decode(Path::new("x"), &lying) {
            for tensor in read.into_vec() {
                let count = match tensor.values { Values::F32(v) => v.len(), Values::F64(v) => v.len() };
                prop_assert_eq!(count, tensor.shape.iter().product::<usize>());
            }
        }
    }
}
