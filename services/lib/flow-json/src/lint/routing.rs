//! Where one gets from each screen.
//!
//! Without an endpoint the platform derives the routes itself. A screen with a list counts as linked to all
//! others there, and a screen may have ten links: so eleven screens in all. What it does not look into, the rows of
//! lists, is followed here.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::context::{Context, Screen, quote};
use super::json::{Node, Value};

const MOST_TARGETS: usize = 10;
const CODE: Code = Code::InvalidRoutingModel;

/// Screens by place, with the places they lead to.
type Routes = Vec<BTreeSet<usize>>;

pub(crate) fn check(context: &Context<'_, '_>, root: &Node<'_>) {
    let taps: Routes = context.screens.iter().map(|screen| targets(context, screen)).collect();
    let model = root.get("routing_model");
    if let Some(model) = model {
        let written = read(context, model);
        if context.endpoint {
            declared(context, model, &written, &taps);
        }
    }
    if !context.endpoint {
        derived(context, &taps);
    }
}

/// What the taps of a screen lead to, rows of lists included.
fn targets(context: &Context<'_, '_>, screen: &Screen<'_, '_>) -> BTreeSet<usize> {
    let actions = screen.components.iter().filter(|placed| placed.spec.is_some()).flat_map(|placed| {
        let rows = placed.node.get("list-items").map_or(&[][..], Node::elements);
        std::iter::once(placed.node).chain(rows).filter_map(|node| node.get("on-click-action"))
    });
    actions
        .filter(|action| action.get("name").and_then(Node::text) == Some("navigate"))
        .filter_map(|action| action.get("next")?.get("name")?.text())
        .filter_map(|name| context.by_id.get(name).copied())
        .filter(|target| !std::ptr::eq(&raw const context.screens[*target], std::ptr::from_ref(screen)))
        .collect()
}

fn derived(context: &Context<'_, '_>, taps: &Routes) {
    let screens = &context.screens;
    for (screen, targets) in screens.iter().zip(taps) {
        let linked = if screen.has_list { screens.len() - 1 } else { targets.len() };
        if linked > MOST_TARGETS {
            let why =
                if screen.has_list { " (a screen with a list counts as linked to all others)" } else { "" };
            context.add(
                screen.node,
                CODE,
                format!("{linked} links{why}; a screen has at most {MOST_TARGETS}"),
            );
        }
    }
    let entered: BTreeSet<usize> = taps.iter().flatten().copied().collect();
    let Some(entry) = (0..screens.len()).find(|place| !entered.contains(place)) else {
        if let Some(first) = screens.first() {
            context.add(first.node, CODE, "every screen is led to by another, so the form has no first one");
        }
        return;
    };
    let reached = reach(taps, entry);
    for (place, screen) in screens.iter().enumerate().filter(|(place, _)| !reached.contains(place)) {
        let first = screens[entry].id.unwrap_or_default();
        let id = screen.id.unwrap_or_default();
        if context.by_id.get(id) == Some(&place) {
            let message = format!("no way leads from {} to {}", quote(first), quote(id));
            context.add(screen.node, CODE, message);
        }
    }
}

fn reach(routes: &Routes, from: usize) -> BTreeSet<usize> {
    let (mut reached, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(place) = open.pop() {
        for target in routes.get(place).into_iter().flatten() {
            if reached.insert(*target) {
                open.push(*target);
            }
        }
    }
    reached
}

/// The written model: known screens, each a list of known others.
fn read(context: &Context<'_, '_>, model: &Node<'_>) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut routes = BTreeMap::new();
    if !matches!(model.value, Value::Object(_)) {
        context.add(model, Code::InvalidPropertyType, "routing_model must be an object");
        return routes;
    }
    for member in model.members() {
        let Value::Array(listed) = &member.value.value else {
            context.add(&member.value, Code::InvalidPropertyType, "must be a list of screens");
            continue;
        };
        let Some(from) = context.by_id.get(member.key.as_ref()).copied() else {
            context.add_key(member, CODE, format!("there is no screen {}", quote(&member.key)));
            continue;
        };
        let mut targets = BTreeSet::new();
        for target in listed {
            let known = target.text().map(|text| (text, context.by_id.get(text).copied()));
            match known {
                None => context.add(target, Code::InvalidPropertyType, "must be the id of a screen"),
                Some((text, None)) => {
                    context.add(target, CODE, format!("there is no screen {}", quote(text)));
                }
                Some((_, Some(to))) if to == from => {
                    context.add(target, CODE, "a screen may not lead to itself");
                }
                Some((_, Some(to))) => {
                    targets.insert(to);
                }
            }
        }
        if targets.len() > MOST_TARGETS {
            let message = format!("{} routes; a screen has at most {MOST_TARGETS}", targets.len());
            context.add(&member.value, CODE, message);
        }
        routes.insert(from, targets);
    }
    routes
}

/// The model of a form with an endpoint has all routes, and only forward ones.
fn declared(
    context: &Context<'_, '_>,
    model: &Node<'_>,
    written: &BTreeMap<usize, BTreeSet<usize>>,
    taps: &Routes,
) {
    let id =
        |place: usize| quote(context.screens.get(place).and_then(|screen| screen.id).unwrap_or_default());
    let has = |from: usize, to: usize| written.get(&from).is_some_and(|targets| targets.contains(&to));
    for place in context.by_id.values().copied().collect::<BTreeSet<_>>() {
        if !written.contains_key(&place) {
            context.add(model, CODE, format!("the screen {} is not listed", id(place)));
        }
    }
    for (from, targets) in written {
        for to in targets.iter().filter(|to| **to > *from && has(**to, *from)) {
            context.add(model, CODE, format!("{} and {} lead to each other", id(*from), id(*to)));
        }
    }
    for (from, targets) in taps.iter().enumerate() {
        for to in targets.iter().filter(|to| !has(from, **to)) {
            context.add(model, CODE, format!("the route from {} to {} is missing", id(from), id(*to)));
        }
    }
    let entered: BTreeSet<usize> = written.values().flatten().chain(taps.iter().flatten()).copied().collect();
    if !written.is_empty() && written.keys().all(|place| entered.contains(place)) {
        context.add(model, CODE, "every screen is led to by another, so the form has no first one");
    }
    connected(context, model, written);
}

/// Whatever the direction.
fn connected(context: &Context<'_, '_>, model: &Node<'_>, written: &BTreeMap<usize, BTreeSet<usize>>) {
    let mut both: Routes = vec![BTreeSet::new(); context.screens.len()];
    for (from, targets) in written {
        for to in targets {
            both[*from].insert(*to);
            both[*to].insert(*from);
        }
    }
    let Some(first) = written.keys().next() else { return };
    let reached = reach(&both, *first);
    if let Some(apart) = written.keys().find(|place| !reached.contains(place)) {
        let name = context.screens.get(*apart).and_then(|screen| screen.id).unwrap_or_default();
        context.add(model, CODE, format!("no route touches {}", quote(name)));
    }
}
