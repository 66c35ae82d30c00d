//! How calls prove themselves, kind by kind.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use channel::config::{Account, ChannelsFile, Secrets};
use channel::signature::SignatureError;
use http::{HeaderMap, HeaderName, HeaderValue};

fn account(fields: &str) -> Account {
    let file = ChannelsFile::parse(&format!("channels: [{{id: a, {fields}}}]")).unwrap();
    let secrets = Secrets::read(&file, |name| Some(name.to_lowercase())).unwrap();
    file.resolve(&secrets).remove(0)
}

fn headers(name: &str, value: &str) -> HeaderMap {
    let name = HeaderName::try_from(name).unwrap();
    HeaderMap::from_iter([(name, HeaderValue::try_from(value).unwrap())])
}

/// RFC 2202 and RFC 4231, test case 2: the key `Jefe` over these words, in each hash.
const BODY: &[u8] = b"what do ya want for nothing?";
const KNOWN: [(&str, &str); 6] = [
    ("md5", "750c783e6ab0b503eaa86e310a5db738"),
    ("sha1", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    ("sha224", "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44"),
    ("sha256", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    (
        "sha384",
        "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
    ),
    (
        "sha512",
        "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
    ),
];

fn with_key(fields: &str) -> Account {
    let file =
        ChannelsFile::parse(&format!("channels: [{{id: a, kind: whatsapp_infobip, sender: 1, {fields}}}]"));
    let file = file.unwrap();
    let secrets = Secrets::read(&file, |_| Some("Jefe".to_owned())).unwrap();
    file.resolve(&secrets).remove(0)
}

#[test]
fn every_hash_in_every_spelling_is_known() {
    for (algorithm, digits) in KNOWN {
        let base64 = STANDARD.encode(hex::decode(digits).unwrap());
        for (encoding, spelled) in
            [("hex", digits.to_owned()), ("hex", digits.to_uppercase()), ("base64", base64)]
        {
            let fields = format!(
                "hmac: {{header: x-sig, algorithm: {algorithm}, encoding: {encoding}, prefix: 'v1=', secrets: [{{env: A}}]}}"
            );
            let account = with_key(&fields);
            let good = headers("X-Sig", &format!("v1={spelled}"));
            assert!(account.verify(&good, BODY).is_ok(), "{algorithm} {encoding}");
            assert_eq!(account.verify(&good, b"other").unwrap_err(), SignatureError::Mismatch);
            let bare = account.verify(&headers("x-sig", &spelled), BODY).unwrap_err();
            assert_eq!(bare, SignatureError::Spelling);
            let cut = account.verify(&headers("x-sig", &format!("v1={}", &spelled[4..])), BODY).unwrap_err();
            assert_eq!(cut, SignatureError::Mismatch, "a part of a hash is none");
            assert_eq!(account.verify(&HeaderMap::new(), BODY).unwrap_err(), SignatureError::Missing);
        }
    }
}

#[test]
fn user_and_password_are_both_needed_and_both_passwords_open() {
    let account =
        account("kind: whatsapp_infobip, sender: 1, basic: {user: us, passwords: [{env: OLD}, {env: NEW}]}");
    let shown = |pair: &str| headers("authorization", &format!("Basic {}", STANDARD.encode(pair)));
    for good in ["us:old", "us:new"] {
        assert!(account.verify(&shown(good), b"").is_ok() && account.precheck(&shown(good)).is_ok());
    }
    for wrong in ["us:", "us:guess", "them:old", "us", ":", "old"] {
        assert_eq!(account.verify(&shown(wrong), b"").unwrap_err(), SignatureError::Credentials, "{wrong}");
        assert!(account.precheck(&shown(wrong)).is_err());
    }
    for wrong in ["", "Basic", "Basic ?", "Bearer dXM6b2xk"] {
        assert!(account.verify(&headers("authorization", wrong), b"").is_err(), "{wrong}");
    }
    assert!(account.verify(&HeaderMap::new(), b"").is_err());
}

#[test]
fn a_channel_trusts_who_knows_one_of_its_own_secrets() {
    let one = account("kind: webhook, secrets: [{env: A}, {env: B}]");
    assert!(one.trusts(&"a".into()) && one.trusts(&"b".into()));
    assert!(!one.trusts(&"c".into()) && !one.trusts(&"".into()));
}
