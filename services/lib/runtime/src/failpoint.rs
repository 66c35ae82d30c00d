//! Places where a test may end the process, as a kill would: one between any two steps of a queue.
//!
//! `ABISU_FAILPOINTS` names a folder. The first process that gets to a place after which a file in it is named takes the
//! file away and ends at once: nothing is dropped, closed or rolled back by it. So a place kills once, however often the
//! process is started again, and the file that is gone proves that the place was reached. Debug builds only: a release
//! has none of this.

/// Ends the process here if a test says so; see [`failpoint`](crate::failpoint).
#[macro_export]
macro_rules! failpoint {
    ($place:literal) => {
        #[cfg(debug_assertions)]
        $crate::failpoint::reach($place);
    };
}

/// What [`failpoint!`](crate::failpoint!) does in a debug build.
#[cfg(debug_assertions)]
#[doc(hidden)]
pub fn reach(place: &str) {
    use std::path::PathBuf;
    use std::sync::LazyLock;

    static FOLDER: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| std::env::var_os("ABISU_FAILPOINTS").map(PathBuf::from));
    if let Some(folder) = &*FOLDER
        && std::fs::remove_file(folder.join(place)).is_ok()
    {
        std::process::abort();
    }
}
