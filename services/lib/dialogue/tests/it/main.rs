//! The conversation seen from outside: the whole table, whole conversations and random walks.

mod golden;
mod kept;
mod scene;
mod table;
mod walk;
