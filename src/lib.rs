//! weal: a person supervises a long-horizon agent, and what they said early still governs late.
//!
//! One path from words to the world, one way, through the audit:
//!
//! ```text
//! user turn ─► intake::statements ─► library ─► restore ─► model ─► RawCall
//!                                       │                             │ intake::actions (facts, effects)
//!                                       ▼                             ▼
//!                  core rules ───►  policy (law) ──────────►  audit: allow · repair · ask · deny
//!                                                                     │ Clearance (one use)
//!                                                                     ▼
//!                                                                   tools ─► Outcome
//! ```
//!
//! Every arrow appends events (`session::decide` says which, `store` keeps them, `session::State` folds them), and
//! every pane of the screen is a fold of events. Pure rooms first, rooms with a door to the world below:

pub mod domain;
pub mod hazard;
pub mod intake;
pub mod library;
pub mod policy;
pub mod restore;
pub mod session;

pub mod ports;

pub mod agent;
#[expect(clippy::disallowed_methods, reason = "a room with a door to the world")]
pub mod app;
pub mod model;
#[expect(clippy::disallowed_methods, reason = "a room with a door to the world")]
pub mod store;
#[expect(clippy::disallowed_methods, reason = "a room with a door to the world")]
pub mod tools;
#[expect(clippy::disallowed_methods, reason = "a room with a door to the world")]
pub mod tui;
