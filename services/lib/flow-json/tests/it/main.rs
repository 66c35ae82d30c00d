//! One binary: the built-in city, the checks, the form and the way back.

mod across;
mod builtin;
mod checks;
mod completion;
mod form;
mod init;
mod lint;
mod schema;
mod second_city;
mod support;
