//! A photo without metadata, so that its bytes arrive as they were sent and hashes can be compared.

/// A valid baseline JPEG of 8 × 8 grey pixels. `shade` makes it different from others.
pub(super) fn jpeg(shade: u8) -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8];
    // The quantisation of the one value that is coded; any from 1 to 255 is valid.
    let mut table = vec![0; 65];
    table[1..].fill(shade.max(1));
    segment(&mut bytes, 0xdb, &table);
    segment(&mut bytes, 0xc0, &[8, 0, 8, 0, 8, 1, 1, 0x11, 0]);
    // One code per table, "0": no difference from the middle grey, and the end of the block.
    for class in [0x00, 0x10] {
        let mut codes = [0; 18];
        (codes[0], codes[1]) = (class, 1);
        segment(&mut bytes, 0xc4, &codes);
    }
    segment(&mut bytes, 0xda, &[1, 1, 0, 0, 63, 0]);
    // The two codes, filled up with ones; then the end of the picture.
    bytes.extend([0b0011_1111, 0xff, 0xd9]);
    bytes
}

fn segment(bytes: &mut Vec<u8>, marker: u8, body: &[u8]) {
    // No body here is longer than 65 bytes; the length counts itself.
    let length = u8::try_from(body.len() + 2).unwrap_or(u8::MAX);
    bytes.extend([0xff, marker, 0, length]);
    bytes.extend(body);
}
