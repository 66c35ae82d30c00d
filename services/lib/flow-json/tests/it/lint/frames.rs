//! Small documents with a hole, which a fixture fills: `@` is the hole.

/// Data of the frames that show components: one field of each type.
const DATA: &str = r#"{
  "word":{"type":"string","__example__":"w"},
  "flag":{"type":"boolean","__example__":true},
  "count":{"type":"number","__example__":3},
  "many":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"}}},"__example__":[{"id":"a","title":"A"}]},
  "rows":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"main-content":{"type":"object","properties":{"title":{"type":"string"}}}}},"__example__":[{"id":"a","main-content":{"title":"A"}}]},
  "thing":{"type":"object","properties":{"name":{"type":"string"}},"__example__":{"name":"n"}}
}"#;
const DONE: &str = r#"{"type":"Footer","label":"Done","on-click-action":{"name":"complete","payload":{}}}"#;
const TEXT: &str = r#"{"type":"TextBody","text":"Text"}"#;
const PHOTO: &str = r#"{"type":"PhotoPicker","name":"photo","label":"Photo","min-uploaded-photos":1,"max-uploaded-photos":1}"#;

/// A picture of one point.
pub(super) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

/// Where a fixture stands in its document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Frame {
    /// The document itself.
    Doc,
    /// Members of the root.
    Root,
    /// Members of the root of a form with an endpoint and two screens, ONE to TWO.
    Endpoint,
    /// The list of screens.
    Screens,
    /// Members of the one screen, beside its layout.
    Screen,
    /// The layout of the one screen.
    Layout,
    /// The data of the one screen.
    Data,
    /// Components of the one screen above its footer.
    Body,
    /// All components of the one screen.
    All,
    /// Members of its footer beside type, label and action.
    Foot,
    /// Members of a list beside type and name; its screen leads to TWO, which takes a route.
    List,
    /// Rows of that list.
    Rows,
    /// Components of a first screen, ONE, that leads to TWO, which takes a route.
    First,
    /// The action of a link there.
    Link,
    /// The payload of that link.
    Payload,
    /// The payload of the end of a screen with a photo, an input `text` and a form's screen before it.
    End,
}

/// The document around a piece.
pub(super) fn document(frame: Frame, version: &str, piece: &str) -> String {
    let screen = |members: &str, children: &str| {
        format!(r#"{{{members},"layout":{{"type":"SingleColumnLayout","children":[{children}]}}}}"#)
    };
    let root = |screens: &str| format!(r#"{{"version":"{version}","screens":[{screens}]}}"#);
    let one = r#""id":"ONE","title":"One""#;
    let terminal = r#""id":"ONE","title":"One","terminal":true"#;
    let with_data = format!(r#"{terminal},"data":{DATA}"#);
    let route = r#""data":{"route":{"type":"string","__example__":"a/b"}}"#;
    let two = screen(&format!(r#""id":"TWO","title":"Two","terminal":true,{route}"#), DONE);
    let link = |action: &str| {
        let link = format!(r#"{{"type":"EmbeddedLink","text":"Go","on-click-action":{action}}}"#);
        let input = r#"{"type":"TextInput","name":"text","label":"Text"}"#;
        root(&format!(
            "{},{two}",
            screen(&format!(r#"{one},"data":{DATA}"#), &format!("{input},{PHOTO},{link}"))
        ))
    };
    let list = |members: &str| {
        let list = format!(r#"{{"type":"NavigationList","name":"choice",{members}}}"#);
        root(&format!("{},{two}", screen(&format!(r#"{one},"data":{DATA}"#), &list)))
    };
    match frame {
        Frame::Doc => piece.to_owned(),
        Frame::Root => format!(r#"{{{piece},"screens":[{}]}}"#, screen(terminal, &format!("{TEXT},{DONE}"))),
        Frame::Endpoint => {
            let next =
                r#"{"type":"Footer","label":"Next","on-click-action":{"name":"data_exchange","payload":{}}}"#;
            let second = screen(r#""id":"TWO","title":"Two","terminal":true"#, DONE);
            format!(r#"{{"version":"{version}",{piece},"screens":[{},{second}]}}"#, screen(one, next))
        }
        Frame::Screens => format!(r#"{{"version":"{version}","screens":{piece}}}"#),
        Frame::Screen => {
            root(&screen(piece, &format!(r#"{{"type":"TextInput","name":"text","label":"Text"}},{DONE}"#)))
        }
        Frame::Layout => root(&format!(r#"{{{terminal},"layout":{piece}}}"#)),
        Frame::Data => root(&screen(&format!(r#"{terminal},"data":{piece}"#), DONE)),
        Frame::Body => root(&screen(&with_data, &format!("{piece},{DONE}"))),
        Frame::All => root(&screen(&with_data, piece)),
        Frame::Foot => {
            let action = r#""on-click-action":{"name":"complete","payload":{}}"#;
            let foot = format!(r#"{{"type":"Footer","label":"Done",{action},{piece}}}"#);
            root(&screen(&with_data, &foot))
        }
        Frame::List => list(piece),
        Frame::Rows => list(&format!(r#""list-items":[{piece}]"#)),
        Frame::First => root(&format!("{},{two}", screen(&format!(r#"{one},"data":{DATA}"#), piece))),
        Frame::Link => link(piece),
        Frame::Payload => link(&format!(
            r#"{{"name":"navigate","next":{{"type":"screen","name":"TWO"}},"payload":{piece}}}"#
        )),
        Frame::End => {
            let next = r#"{"type":"Footer","label":"Next","on-click-action":{"name":"navigate","next":{"type":"screen","name":"TWO"},"payload":{}}}"#;
            let form = format!(
                r#"{{"type":"Form","name":"form","children":[{{"type":"TextInput","name":"early","label":"Early"}},{next}]}}"#
            );
            let end = format!(
                r#"{{"type":"Footer","label":"Done","on-click-action":{{"name":"complete","payload":{piece}}}}}"#
            );
            let input = r#"{"type":"TextInput","name":"text","label":"Text"}"#;
            let second =
                screen(r#""id":"TWO","title":"Two","terminal":true"#, &format!("{PHOTO},{input},{end}"));
            root(&format!("{},{second}", screen(&format!(r#"{one},"data":{DATA}"#), &form)))
        }
    }
}
