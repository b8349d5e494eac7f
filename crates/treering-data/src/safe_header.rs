//! Reading the header of a safetensors file. The library's own function adds up sizes from the file unchecked, which a file that lies
//! can make overflow; this one compares before it adds.

use safetensors::tensor::Metadata;

/// The header of a safetensors file, and the bytes that follow it.
///
/// # Errors
/// What is wrong, for people: cut off, not a header, or more or fewer numbers than it tells of.
pub fn safetensors_header(bytes: &[u8]) -> Result<(Metadata, &[u8]), String> {
    let (header, data) = cut(bytes).ok_or("its header is cut off")?;
    let header: Metadata = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    if header.data_len() != data.len() {
        return Err(format!(
            "its header tells of {} bytes of numbers, {} are there",
            header.data_len(),
            data.len()
        ));
    }
    Ok((header, data))
}

/// Cuts a file into header and data.
fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::safetensors_header;

    #[test]
    fn sizes_that_overflow_are_refused() {
        let end = u64::MAX;
        let header =
            format!(r#"{{"a":{{"dtype":"U8","shape":[{end}],"data_offsets":[0,{end}]}}}}"#);
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        assert!(safetensors_header(&file).is_err());
        for length in [0, u64::MAX, 9] {
            let mut file = u64::to_le_bytes(length).to_vec();
            file.extend(b"{}");
            assert!(safetensors_header(&file).is_err(), "{length}");
        }
    }
}
