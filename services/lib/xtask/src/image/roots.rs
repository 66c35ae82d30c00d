//! The certificates of the authorities that the services trust, from the crate that carries Mozilla's list: its version
//! stands in `Cargo.lock`, so the same commit has the same list on every machine.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Where the TLS library of the services looks, and where the variable in the image points.
pub(super) const PATH: &str = "/etc/ssl/certs/ca-certificates.crt";

/// All of them, as PEM.
pub(super) fn pem() -> String {
    let mut text = String::new();
    for certificate in webpki_root_certs::TLS_SERVER_ROOT_CERTS {
        text.push_str("-----BEGIN CERTIFICATE-----\n");
        let encoded = STANDARD.encode(certificate);
        // Base64 is ASCII: every cut is one between characters.
        for start in (0..encoded.len()).step_by(64) {
            text.push_str(&encoded[start..encoded.len().min(start + 64)]);
            text.push('\n');
        }
        text.push_str("-----END CERTIFICATE-----\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_there_and_can_be_read() {
        let pem = pem();
        let mut found = 0;
        for part in pem.split("-----BEGIN CERTIFICATE-----\n").skip(1) {
            let body = part.strip_suffix("\n-----END CERTIFICATE-----\n").unwrap();
            assert!(body.lines().all(|line| line.len() <= 64));
            let certificate = STANDARD.decode(body.replace('\n', "")).unwrap();
            assert_eq!(certificate[0], 0x30, "a sequence, in DER");
            found += 1;
        }
        assert_eq!(found, webpki_root_certs::TLS_SERVER_ROOT_CERTS.len());
        assert!(found > 100, "{found}");
    }
}
