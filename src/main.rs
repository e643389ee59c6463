//! The binary: arguments to exit code.

fn main() {}
