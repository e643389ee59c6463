//! Integration tests of all rooms, one binary.

// Said aloud although always so: clippy lets helpers in test modules unwrap, and knows them by this.
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the world they act in, and look at it")]
mod tools;
