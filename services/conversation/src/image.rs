//! Photos without their metadata.
//!
//! A phone writes place, time and owner into a file. Everything goes but what the picture needs to be shown right: the
//! colour profile and the orientation. The pixels are not touched, and a file that holds no metadata keeps its bytes.

use bytes::Bytes;
use img_parts::ImageEXIF;
use img_parts::jpeg::{Jpeg, markers};
use img_parts::png::Png;
use img_parts::webp::WebP;

/// A photo to keep.
#[derive(Debug, Clone)]
pub struct Clean {
    /// By content where it is known, else as the provider says.
    pub content_type: String,
    /// The bytes to keep.
    pub bytes: Bytes,
    /// False for a format that is not known here: its bytes are as they came.
    pub stripped: bool,
}

/// Takes the metadata out.
pub fn strip(bytes: Bytes, claimed_type: &str) -> Clean {
    let (content_type, stripped) = match bytes.get(..12) {
        Some([0xff, 0xd8, 0xff, ..]) => ("image/jpeg", jpeg(bytes.clone())),
        Some([0x89, b'P', b'N', b'G', ..]) => ("image/png", png(bytes.clone())),
        Some([b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P']) => {
            ("image/webp", webp(bytes.clone()))
        }
        Some(_) | None => (claimed_type, None),
    };
    Clean {
        content_type: content_type.to_owned(),
        stripped: stripped.is_some(),
        bytes: stripped.unwrap_or(bytes),
    }
}

fn jpeg(bytes: Bytes) -> Option<Bytes> {
    let mut image = Jpeg::from_bytes(bytes.clone()).ok()?;
    let orientation = image.exif().as_deref().and_then(orientation);
    let before = image.segments().len();
    // APP0 is the header, APP2 the colour profile, APP14 how the colours are coded.
    image.segments_mut().retain(|segment| {
        !matches!(
            segment.marker(),
            markers::APP1 | markers::APP3..=markers::APP13 | markers::APP15 | markers::COM
        )
    });
    if image.segments().len() == before {
        return Some(bytes);
    }
    if let Some(orientation) = orientation.filter(|orientation| *orientation != 1) {
        image.set_exif(Some(only_orientation(orientation)));
    }
    Some(image.encoder().bytes())
}

fn png(bytes: Bytes) -> Option<Bytes> {
    let mut image = Png::from_bytes(bytes.clone()).ok()?;
    let before = image.chunks().len();
    image
        .chunks_mut()
        .retain(|chunk| !matches!(&chunk.kind(), b"eXIf" | b"tEXt" | b"iTXt" | b"zTXt" | b"tIME"));
    Some(if image.chunks().len() == before { bytes } else { image.encoder().bytes() })
}

fn webp(bytes: Bytes) -> Option<Bytes> {
    let mut image = WebP::from_bytes(bytes.clone()).ok()?;
    let before = image.chunks().len();
    image.remove_chunks_by_id(*b"EXIF");
    image.remove_chunks_by_id(*b"XMP ");
    Some(if image.chunks().len() == before { bytes } else { image.encoder().bytes() })
}

/// The orientation (1 to 8) in an EXIF block.
fn orientation(exif: &[u8]) -> Option<u16> {
    let exif = exif::Reader::new().read_raw(exif.to_vec()).ok()?;
    let field = exif.get_field(exif::Tag::Orientation, exif::In::PRIMARY)?;
    field
        .value
        .get_uint(0)
        .and_then(|value| u16::try_from(value).ok())
        .filter(|value| (1..=8).contains(value))
}

/// An EXIF block that says nothing but the orientation: one entry in one directory, little-endian.
fn only_orientation(orientation: u16) -> Bytes {
    let mut block = Vec::from(*b"II*\0\x08\0\0\0\x01\0");
    block.extend_from_slice(&0x0112_u16.to_le_bytes());
    block.extend_from_slice(&3_u16.to_le_bytes());
    block.extend_from_slice(&1_u32.to_le_bytes());
    block.extend_from_slice(&u32::from(orientation).to_le_bytes());
    block.extend_from_slice(&[0; 4]);
    block.into()
}

#[cfg(test)]
mod tests {
    use img_parts::jpeg::JpegSegment;

    use super::*;

    fn picture(segments: &[(u8, &[u8])]) -> Bytes {
        let mut bytes = vec![0xff, 0xd8];
        for (marker, contents) in segments {
            bytes.extend_from_slice(&[0xff, *marker]);
            bytes.extend_from_slice(&u16::try_from(contents.len() + 2).unwrap().to_be_bytes());
            bytes.extend_from_slice(contents);
        }
        bytes.extend_from_slice(&[0xff, 0xda, 0, 2, 1, 2, 3, 0xff, 0xd9]);
        bytes.into()
    }

    #[test]
    fn a_picture_without_metadata_keeps_its_bytes() {
        let plain = picture(&[(markers::APP0, b"JFIF\0"), (markers::DQT, b"table")]);
        let clean = strip(plain.clone(), "image/png");
        assert_eq!((clean.content_type.as_str(), clean.stripped, clean.bytes), ("image/jpeg", true, plain));
    }

    #[test]
    fn place_and_comment_go_and_the_orientation_stays() {
        let mut exif = b"Exif\0\0".to_vec();
        exif.extend_from_slice(&only_orientation(6));
        let busy = picture(&[
            (markers::APP0, b"JFIF\0"),
            (markers::APP1, &exif),
            (markers::APP1, b"http://ns.adobe.com/xap/1.0/\0secret place"),
            (markers::COM, b"secret owner"),
            (markers::DQT, b"table"),
        ]);
        let clean = strip(busy, "image/jpeg").bytes;
        assert!(!clean.windows(6).any(|bytes| bytes == b"secret"));
        let kept = Jpeg::from_bytes(clean).unwrap();
        assert_eq!(kept.exif().as_deref().and_then(orientation), Some(6));
        assert!(kept.segments().iter().any(|segment: &JpegSegment| segment.marker() == markers::DQT));
    }

    #[test]
    fn what_is_not_known_stays_as_it_came_and_says_so() {
        let clean = strip(Bytes::from_static(b"something else"), "image/heic");
        assert_eq!((clean.content_type.as_str(), clean.stripped), ("image/heic", false));
        let cut = strip(Bytes::from_static(b"\xff\xd8\xff\xe1\xff\xff cut short"), "image/jpeg");
        assert!(!cut.stripped);
    }
}
