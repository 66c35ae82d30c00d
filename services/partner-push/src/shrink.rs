//! A smaller photo, for a platform that refuses one for its size. Once: what is still too large then stays behind.

use std::io::Cursor;

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, Limits};

/// Longer side, in pixels: a container and what lies beside it can still be told apart.
const LONGER_SIDE: u32 = 1024;
/// Of the JPEG, of 100.
const QUALITY: u8 = 70;
/// Neither side of a photo is longer; beyond it somebody wants our memory.
const LARGEST_SIDE: u32 = 16_384;
/// What decoding may take.
const LARGEST_BYTES: u64 = 512 << 20;

/// The photo as a smaller JPEG. None: it cannot be read, or is as small as it gets.
pub(crate) async fn shrink(bytes: Bytes) -> Option<Bytes> {
    let before = bytes.len();
    // Decoding takes a core for a good while.
    let shrunk = tokio::task::spawn_blocking(move || encode(&bytes)).await;
    match shrunk {
        Ok(Ok(smaller)) if smaller.len() < before => Some(smaller.into()),
        Ok(Ok(_)) => None,
        Ok(Err(error)) => {
            tracing::warn!(%error, "a photo cannot be made smaller");
            None
        }
        Err(error) => {
            tracing::error!(panicked = error.is_panic(), "a photo cannot be made smaller");
            None
        }
    }
}

fn encode(bytes: &[u8]) -> Result<Vec<u8>, ImageError> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST_SIDE);
    limits.max_image_height = Some(LARGEST_SIDE);
    limits.max_alloc = Some(LARGEST_BYTES);
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    // A tag that turns the picture is lost with the encoding, so it is obeyed first.
    let orientation = decoder.orientation()?;
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    if picture.width().max(picture.height()) > LONGER_SIDE {
        picture = picture.thumbnail(LONGER_SIDE, LONGER_SIDE);
    }
    let mut smaller = Vec::new();
    picture.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut smaller, QUALITY))?;
    Ok(smaller)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(width: u32, height: u32) -> Bytes {
        let mut seed = 1_u32;
        let picture = image::RgbImage::from_fn(width, height, |_, _| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            image::Rgb(seed.to_be_bytes()[..3].try_into().unwrap())
        });
        let mut bytes = Vec::new();
        picture.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 95)).unwrap();
        bytes.into()
    }

    #[tokio::test]
    async fn a_photo_is_made_smaller_and_keeps_its_shape() {
        let large = noise(2000, 1000);
        let small = shrink(large.clone()).await.unwrap();
        assert!(small.len() * 4 < large.len(), "{} of {}", small.len(), large.len());
        let picture = image::load_from_memory(&small).unwrap();
        assert_eq!((picture.width(), picture.height()), (1024, 512));
    }

    /// Tells a viewer to turn the picture by a quarter: the least that EXIF needs, after the first marker.
    fn turned(photo: &[u8]) -> Bytes {
        let tag = [0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0];
        let exif = [&b"Exif\0\0II*\0\x08\0\0\0\x01\0"[..], &tag, &[0; 4]].concat();
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        [&photo[..2], &[0xff, 0xe1], &length, &exif, &photo[2..]].concat().into()
    }

    #[tokio::test]
    async fn a_phone_held_upright_gives_an_upright_picture() {
        let small = shrink(turned(&noise(2000, 1000))).await.unwrap();
        let picture = image::load_from_memory(&small).unwrap();
        assert_eq!((picture.width(), picture.height()), (512, 1024));
    }

    #[tokio::test]
    async fn what_is_no_photo_cannot_be_made_smaller() {
        assert_eq!(shrink(Bytes::from_static(b"\xff\xd8\xff a picture")).await, None);
    }
}
