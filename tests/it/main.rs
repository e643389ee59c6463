//! Tests of whole rooms and of several together, linked once.

#![expect(clippy::disallowed_methods, reason = "tests make the world they run in")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod model;
mod quirks;
mod sessions;
mod sse;
