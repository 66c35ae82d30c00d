//! Photos as they are kept: upright, without metadata, of a kind that every browser shows.
//!
//! A phone writes place, time and owner into a file, and may hang a film or a second picture behind it. Everything goes
//! but what the picture needs to be shown right. The pixels are touched only to turn a picture upright, since with its
//! metadata goes the note that it lies on its side. What it is, is judged by its bytes alone.
//!
//! A damaged picture of a known kind is kept, without the metadata that can be found in it: it is what the citizen sent,
//! its hash says so, and no other attempt would give a better one.

mod jpeg;

use std::io::Cursor;

use bytes::Bytes;
use image::metadata::Orientation;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use img_parts::png::Png;
use img_parts::riff::RiffContent;
use img_parts::webp::WebP;
use img_parts::{ImageEXIF, ImageICC};

/// The most pixels that are taken: far more than a phone's camera gives, and 200 MB when they are unpacked. A few bytes
/// can claim more than any memory has.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Of a picture that had to be turned.
const JPEG_QUALITY: u8 = 90;

/// A photo to keep.
#[derive(Debug, Clone)]
pub struct Clean {
    /// By content.
    pub content_type: &'static str,
    /// The bytes to keep.
    pub bytes: Bytes,
    /// Whether it was turned, and so encoded again.
    pub turned: bool,
}

/// Why a file is no photo that can be kept. Another attempt would give the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Neither JPEG nor PNG nor WebP.
    #[error("not a picture of a known kind")]
    Unknown,
    /// More pixels than anybody's camera has.
    #[error("a picture of too many pixels")]
    TooLarge,
}

/// Makes a file fit to be kept. Takes a moment for a large one.
///
/// # Errors
/// See [`Refused`].
pub fn clean(bytes: &Bytes) -> Result<Clean, Refused> {
    let (format, content_type) = match bytes.get(..12) {
        Some([0xff, 0xd8, 0xff, ..]) => (ImageFormat::Jpeg, "image/jpeg"),
        Some([0x89, b'P', b'N', b'G', ..]) => (ImageFormat::Png, "image/png"),
        Some([b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P']) => {
            (ImageFormat::WebP, "image/webp")
        }
        Some(_) | None => return Err(Refused::Unknown),
    };
    let size = ImageReader::with_format(Cursor::new(bytes), format).into_dimensions();
    if size.is_ok_and(|(width, height)| u64::from(width) * u64::from(height) > LARGEST) {
        return Err(Refused::TooLarge);
    }
    let (stripped, exif) = match format {
        ImageFormat::Png => png(bytes.clone()).unwrap_or_else(|| (bytes.clone(), None)),
        ImageFormat::WebP => webp(bytes.clone()).unwrap_or_else(|| (bytes.clone(), None)),
        _ => jpeg::strip(bytes),
    };
    let turned = match exif.as_deref().and_then(orientation) {
        None | Some(Orientation::NoTransforms) => None,
        Some(orientation) => turn(&stripped, format, orientation),
    };
    Ok(Clean { content_type, turned: turned.is_some(), bytes: turned.unwrap_or(stripped) })
}

/// What of a PNG makes its picture.
const PNG_CHUNKS: [&[u8; 4]; 16] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT",
    b"bKGD", b"pHYs", b"acTL", b"fcTL", b"fdAT",
];
/// What of a WebP makes its picture.
const WEBP_CHUNKS: [&[u8; 4]; 7] = [b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"];
/// The bits of a WebP's head that promise EXIF and XMP.
const WEBP_METADATA: u8 = 0x08 | 0x04;

/// The file without its metadata, and its EXIF block.
type Stripped = (Bytes, Option<Bytes>);

fn png(bytes: Bytes) -> Option<Stripped> {
    let mut picture = Png::from_bytes(bytes).ok()?;
    let exif = picture.exif();
    picture.chunks_mut().retain(|chunk| PNG_CHUNKS.contains(&&chunk.kind()));
    Some((picture.encoder().bytes(), exif))
}

fn webp(bytes: Bytes) -> Option<Stripped> {
    let mut picture = WebP::from_bytes(bytes).ok()?;
    let exif = picture.exif();
    picture.chunks_mut().retain(|chunk| WEBP_CHUNKS.contains(&&chunk.id()));
    for chunk in picture.chunks_mut() {
        if let (true, RiffContent::Data(head)) = (&chunk.id() == b"VP8X", chunk.content()) {
            let mut head = head.to_vec();
            *head.first_mut()? &= !WEBP_METADATA;
            *chunk = img_parts::riff::RiffChunk::new(*b"VP8X", RiffContent::Data(head.into()));
        }
    }
    Some((picture.encoder().bytes(), exif))
}

/// How a picture lies, as its EXIF block says.
fn orientation(exif: &[u8]) -> Option<Orientation> {
    let exif = exif::Reader::new().read_raw(exif.to_vec()).ok()?;
    let field = exif.get_field(exif::Tag::Orientation, exif::In::PRIMARY)?;
    Orientation::from_exif(u8::try_from(field.value.get_uint(0)?).ok()?)
}

/// Turns a picture and encodes it again, with its colour profile.
fn turn(bytes: &Bytes, format: ImageFormat, orientation: Orientation) -> Option<Bytes> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(LARGEST * 4);
    reader.limits(limits);
    let mut picture = reader.decode().ok()?;
    picture.apply_orientation(orientation);
    let mut turned = Cursor::new(Vec::new());
    match format {
        ImageFormat::Jpeg => {
            // What a JPEG can be: grey or three colours of eight bits.
            let picture = match picture {
                grey @ DynamicImage::ImageLuma8(_) => grey,
                other => DynamicImage::ImageRgb8(other.into_rgb8()),
            };
            let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut turned, JPEG_QUALITY);
            picture.write_with_encoder(encoder).ok()?;
            let profile = img_parts::jpeg::Jpeg::from_bytes(bytes.clone()).ok()?.icc_profile();
            let mut turned = img_parts::jpeg::Jpeg::from_bytes(turned.into_inner().into()).ok()?;
            turned.set_icc_profile(profile);
            return Some(turned.encoder().bytes());
        }
        other => picture.write_to(&mut turned, other).ok()?,
    }
    Some(turned.into_inner().into())
}

#[cfg(test)]
mod tests;
