//! Tests of whole rooms and of several together, linked once.

// Said aloud although always so: clippy lets helpers in test modules unwrap, and knows them by this.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "tests make the world they act in, and look at it")]

mod bad_input;
mod cockpit;
mod crash;
mod home;
mod model;
mod sessions;
mod sessions_live;
mod sse;
mod terminal;
mod tools;
