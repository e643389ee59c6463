//! What of the law the model is told: rank, budget, rendered fragments, compaction of the conversation. Pure.
//!
//! This is the probabilistic layer: it decides only what the model is told. The audit checks every active rule
//! whether or not it was restored (GHOST, STAR-Guard layer 1 and 2).

pub mod compaction;
pub mod gate;
pub mod prompt;
