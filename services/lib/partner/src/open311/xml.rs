//! Lists of flat records in XML, as GeoReport v2 writes them: `<service_requests><request><token>…`. Every server of that
//! specification speaks it, and some whatever they are asked for. What is nested deeper is left out; what is no such list is
//! nothing at all, and then nothing is believed of it.

use roxmltree::{Document, Node};
use serde_json::{Map, Value};

/// The name of a document's one element, and its records, their fields as texts.
pub(super) fn records(text: &str) -> Option<(String, Vec<Value>)> {
    let document = Document::parse(text.trim()).ok()?;
    let root = document.root_element();
    let field = |field: Node<'_, '_>| (field.tag_name().name().to_owned(), Value::from(own_text(field)));
    let records =
        elements(root).map(|record| Value::Object(elements(record).map(field).collect::<Map<_, _>>()));
    Some((root.tag_name().name().to_owned(), records.collect()))
}

fn elements<'a, 'input>(of: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    of.children().filter(Node::is_element)
}

/// Without that of what is nested in it.
fn own_text(of: Node<'_, '_>) -> String {
    let texts: String = of.children().filter(Node::is_text).filter_map(|text| text.text()).collect();
    texts.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_records_of_a_list_are_read_with_their_fields() {
        let text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<!-- ours --><service_requests type='a>b'>
            <request><service_request_id>293944</service_request_id><service_notice/><account_id> </account_id></request>
            <request>
              <description><![CDATA[1 < 2 & 3]]>\n[REF-2026-00001]</description><lat>&lt;&#52;&#x32;&gt; &amp;amp;</lat>
              <more><deep>x</deep></more>
            </request><request/></service_requests>\n";
        let expected = json!([
            { "service_request_id": "293944", "service_notice": "", "account_id": "" },
            { "description": "1 < 2 & 3\n[REF-2026-00001]", "lat": "<42> &amp;", "more": "" },
            {},
        ]);
        let (root, found) = records(text).unwrap();
        assert_eq!((root.as_str(), Value::Array(found)), ("service_requests", expected));
        assert_eq!(records("<errors></errors>"), Some(("errors".to_owned(), Vec::new())));
    }

    #[test]
    fn what_is_cut_or_no_document_is_nothing() {
        for text in [
            "",
            "ok",
            "<a><b>",
            "<a><b><c>1</c></b>",
            "<a><b></a></b>",
            "<a/><a/>",
            "<a/> more",
            "<a><![CDATA[x</a>",
            "<a><!-- x</a>",
            "<a b='>",
            "<a><b><c>&co;</c></b></a>",
            "</a>",
            "< a/>",
            "<",
        ] {
            assert_eq!(records(text), None, "{text}");
        }
    }
}
