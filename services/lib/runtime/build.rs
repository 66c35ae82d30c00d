//! Rebuilds the embedded migrations when a file is added: the macro sees only changes to files it knows.

fn main() {
    println!("cargo::rerun-if-changed=../../../migrations");
}
