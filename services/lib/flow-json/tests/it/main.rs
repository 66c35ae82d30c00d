//! One binary: the built-in city, the checks, the form and the way back.

mod builtin;
mod checks;
mod completion;
mod form;
mod init;
mod support;
