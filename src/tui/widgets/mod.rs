//! Text to styled rows: safe text, wrapping, markdown, code, diffs, rules. Pure; nothing here knows the session.

pub mod code;
pub mod diff;
pub mod markdown;
pub mod rule;
pub mod sanitise;
pub mod words;
pub mod wrap;
