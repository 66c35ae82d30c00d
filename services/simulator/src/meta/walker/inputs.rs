//! What a person enters, and what a phone lets pass.

use serde_json::{Value, json};

use super::super::{
    document::{Component, Object},
    flow_check::is_day,
    validate::length,
};
use super::{Answers, phone::Phone};

impl Phone<'_> {
    /// Enters what the person answers to an input, and what follows from it on this screen.
    pub(super) fn fill(
        &mut self,
        input: &Component<'_>,
        note: &mut Option<&str>,
        answers: &Answers,
    ) -> Result<(), String> {
        let map = input.map;
        let given = match input.name().and_then(|name| answers.values.get(name)) {
            Some(given) if self.truth(map, "enabled", true)? => Some(given.clone()),
            Some(_) => return Err(format!("{} is disabled", self.place(input))),
            None => self.beginning(input)?,
        };
        let value = match input.kind {
            "TextArea" | "TextInput" => {
                let written =
                    given.filter(|given| *given != json!("")).or_else(|| note.take().map(|note| json!(note)));
                self.write(input, written)?
            }
            "PhotoPicker" => self.pick(input, &answers.photos, "photos")?,
            "DocumentPicker" => self.pick(input, &answers.photos, "documents")?,
            // Ticked unless the person will not.
            "OptIn" => self.tick(input, given.unwrap_or(Value::Bool(true)))?,
            "Dropdown" | "RadioButtonsGroup" => self.choose(input, given, false)?,
            "CheckboxGroup" | "ChipsSelector" => self.choose(input, given, true)?,
            "DatePicker" => self.day(input, given, "required")?,
            "CalendarPicker" => self.calendar(input, given)?,
            other => return Err(format!("{} is a {other}, which takes no answer", self.place(input))),
        };
        self.enter(map, value.clone());
        self.follow(input, &value)
    }

    fn place(&self, input: &Component<'_>) -> String {
        format!("{} of {}", input.name().unwrap_or_default(), self.screen())
    }

    /// The value that an input begins with, from itself or from the form around it.
    fn beginning(&self, input: &Component<'_>) -> Result<Option<Value>, String> {
        let name = input.name().unwrap_or_default();
        let form = self.document.components(self.screen()).into_iter().find(|one| one.kind == "Form");
        let of_form = form.and_then(|form| form.map.get("init-values"));
        let of_form = of_form.map(|values| self.resolve(values)).transpose()?;
        let own = input.map.get("init-value").map(|value| self.resolve(value)).transpose()?;
        Ok(own.or_else(|| of_form?.get(name).cloned()))
    }

    /// The options and the groups that were chosen have actions.
    fn follow(&mut self, input: &Component<'_>, value: &Value) -> Result<(), String> {
        let chosen: Vec<&Value> = match value {
            Value::Array(values) => values.iter().collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                vec![value]
            }
        };
        let none = matches!(value, Value::Bool(false)) || chosen.iter().all(|value| **value == json!(""));
        let key = if none { "on-unselect-action" } else { "on-select-action" };
        let mut actions: Vec<Object> = Vec::new();
        if input.map.contains_key("data-source") {
            // Not resolved: an action is resolved when it is done.
            let options = self.document.entries(self.screen(), input.map, "data-source");
            let of_option = options
                .into_iter()
                .filter(|option| chosen.iter().any(|id| option.get("id") == Some(*id)))
                .filter_map(|option| option.get(key)?.as_object().cloned());
            actions.extend(of_option);
        }
        actions.extend(input.map.get(key).and_then(Value::as_object).cloned());
        actions.iter().try_for_each(|action| self.update(action))
    }

    /// What a text field holds after the person wrote, or left it empty.
    fn write(&self, input: &Component<'_>, given: Option<Value>) -> Result<Value, String> {
        let map = input.map;
        let text = match given {
            None => String::new(),
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => return Err(format!("{} takes a text", self.place(input))),
        };
        if text.is_empty() {
            return match self.truth(map, "required", false)? {
                true => Err(format!("{} wants a text", self.place(input))),
                false => Ok(json!("")),
            };
        }
        let area = input.kind == "TextArea";
        let (most, default) = if area { ("max-length", 600) } else { ("max-chars", 80) };
        let long = length(&text) as u64;
        if long > self.count(map, most)?.unwrap_or(default)
            || long < self.count(map, "min-chars")?.unwrap_or(0)
        {
            return Err(format!("{} takes no text of this length", self.place(input)));
        }
        let digits = || text.bytes().all(|one| one.is_ascii_digit());
        let fits = match map.get("input-type").and_then(Value::as_str).unwrap_or("text") {
            "number" => text.parse::<f64>().is_ok(),
            "passcode" => digits(),
            "phone" => text.chars().all(|one| one.is_ascii_digit() || "+ -()".contains(one)),
            "email" => {
                text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
            }
            // The dialect of a `pattern` is the phone's own, so it is not tried here.
            _ => true,
        };
        if fits { Ok(json!(text)) } else { Err(format!("{} takes no such text", self.place(input))) }
    }

    fn count(&self, map: &Object, key: &str) -> Result<Option<u64>, String> {
        Ok(map.get(key).map(|value| self.resolve(value)).transpose()?.and_then(|value| value.as_u64()))
    }

    fn pick(&self, input: &Component<'_>, files: &[Value], what: &str) -> Result<Value, String> {
        let number = |key: String, default| input.map.get(&key).and_then(Value::as_u64).unwrap_or(default);
        let count = files.len() as u64;
        if count < number(format!("min-uploaded-{what}"), 0) {
            return Err(format!("{} wants a photo", self.screen()));
        }
        if count > number(format!("max-uploaded-{what}"), 30) {
            return Err(format!("{} takes no more photos", self.screen()));
        }
        Ok(json!(files))
    }

    fn tick(&self, input: &Component<'_>, ticked: Value) -> Result<Value, String> {
        match ticked {
            Value::Bool(false) if self.truth(input.map, "required", false)? => {
                Err(format!("{} must be ticked", self.place(input)))
            }
            Value::Bool(_) => Ok(ticked),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                Err(format!("{} is ticked or not", self.place(input)))
            }
        }
    }

    /// Options by id or title; what goes out is the id.
    fn choose(&self, input: &Component<'_>, given: Option<Value>, several: bool) -> Result<Value, String> {
        let options = self.options(input.map, "data-source")?;
        let wanted: Vec<String> = match given {
            None => Vec::new(),
            Some(Value::String(one)) if one.is_empty() => Vec::new(),
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) if several => {
                many.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
            }
            Some(_) => return Err(format!("{} takes an id or a title", self.place(input))),
        };
        let find = |wanted: &String| {
            let named = |key: &str, option: &Value| option.get(key).and_then(Value::as_str) == Some(wanted);
            let by = |key: &'static str| options.iter().find(move |option| named(key, option));
            let option = by("id").or_else(|| by("title"));
            let option = option.filter(|option| option.get("enabled") != Some(&Value::Bool(false)));
            let id = option.and_then(|option| option.get("id")).cloned();
            id.ok_or_else(|| {
                let titles: Vec<&str> =
                    options.iter().filter_map(|option| option.get("title")?.as_str()).collect();
                format!("{} has no option '{wanted}', only: {}", self.place(input), titles.join(", "))
            })
        };
        let chosen: Vec<Value> = wanted.iter().map(find).collect::<Result<_, _>>()?;
        if chosen.is_empty() && self.truth(input.map, "required", false)? {
            return Err(format!("{} wants a choice", self.place(input)));
        }
        if !several {
            return Ok(chosen.into_iter().next().unwrap_or_else(|| json!("")));
        }
        let count = chosen.len() as u64;
        let least = self.count(input.map, "min-selected-items")?.unwrap_or(0);
        let most = self.count(input.map, "max-selected-items")?.unwrap_or(u64::MAX);
        if count > 0 && count < least || count > most {
            return Err(format!("{} takes no {count} choices", self.place(input)));
        }
        Ok(json!(chosen))
    }

    fn calendar(&self, input: &Component<'_>, given: Option<Value>) -> Result<Value, String> {
        if input.map.get("mode").and_then(Value::as_str) != Some("range") {
            return self.day(input, given, "required");
        }
        let Some(Value::Object(range)) = given else {
            return match (given, self.truth(input.map, "required", false)?) {
                (None, false) => Ok(json!({})),
                _ => Err(format!("{} wants a start-date and an end-date", self.place(input))),
            };
        };
        let ends = ["start-date", "end-date"].map(|key| self.day(input, range.get(key).cloned(), ""));
        let [Ok(first), Ok(last)] = ends else {
            return Err(format!("{} wants a start-date and an end-date", self.place(input)));
        };
        match first.as_str() > last.as_str() {
            true => Err(format!("{} ends before it begins", self.place(input))),
            false => Ok(json!({"start-date": first, "end-date": last})),
        }
    }

    fn day(&self, input: &Component<'_>, given: Option<Value>, required: &str) -> Result<Value, String> {
        let map = input.map;
        let text = match given {
            None if self.truth(map, required, false)? => {
                return Err(format!("{} wants a day", self.place(input)));
            }
            None => return Ok(json!("")),
            Some(Value::String(text)) if is_day(&text) => text,
            Some(_) => return Err(format!("{} takes a day, as 2026-11-30", self.place(input))),
        };
        let bound = |key: &str| map.get(key).map(|value| self.resolve(value)).transpose();
        let within = |key: &str, fits: fn(&str, &str) -> bool| -> Result<bool, String> {
            Ok(bound(key)?.and_then(|bound| bound.as_str().map(|bound| fits(&text, bound))).unwrap_or(true))
        };
        let away = bound("unavailable-dates")?;
        let away = away.as_ref().and_then(Value::as_array).is_some_and(|days| days.contains(&json!(text)));
        if away
            || !within("min-date", |day, first| day >= first)?
            || !within("max-date", |day, last| day <= last)?
        {
            return Err(format!("{} cannot be on {text}", self.place(input)));
        }
        Ok(json!(text))
    }
}
