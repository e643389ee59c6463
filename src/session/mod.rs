//! Decide, record, apply: what an input means in a session's state. Pure.
//!
//! `decide` answers inputs from outside, `advance` says what the state itself calls for next; both only say what
//! should be recorded and done. `apply` folds records into `State`. Nothing here touches the world.

use crate::intake::statements::Lexicon;
use std::sync::LazyLock;

pub mod advance;
pub mod apply;
pub mod check;
pub mod decide;
mod desk;
pub mod input;
pub mod replay;
pub mod state;
#[cfg(test)]
mod tests;
pub mod timeline;
pub mod understand;

/// The language data, read once.
pub static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::english);

pub use advance::advance;
pub use decide::decide;
pub use desk::Desk;
pub use input::{Command, Input, RuleDecision, Step};
pub use state::{Handling, Phase, Stage, State};
