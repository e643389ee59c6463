//! Rules and the audit: pure, total, deterministic. What never lives here: IO, clocks, knowledge of tools.

pub mod audit;
pub mod case;
#[cfg(test)]
mod cases;
mod check;
pub mod clearance;
mod eval;
pub mod grant;
mod index;
pub mod lang;
pub mod latch;
pub mod law;
#[cfg(test)]
mod laws;
mod limit;
pub mod pattern;
pub mod receipt;
mod repair;
pub mod schema;

mod words;

pub use audit::audit;
pub use case::Case;
pub use law::{Law, LawRule, Unenforceable};
