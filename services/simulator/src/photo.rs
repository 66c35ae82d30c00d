//! A photo as a phone takes it: a small valid JPEG, different each time, with the place in its metadata.
//!
//! The metadata is there to be stripped: a test that finds it further on has found a leak.

use rand::Rng as _;

/// A greyscale JPEG of 16 × 16 pixels with an Exif block that holds a position.
pub(crate) fn jpeg() -> Vec<u8> {
    let mut rng = rand::rng();
    let mut out = vec![0xff, 0xd8];
    segment(&mut out, 0xe1, &exif());
    // The comment makes every photo a different one, which the few pixels could not.
    segment(&mut out, 0xfe, hex::encode(rng.random::<[u8; 16]>()).as_bytes());
    let mut quantisation = vec![0];
    quantisation.extend([8; 64]);
    segment(&mut out, 0xdb, &quantisation);
    segment(&mut out, 0xc0, &[8, 0, 16, 0, 16, 1, 1, 0x11, 0]);
    // Two codes are enough: "no difference" (00) and "a difference of seven bits" (01), then end of block.
    segment(&mut out, 0xc4, &huffman(0x00, 2, &[0, 7]));
    segment(&mut out, 0xc4, &huffman(0x10, 1, &[0]));
    segment(&mut out, 0xda, &[1, 1, 0, 0, 63, 0]);
    let shade: u32 = rng.random_range(64..128);
    // First block: code 01, the shade, end of block 0; three further blocks of 00 0; padded with ones.
    let bits = (0b01 << 22) | (shade << 15) | 0b1_1111;
    for byte in bits.to_be_bytes().into_iter().skip(1) {
        out.push(byte);
        if byte == 0xff {
            out.push(0);
        }
    }
    out.extend([0xff, 0xd9]);
    out
}

fn segment(out: &mut Vec<u8>, marker: u8, body: &[u8]) {
    // Every segment built here is far below 64 KiB.
    let length = u16::try_from(body.len() + 2).unwrap_or(u16::MAX);
    out.extend([0xff, marker]);
    out.extend(length.to_be_bytes());
    out.extend(body);
}

/// A table whose symbols all have codes of `length` bits.
fn huffman(class: u8, length: usize, symbols: &[u8]) -> Vec<u8> {
    let mut counts = [0; 16];
    counts[length - 1] = u8::try_from(symbols.len()).unwrap_or(u8::MAX);
    [&[class], &counts[..], symbols].concat()
}

/// Latitude 42° 50' 48", longitude 2° 40' 21" west.
fn exif() -> Vec<u8> {
    const GPS_AT: u32 = 26;
    const LATITUDE_AT: u32 = GPS_AT + 2 + 4 * 12 + 4;
    let mut out = b"Exif\0\0II*\0\x08\0\0\0".to_vec();
    entries(&mut out, &[(0x8825, 4, 1, GPS_AT.to_le_bytes())]);
    entries(
        &mut out,
        &[
            (1, 2, 2, *b"N\0\0\0"),
            (2, 5, 3, LATITUDE_AT.to_le_bytes()),
            (3, 2, 2, *b"W\0\0\0"),
            (4, 5, 3, (LATITUDE_AT + 24).to_le_bytes()),
        ],
    );
    for number in [42_u32, 50, 48, 2, 40, 21] {
        out.extend(number.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
    }
    out
}

fn entries(out: &mut Vec<u8>, list: &[(u16, u16, u32, [u8; 4])]) {
    out.extend(u16::try_from(list.len()).unwrap_or_default().to_le_bytes());
    for (tag, kind, count, value) in list {
        out.extend(tag.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend(count.to_le_bytes());
        out.extend(value);
    }
    out.extend([0; 4]);
}
