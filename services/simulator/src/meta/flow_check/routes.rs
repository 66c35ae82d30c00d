//! The ways through a form: one entry, everything reachable, and the budget of screens.

use super::{
    super::document::{Document, screen_id},
    Problems,
};

const CODE: &str = "INVALID_ROUTING_MODEL";
/// Branches of one screen.
const MOST_TARGETS: usize = 10;

pub(super) fn check(problems: &mut Problems, document: &Document<'_>) {
    let screens: Vec<(usize, &str)> =
        document.screens().map(|(at, screen)| (at, screen_id(screen))).collect();
    for &(at, id) in &screens {
        let path = format!("screens[{at}]");
        if document.targets(id).len() > MOST_TARGETS {
            problems.add(CODE, &path, format!("{id} leads to more than {MOST_TARGETS} screens"));
        }
        // A list may change at run time, so its screen counts as linked to all others.
        let has_list = document.components(id).iter().any(|one| one.kind == "NavigationList");
        if has_list && screens.len() > MOST_TARGETS + 1 {
            problems.add(
                CODE,
                &path,
                format!("{id} has a list, so it counts as linked to all other screens"),
            );
        }
    }
    let entries = document.entry_screens();
    if entries.len() != 1 {
        problems.add(CODE, "screens", format!("A form has one entry screen, not {}", entries.len()));
    }
    let mut reached: Vec<&str> = entries.into_iter().take(1).collect();
    let mut next = 0;
    while let Some(&id) = reached.get(next) {
        next += 1;
        for target in document.targets(id) {
            if !reached.contains(&target) {
                reached.push(target);
            }
        }
    }
    for (at, id) in screens.into_iter().filter(|(_, id)| !reached.contains(id)) {
        problems.add(CODE, format!("screens[{at}]"), format!("Nothing leads to {id}"));
    }
}
