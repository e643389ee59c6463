//! The rule language: trees, reading, printing, diagnostics. What a rule means is in `policy::eval`.

pub mod ast;
