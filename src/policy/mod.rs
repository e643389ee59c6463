//! Rules and the audit: pure, total, deterministic. What never lives here: IO, clocks, knowledge of tools.

pub mod clearance;
pub mod lang;
pub mod pattern;
pub mod schema;
