//! Tests of whole rooms and of several together, linked once.

mod model;
mod sessions;
mod sse;
