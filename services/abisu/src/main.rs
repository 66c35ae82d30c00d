//! The operator's command line; see the library.
fn main() -> std::process::ExitCode {
    abisu::main()
}
