//! Files that are written by a test and kept in the tree: compared by default, rewritten with `UPDATE=1`.

use std::path::Path;

pub(crate) fn same_or_update(path: &Path, kept: &str, made: &str) {
    if kept == made {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, made).expect("the kept file can be written");
        return;
    }
    let (line, (old, new)) = kept
        .lines()
        .chain(std::iter::repeat("<end>"))
        .zip(made.lines().chain(std::iter::repeat("<end>")))
        .enumerate()
        .find(|(_, (old, new))| old != new || *old == "<end>")
        .expect("both end in the same mark");
    panic!(
        "{} differs from the code at line {}:\n  kept: {old}\n  made: {new}\nRun the tests with UPDATE=1 to rewrite it.",
        path.display(),
        line + 1
    );
}
