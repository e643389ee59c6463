//! Integration tests of all rooms, one binary.

mod tools;
