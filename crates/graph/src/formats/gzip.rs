//! Compressed files.

use super::{Error, Result};
use std::io::Read as _;

/// A compressed file may not unpack to more; a few megabytes of gzip can hold this much.
const MOST_BYTES: u64 = 16 << 30;
const MAGIC: &[u8] = &[0x1f, 0x8b];

/// Unpacks gzip data; other bytes stay as they are.
///
/// # Errors
/// Damaged data, or more than 16 GiB of it.
pub fn unpack(bytes: Vec<u8>) -> Result<Vec<u8>> {
    if !bytes.starts_with(MAGIC) {
        return Ok(bytes);
    }
    let mut unpacked = vec![];
    let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]).take(MOST_BYTES + 1);
    decoder
        .read_to_end(&mut unpacked)
        .map_err(|error| Error::file(format!("damaged gzip data: {error}")).with_hint("the file looks truncated"))?;
    if unpacked.len() as u64 > MOST_BYTES {
        return Err(Error::file(format!("the gzip data unpacks to more than {MOST_BYTES} bytes")));
    }
    Ok(unpacked)
}
