//! The address on its way into the form.

use flow_json::init_data;
use serde_json::json;

#[test]
fn an_address_is_made_fit_to_be_shown() {
    for (address, shown) in [
        ("Calle Dato, 12", "Calle Dato, 12"),
        ("  Calle\n Dato,\t12 ", "Calle Dato, 12"),
        ("Calle\u{0} Dato", "Calle Dato"),
        ("", "–"),
        (" \n\u{7}", "–"),
        ("`1 + 1`", "’1 + 1’"),
        ("${data.route}", "$ {data.route}"),
    ] {
        assert_eq!(init_data(address), json!({ "address": shown }), "{address:?}");
    }
}

#[test]
fn a_long_address_is_cut_between_characters() {
    for sign in ["x", "ñ", "e\u{301}", "👨‍👩‍👧"] {
        let data = init_data(&sign.repeat(400));
        let shown = data["address"].as_str().expect("a string");
        assert!(shown.encode_utf16().count() <= 300);
        let kept = shown.strip_suffix('…').expect("it says that it was cut");
        assert_eq!(kept.replace(sign, ""), "", "whole characters only");
        assert!(kept.encode_utf16().count() + sign.encode_utf16().count() > 299);
    }
    let exact = "x".repeat(300);
    assert_eq!(init_data(&exact)["address"], exact.as_str());
}
