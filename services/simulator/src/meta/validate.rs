//! What `POST /messages` accepts: every limit, and no key that is not documented.
//!
//! Meta does not say in which unit it counts, so a text must fit in Unicode scalars and in UTF-16 units.

use serde_json::{Map, Value};

use super::{error::GraphError, flow_message};
use crate::state::{Button, Inner, Message};

type Object = Map<String, Value>;

/// A request that is well-formed.
pub(crate) enum Request {
    MarkRead { message_id: String },
    Send(Box<Outgoing>),
}

pub(crate) struct Outgoing {
    pub(crate) recipient: Recipient,
    pub(crate) message: Message,
    pub(crate) callback_data: Option<String>,
}

pub(crate) enum Recipient {
    Phone { input: String, digits: String },
    User(String),
}

pub(crate) fn read(inner: &Inner, request: &Value) -> Result<Request, GraphError> {
    let map = object(request, "body")?;
    if text(map, "", "messaging_product", 20)? != "whatsapp" {
        return Err(GraphError::invalid("messaging_product must be whatsapp"));
    }
    if map.contains_key("status") {
        mark_read(map)
    } else {
        send(inner, map).map(Box::new).map(Request::Send)
    }
}

fn mark_read(map: &Object) -> Result<Request, GraphError> {
    only(map, "", &["messaging_product", "status", "message_id", "typing_indicator"])?;
    one_of(map, "", "status", &["read"])?;
    let message_id = text(map, "", "message_id", 512)?.to_owned();
    if let Some(typing) = map.get("typing_indicator") {
        let typing = object(typing, "typing_indicator")?;
        only(typing, "typing_indicator.", &["type"])?;
        one_of(typing, "typing_indicator.", "type", &["text"])?;
    }
    Ok(Request::MarkRead { message_id })
}

fn send(inner: &Inner, map: &Object) -> Result<Outgoing, GraphError> {
    const COMMON: [&str; 7] = [
        "messaging_product",
        "recipient_type",
        "to",
        "recipient",
        "type",
        "context",
        "biz_opaque_callback_data",
    ];
    if map.contains_key("recipient_type") {
        one_of(map, "", "recipient_type", &["individual"])?;
    }
    let callback_data = match map.get("biz_opaque_callback_data") {
        Some(_) => Some(text(map, "", "biz_opaque_callback_data", 512)?.to_owned()),
        None => None,
    };
    if let Some(context) = map.get("context") {
        let context = object(context, "context")?;
        only(context, "context.", &["message_id"])?;
        text(context, "context.", "message_id", 512)?;
    }
    let kind = one_of(map, "", "type", &["text", "interactive"])?;
    let allowed: Vec<&str> = COMMON.into_iter().chain([kind]).collect();
    only(map, "", &allowed)?;
    let recipient = recipient(map)?;
    let content = object(map.get(kind).ok_or_else(|| GraphError::missing(kind))?, kind)?;
    let message = if kind == "text" { text_message(content)? } else { interactive(inner, content)? };
    Ok(Outgoing { recipient, message, callback_data })
}

/// `to` wins over `recipient`, as with Meta.
fn recipient(map: &Object) -> Result<Recipient, GraphError> {
    if map.contains_key("to") {
        let input = text(map, "", "to", 20)?;
        let digits = input.strip_prefix('+').unwrap_or(input);
        if !(7..=15).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(GraphError::invalid("to is not a phone number"));
        }
        return Ok(Recipient::Phone { input: input.to_owned(), digits: digits.to_owned() });
    }
    let user_id = text(map, "", "recipient", 140).map_err(|_| GraphError::missing("to"))?;
    if !is_user_id(user_id) {
        return Err(GraphError::invalid("recipient is not a business-scoped user id"));
    }
    Ok(Recipient::User(user_id.to_owned()))
}

/// Two capitals, a dot, perhaps `ENT.`, 1 to 128 letters and digits.
pub(crate) fn is_user_id(text: &str) -> bool {
    let Some((country, rest)) = text.split_once('.') else { return false };
    let rest = rest.strip_prefix("ENT.").unwrap_or(rest);
    country.len() == 2
        && country.bytes().all(|byte| byte.is_ascii_uppercase())
        && (1..=128).contains(&rest.len())
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn text_message(content: &Object) -> Result<Message, GraphError> {
    only(content, "text.", &["body", "preview_url"])?;
    if content.get("preview_url").is_some_and(|value| !value.is_boolean()) {
        return Err(GraphError::parameter("text.preview_url must be a boolean"));
    }
    let body = text(content, "text.", "body", 4096)?;
    Ok(Message::new(true, "text", Some(body.to_owned())))
}

fn interactive(inner: &Inner, content: &Object) -> Result<Message, GraphError> {
    only(content, "interactive.", &["type", "header", "body", "footer", "action"])?;
    let kinds = ["button", "list", "location_request_message", "flow"];
    let kind = one_of(content, "interactive.", "type", &kinds)?;
    let part = |key: &str| {
        let path = format!("interactive.{key}");
        content.get(key).ok_or_else(|| GraphError::missing(&path)).and_then(|value| object(value, &path))
    };
    let body = part("body")?;
    only(body, "interactive.body.", &["text"])?;
    let body = text(body, "interactive.body.", "text", 1024)?.to_owned();
    let plain = kind == "location_request_message";
    if content.contains_key("footer") {
        let footer = part("footer")?;
        only(footer, "interactive.footer.", &["text"])?;
        text(footer, "interactive.footer.", "text", 60)?;
    }
    if content.contains_key("header") {
        let header = part("header")?;
        only(header, "interactive.header.", &["type", "text"])?;
        one_of(header, "interactive.header.", "type", &["text"])?;
        text(header, "interactive.header.", "text", 60)?;
    }
    if plain && (content.contains_key("header") || content.contains_key("footer")) {
        return Err(GraphError::parameter("A location request has neither header nor footer"));
    }
    let action = part("action")?;
    let body = Some(body);
    match kind {
        "button" => Ok(Message { buttons: buttons(action)?, ..Message::new(true, "button", body) }),
        "list" => Ok(Message { buttons: rows(action)?, ..Message::new(true, "list", body) }),
        "flow" => {
            let flow = flow_message::read(inner, action)?;
            Ok(Message { flow: Some(flow), ..Message::new(true, "flow", body) })
        }
        _ => {
            only(action, "interactive.action.", &["name"])?;
            one_of(action, "interactive.action.", "name", &["send_location"])?;
            Ok(Message::new(true, "location_request", body))
        }
    }
}

fn buttons(action: &Object) -> Result<Vec<Button>, GraphError> {
    const PATH: &str = "interactive.action.buttons";
    only(action, "interactive.action.", &["buttons"])?;
    let list = array(action, "interactive.action.", "buttons", 1, 3)?;
    let mut buttons: Vec<Button> = Vec::with_capacity(list.len());
    for entry in list {
        let entry = object(entry, PATH)?;
        only(entry, "interactive.action.buttons.", &["type", "reply"])?;
        one_of(entry, "interactive.action.buttons.", "type", &["reply"])?;
        let reply = entry.get("reply").ok_or_else(|| GraphError::missing("buttons.reply"))?;
        let reply = object(reply, "buttons.reply")?;
        only(reply, "buttons.reply.", &["id", "title"])?;
        buttons.push(Button {
            id: id(reply, "buttons.reply.", 256)?,
            title: text(reply, "buttons.reply.", "title", 20)?.to_owned(),
            description: None,
        });
    }
    unique(&buttons, true)?;
    Ok(buttons)
}

fn rows(action: &Object) -> Result<Vec<Button>, GraphError> {
    only(action, "interactive.action.", &["button", "sections"])?;
    text(action, "interactive.action.", "button", 20)?;
    let sections = array(action, "interactive.action.", "sections", 1, 10)?;
    let mut rows: Vec<Button> = Vec::new();
    for section in sections {
        let section_map = object(section, "sections")?;
        only(section_map, "sections.", &["title", "rows"])?;
        if sections.len() > 1 || section_map.contains_key("title") {
            text(section_map, "sections.", "title", 24)?;
        }
        for row in array(section_map, "sections.", "rows", 1, 10)? {
            let row = object(row, "sections.rows")?;
            only(row, "sections.rows.", &["id", "title", "description"])?;
            let description = match row.get("description") {
                Some(_) => Some(text(row, "sections.rows.", "description", 72)?.to_owned()),
                None => None,
            };
            rows.push(Button {
                id: id(row, "sections.rows.", 200)?,
                title: text(row, "sections.rows.", "title", 24)?.to_owned(),
                description,
            });
        }
    }
    if rows.len() > 10 {
        return Err(GraphError::invalid("A list has at most 10 rows in total"));
    }
    unique(&rows, false)?;
    Ok(rows)
}

fn id(map: &Object, path: &str, longest: usize) -> Result<String, GraphError> {
    let id = text(map, path, "id", longest)?;
    if id.trim() != id {
        return Err(GraphError::invalid(format!("{path}id has spaces around it")));
    }
    Ok(id.to_owned())
}

fn unique(buttons: &[Button], titles: bool) -> Result<(), GraphError> {
    for (at, one) in buttons.iter().enumerate() {
        let same = |other: &Button| other.id == one.id || (titles && other.title == one.title);
        if buttons.iter().skip(at + 1).any(same) {
            return Err(GraphError::invalid("Ids and titles must be unique"));
        }
    }
    Ok(())
}

pub(crate) fn object<'a>(value: &'a Value, path: &str) -> Result<&'a Object, GraphError> {
    value.as_object().ok_or_else(|| GraphError::parameter(format!("{path} must be an object")))
}

pub(crate) fn only(map: &Object, path: &str, allowed: &[&str]) -> Result<(), GraphError> {
    match map.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(GraphError::parameter(format!("Unexpected key {path}{key}"))),
        None => Ok(()),
    }
}

/// A text that is there, not blank, and within its limit.
pub(crate) fn text<'a>(
    map: &'a Object,
    path: &str,
    key: &str,
    longest: usize,
) -> Result<&'a str, GraphError> {
    let value = map.get(key).ok_or_else(|| GraphError::missing(&format!("{path}{key}")))?;
    let text =
        value.as_str().ok_or_else(|| GraphError::parameter(format!("{path}{key} must be a string")))?;
    if text.trim().is_empty() {
        return Err(GraphError::invalid(format!("{path}{key} is empty")));
    }
    if length(text) > longest {
        return Err(GraphError::invalid(format!("{path}{key} is longer than {longest} characters")));
    }
    Ok(text)
}

pub(crate) fn one_of<'a>(
    map: &'a Object,
    path: &str,
    key: &str,
    allowed: &[&str],
) -> Result<&'a str, GraphError> {
    let value = text(map, path, key, 64)?;
    if !allowed.contains(&value) {
        return Err(GraphError::invalid(format!("{path}{key} must be one of {}", allowed.join(", "))));
    }
    Ok(value)
}

fn array<'a>(
    map: &'a Object,
    path: &str,
    key: &str,
    least: usize,
    most: usize,
) -> Result<&'a Vec<Value>, GraphError> {
    let value = map.get(key).ok_or_else(|| GraphError::missing(&format!("{path}{key}")))?;
    let list =
        value.as_array().ok_or_else(|| GraphError::parameter(format!("{path}{key} must be an array")))?;
    if !(least..=most).contains(&list.len()) {
        return Err(GraphError::invalid(format!("{path}{key} must have {least} to {most} entries")));
    }
    Ok(list)
}

/// The greater of Unicode scalars and UTF-16 units: the stricter of the two possible readings.
pub(crate) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}
