//! Decide, record, apply: what an input means in a session's state. Pure.
//!
//! `decide` answers inputs from outside, `advance` says what the state itself calls for next; both only say what
//! should be recorded and done. `apply` folds records into `State`. Nothing here touches the world.

pub mod apply;
pub mod input;
pub mod state;
pub mod timeline;

pub use input::{Command, Input, Now, RuleDecision, Step};
pub use state::{Handling, Phase, Stage, State};
