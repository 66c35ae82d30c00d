//! A signature header over a body: only the right one is taken, whatever it looks like.
#![no_main]

use channel::signature::{sign, verify};
use libfuzzer_sys::fuzz_target;
use secrecy::SecretString;

fuzz_target!(|input: (&str, &[u8])| {
    let (header, body) = input;
    let secrets = [SecretString::from("s3cret")];
    let right = sign(&secrets[0], body);
    assert!(verify(&secrets, Some(&right), body).is_ok());
    let taken = verify(&secrets, Some(header), body).is_ok();
    assert_eq!(taken, header.eq_ignore_ascii_case(&right) && header.starts_with("sha256="));
});
