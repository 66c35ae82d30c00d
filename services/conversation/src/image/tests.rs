use image::RgbImage;

use super::*;

/// Two pixels side by side, dark and light, as a file.
fn picture(format: ImageFormat) -> Vec<u8> {
    let mut pixels = RgbImage::new(32, 16);
    for (x, _, pixel) in pixels.enumerate_pixels_mut() {
        *pixel = if x < 16 { image::Rgb([20, 20, 20]) } else { image::Rgb([230, 230, 230]) };
    }
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(pixels).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// An EXIF block: how the picture lies, and a secret.
fn exif(orientation: u16) -> Bytes {
    let mut block = Vec::from(*b"II*\0\x08\0\0\0\x01\0");
    block.extend_from_slice(&0x0112_u16.to_le_bytes());
    block.extend_from_slice(&3_u16.to_le_bytes());
    block.extend_from_slice(&1_u32.to_le_bytes());
    block.extend_from_slice(&u32::from(orientation).to_le_bytes());
    block.extend_from_slice(b"\0\0\0\0secret place");
    block.into()
}

fn with_exif(format: ImageFormat, orientation: u16) -> Bytes {
    let bytes = Bytes::from(picture(format));
    match format {
        ImageFormat::Png => {
            let mut picture = Png::from_bytes(bytes).unwrap();
            picture.set_exif(Some(exif(orientation)));
            picture.encoder().bytes()
        }
        ImageFormat::WebP => {
            let mut picture = WebP::from_bytes(bytes).unwrap();
            picture.set_exif(Some(exif(orientation)));
            picture.encoder().bytes()
        }
        _ => {
            let mut picture = img_parts::jpeg::Jpeg::from_bytes(bytes).unwrap();
            picture.set_exif(Some(exif(orientation)));
            picture.encoder().bytes()
        }
    }
}

fn tells(bytes: &[u8]) -> bool {
    bytes.windows(6).any(|six| six == b"secret")
}

const FORMATS: [ImageFormat; 3] = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP];

#[test]
fn metadata_goes_and_an_upright_picture_keeps_its_pixels() {
    for format in FORMATS {
        let busy = with_exif(format, 1);
        assert!(tells(&busy));
        let kept = clean(&busy).unwrap();
        assert!(!tells(&kept.bytes) && !kept.turned, "{format:?}");
        let shown = image::load_from_memory(&kept.bytes).unwrap();
        assert_eq!(shown, image::load_from_memory(&picture(format)).unwrap(), "{format:?}");
        assert_eq!(kept.content_type, format.to_mime_type());
        // Once clean, nothing changes.
        assert_eq!(clean(&kept.bytes).unwrap().bytes, kept.bytes, "{format:?}");
    }
}

#[test]
fn a_picture_on_its_side_is_kept_upright() {
    for format in FORMATS {
        let kept = clean(&with_exif(format, 6)).unwrap();
        assert!(kept.turned && !tells(&kept.bytes), "{format:?}");
        let shown = image::load_from_memory(&kept.bytes).unwrap().into_luma8();
        assert_eq!(shown.dimensions(), (16, 32), "{format:?}");
        // Turned to the right, what was on the left is on top.
        assert!(shown.get_pixel(8, 4).0[0] < 60 && shown.get_pixel(8, 28).0[0] > 190, "{format:?}");
    }
}

#[test]
fn every_way_that_a_picture_can_lie_ends_upright() {
    // What is in the corners once it is shown, from the top left on, clockwise, by the orientation of a picture that has
    // black, grey, light and white there.
    let corners: [(u16, [u8; 4]); 8] = [
        (1, [0, 1, 2, 3]),
        (2, [1, 0, 3, 2]),
        (3, [2, 3, 0, 1]),
        (4, [3, 2, 1, 0]),
        (5, [0, 3, 2, 1]),
        (6, [3, 0, 1, 2]),
        (7, [2, 1, 0, 3]),
        (8, [1, 2, 3, 0]),
    ];
    let mut pixels = RgbImage::new(64, 32);
    for (x, y, pixel) in pixels.enumerate_pixels_mut() {
        let shade = match (x < 32, y < 16) {
            (true, true) => 0,
            (false, true) => 85,
            (false, false) => 170,
            (true, false) => 255,
        };
        *pixel = image::Rgb([shade; 3]);
    }
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(pixels).write_to(&mut bytes, ImageFormat::Jpeg).unwrap();
    for (orientation, expected) in corners {
        let mut lying = img_parts::jpeg::Jpeg::from_bytes(bytes.get_ref().clone().into()).unwrap();
        lying.set_exif(Some(exif(orientation)));
        let kept = clean(&lying.encoder().bytes()).unwrap();
        assert_eq!((kept.turned, tells(&kept.bytes)), (orientation != 1, false), "{orientation}");
        let shown = image::load_from_memory(&kept.bytes).unwrap().into_luma8();
        let (width, height) = if orientation < 5 { (64, 32) } else { (32, 64) };
        assert_eq!(shown.dimensions(), (width, height), "{orientation}");
        let (right, below) = (width - 8, height - 8);
        let seen = [(8, 8), (right, 8), (right, below), (8, below)]
            .map(|(x, y)| (shown.get_pixel(x, y).0[0].saturating_add(42)) / 85);
        assert_eq!(seen, expected, "{orientation}");
    }
}

#[test]
fn an_orientation_that_nobody_knows_turns_nothing() {
    for orientation in [0, 9, 255, 6 << 8] {
        let kept = clean(&with_exif(ImageFormat::Jpeg, orientation)).unwrap();
        assert!(!kept.turned && !tells(&kept.bytes), "{orientation}");
    }
}

#[test]
fn a_picture_keeps_nothing_behind_its_end_or_between_its_scans() {
    let plain = picture(ImageFormat::Jpeg);
    let end = plain.len() - 2;
    let mut busy = plain[..end].to_vec();
    let comment = b"secret owner";
    busy.extend_from_slice(&[0xff, 0xfe, 0, u8::try_from(comment.len() + 2).unwrap()]);
    busy.extend_from_slice(comment);
    busy.extend_from_slice(&plain[end..]);
    busy.extend_from_slice(b"a film with a secret place");
    let kept = clean(&busy.into()).unwrap();
    assert!(!tells(&kept.bytes));
    assert_eq!(kept.bytes, clean(&plain.into()).unwrap().bytes);
}

#[test]
fn what_is_no_picture_is_refused() {
    assert_eq!(clean(&Bytes::from_static(b"something else, as long")).unwrap_err(), Refused::Unknown);
    assert_eq!(clean(&Bytes::new()).unwrap_err(), Refused::Unknown);
    // Pictures that not every browser shows, films and pages, whatever they are called.
    for other in [
        &b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"[..],
        b"\0\0\0\x1cftypavif\0\0\0\0avifmif1",
        b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2",
        b"GIF89a\x01\0\x01\0\x80\0\0",
        b"BM\x46\0\0\0\0\0\0\0\x36\0",
        b"II*\0\x08\0\0\0\0\0\0\0",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"RIFF\x24\0\0\0WAVEfmt ",
        b"{\"error\": {\"code\": 100}}",
    ] {
        assert_eq!(clean(&Bytes::from_static(other)).unwrap_err(), Refused::Unknown, "{other:?}");
    }
}

#[test]
fn a_damaged_picture_is_kept_without_the_metadata_that_can_be_found() {
    for format in FORMATS {
        let half = Bytes::copy_from_slice(&picture(format)[..40]);
        assert_eq!(clean(&half).unwrap().bytes, half, "{format:?}");
    }
    // Cut short in its scan: the metadata before it goes all the same, and it cannot be turned.
    let whole = with_exif(ImageFormat::Jpeg, 6);
    let cut = clean(&whole.slice(..whole.len() - 4)).unwrap();
    assert!(!tells(&cut.bytes) && cut.bytes.len() > 40);
    // Cut short in its metadata: nothing of that is kept.
    let exif = whole.windows(4).position(|bytes| bytes == b"Exif").unwrap();
    assert!(!tells(&clean(&whole.slice(..exif + 60)).unwrap().bytes));
    let noise = Bytes::from_static(b"\xff\xd8\xff\xe0 and then anything at all");
    assert_eq!(clean(&noise).unwrap().bytes, noise);
}

#[test]
fn a_few_bytes_that_claim_a_huge_picture_are_refused_before_they_are_unpacked() {
    let mut bomb = picture(ImageFormat::Png);
    bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let mut head = flate_crc(&bomb[12..29]).to_be_bytes();
    bomb[29..33].swap_with_slice(&mut head);
    assert_eq!(clean(&bomb.into()).unwrap_err(), Refused::TooLarge);
    let mut bomb = picture(ImageFormat::Jpeg);
    let frame = bomb.windows(2).position(|two| two == [0xff, 0xc0]).unwrap();
    bomb[frame + 5..frame + 9].fill(0xff);
    assert_eq!(clean(&bomb.into()).unwrap_err(), Refused::TooLarge);
}

/// The check sum of a PNG chunk.
fn flate_crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}
