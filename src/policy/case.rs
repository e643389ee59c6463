//! What one action is judged by, besides the law: everything the audit may look at, and nothing it could ask for.

use crate::domain::{Action, Done, Grant, LatchState, Moment, Offer, Scalar};
use std::collections::BTreeMap;

/// The variable that every law may use without declaring it: `"yes"` while the latch is engaged, else `"no"`.
pub const LATCHED: &str = "latched";

/// One action in its circumstances.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub action: &'a Action,
    /// For each effect: the present request names it. What is missing counts as not requested.
    pub requested: &'a [bool],
    /// What could be done first or instead.
    pub offers: &'a [Offer],
    /// Labels of the present task.
    pub intents: &'a [String],
    /// Labels that a model proposed: they can make a rule speak, never keep it silent.
    pub model_intents: &'a [String],
    /// Values of the declared variables; one without a value is unknown.
    pub variables: &'a BTreeMap<String, Scalar>,
    /// What was really done, oldest first.
    pub done: &'a [Done],
    pub grants: &'a [Grant],
    /// The latch, while it is engaged.
    pub latch: Option<&'a LatchState>,
    /// Turns since the task began.
    pub task_turn: u32,
    pub now: Moment,
}
