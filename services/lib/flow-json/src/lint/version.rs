//! Versions of Flow JSON.

/// Major and minor; ordered as versions are, so that 7.10 follows 7.9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u8, pub(crate) u8);

/// The oldest that may be published, whose rules are the base.
pub(crate) const V5_1: Version = Version(5, 1);
/// Nested expressions, `update_data`, `open_url`.
pub(crate) const V6_0: Version = Version(6, 0);
/// The calendar.
pub(crate) const V6_1: Version = Version(6, 1);
/// Lists that navigate, patterns of inputs.
pub(crate) const V6_2: Version = Version(6, 2);
/// Chips, a footer below rich text.
pub(crate) const V6_3: Version = Version(6, 3);
/// Large labels, one form a screen, stricter ids.
pub(crate) const V7_0: Version = Version(7, 0);
/// Carousels.
pub(crate) const V7_1: Version = Version(7, 1);
/// The newest; the second version of the endpoint's protocol.
pub(crate) const V7_3: Version = Version(7, 3);

/// May be published.
const CURRENT: [Version; 9] = [V5_1, V6_0, V6_1, V6_2, V6_3, V7_0, V7_1, Version(7, 2), V7_3];
/// Are still sent and opened, but not published.
const FROZEN: [&str; 5] = ["2.1", "3.0", "3.1", "4.0", "5.0"];

/// What a version in a document is.
pub(crate) enum Known {
    Current(Version),
    Frozen,
    Unknown,
}

pub(crate) fn known(text: &str) -> Known {
    if FROZEN.contains(&text) {
        return Known::Frozen;
    }
    let current = CURRENT.into_iter().find(|Version(major, minor)| text == format!("{major}.{minor}"));
    current.map_or(Known::Unknown, Known::Current)
}
