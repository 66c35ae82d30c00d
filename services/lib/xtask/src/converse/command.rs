//! What a typed line means.

use dialogue::Point;

/// One line.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Say(String),
    /// Counted from one, as it is shown.
    Button(usize),
    Pin(Point),
    Form {
        route: String,
        note: Option<String>,
    },
    Routes,
    Photo,
    /// Whether the geocoder is away from now on.
    Away(bool),
    Help,
    Quit,
    /// A command that is not understood, and why.
    Wrong(&'static str),
}

/// Reads a line; none for an empty one.
pub(super) fn parse(line: &str) -> Option<Command> {
    let line = line.trim();
    if !line.starts_with('/') {
        return (!line.is_empty()).then(|| Command::Say(line.to_owned()));
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    Some(match word {
        "/button" => rest.parse().map_or(Command::Wrong("as /button 1"), Command::Button),
        "/pin" => pin(rest).map_or(Command::Wrong("as /pin LAT LON: /pin 42.8467 -2.6727"), Command::Pin),
        "/form" if rest.is_empty() => Command::Routes,
        "/form" => {
            let (route, note) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let note = Some(note.trim().to_owned()).filter(|note| !note.is_empty());
            Command::Form { route: route.to_owned(), note }
        }
        "/photo" => Command::Photo,
        "/away" => Command::Away(true),
        "/back" => Command::Away(false),
        "/help" => Command::Help,
        "/quit" => Command::Quit,
        _ => Command::Wrong("no such command; /help has them"),
    })
}

fn pin(text: &str) -> Option<Point> {
    let separated = text.replace(',', " ");
    let mut numbers = separated.split_whitespace();
    let point = Point { latitude: numbers.next()?.parse().ok()?, longitude: numbers.next()?.parse().ok()? };
    numbers.next().is_none().then_some(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_word_unless_it_begins_with_a_slash() {
        let point = Point { latitude: 42.8467, longitude: -2.6727 };
        let form = |note: Option<&str>| Command::Form {
            route: "street/graffiti".to_owned(),
            note: note.map(str::to_owned),
        };
        let cases = [
            ("  Hola  ", Some(Command::Say("Hola".to_owned()))),
            ("", None),
            ("/button 2", Some(Command::Button(2))),
            ("/button two", Some(Command::Wrong("as /button 1"))),
            ("/pin 42.8467, -2.6727", Some(Command::Pin(point))),
            ("/pin 1 2 3", Some(Command::Wrong("as /pin LAT LON: /pin 42.8467 -2.6727"))),
            ("/form", Some(Command::Routes)),
            ("/form street/graffiti", Some(form(None))),
            ("/form street/graffiti  en la pared", Some(form(Some("en la pared")))),
            ("/quit", Some(Command::Quit)),
        ];
        for (line, command) in cases {
            assert_eq!(parse(line), command, "{line}");
        }
    }
}
