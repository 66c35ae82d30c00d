//! A JPEG without what is not its picture. It is walked to its end, since what comes after the first scan, or after the
//! picture, can tell as much as what comes before.

use bytes::Bytes;

const SOI: u8 = 0xd8;
const EOI: u8 = 0xd9;
const SOS: u8 = 0xda;
const EXIF: &[u8] = b"Exif\0\0";

/// The picture alone, and its EXIF block. What cannot be walked to its end is kept from there on as it is, unless the
/// place where it breaks is metadata.
pub(super) fn strip(bytes: &Bytes) -> (Bytes, Option<Bytes>) {
    let mut picture = vec![0xff, SOI];
    let mut exif = None;
    let mut rest = bytes.get(2..).unwrap_or_default();
    if let Err(broken) = walk(&mut rest, &mut picture, &mut exif)
        && !broken.is_some_and(|marker| matches!(marker, 0xe1 | 0xed | 0xfe))
    {
        picture.extend_from_slice(rest);
    }
    (picture.into(), exif)
}

/// Where a walk ended too early: in the segment of this marker, or before any.
type Broken = Option<u8>;

/// Takes the picture out of `rest`, which stands at the broken place where there is one.
fn walk(rest: &mut &[u8], picture: &mut Vec<u8>, exif: &mut Option<Bytes>) -> Result<(), Broken> {
    loop {
        let (marker, behind) = next_marker(rest).ok_or(None)?;
        let broken = || Some(marker);
        match marker {
            EOI => {
                picture.extend_from_slice(&[0xff, EOI]);
                return Ok(());
            }
            // Markers without a body.
            0x01 | 0xd0..=0xd7 => {
                picture.extend_from_slice(&[0xff, marker]);
                *rest = behind;
            }
            _ => {
                let length = usize::from(u16::from_be_bytes(*behind.first_chunk().ok_or_else(broken)?));
                let segment = behind.get(..length).ok_or_else(broken)?;
                let body = segment.get(2..).ok_or_else(broken)?;
                *rest = &behind[length..];
                if exif.is_none() && marker == 0xe1 {
                    *exif = body.strip_prefix(EXIF).map(Bytes::copy_from_slice);
                }
                if is_picture(marker, body) {
                    picture.extend_from_slice(&[0xff, marker]);
                    picture.extend_from_slice(segment);
                }
                if marker == SOS {
                    let scan = scan_length(rest).ok_or(None)?;
                    picture.extend_from_slice(&rest[..scan]);
                    *rest = &rest[scan..];
                }
            }
        }
    }
}

/// The header, the colour profile and how the colours are coded stay of what an application may add.
fn is_picture(marker: u8, body: &[u8]) -> bool {
    match marker {
        0xe0 => body.starts_with(b"JFIF\0"),
        0xe2 => body.starts_with(b"ICC_PROFILE\0"),
        0xee => body.starts_with(b"Adobe"),
        0xe1..=0xef | 0xfe => false,
        _ => true,
    }
}

/// The next marker, behind any fill bytes, and what follows it.
fn next_marker(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let rest = bytes.strip_prefix(&[0xff])?;
    let filled = rest.iter().position(|byte| *byte != 0xff)?;
    Some((rest[filled], &rest[filled + 1..]))
}

/// How long the data of a scan is: up to the next marker that is neither an escaped byte nor a restart.
fn scan_length(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|pair| pair[0] == 0xff && !matches!(pair[1], 0x00 | 0xff | 0xd0..=0xd7))
}
