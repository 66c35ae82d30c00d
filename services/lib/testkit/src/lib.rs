//! Tests only: a database per test and builders.
