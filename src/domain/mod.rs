//! The nouns everything else speaks in: ids, turns, effects, facts, constraints, verdicts, events.
//!
//! What never lives here: parsing, deciding, IO. A type here has a shape, a canonical text form where it is
//! written in rules or on screen, and nothing that could fail except reading that text form back.

pub mod action;
pub mod constraint;
pub mod effect;
pub mod event;
pub mod facts;
pub mod grant;
pub mod id;
pub mod message;
pub mod outcome;
pub mod places;
pub mod resource;
pub mod risk;
pub mod verdict;

pub use action::{Action, Program, Proposal, Proposer, RawCall};
pub use constraint::{Constraint, ConstraintState, Op, Scope, Source, Statement, StatementKind};
pub use effect::{Attributes, Certainty, Effect, Reversibility, Scalar, Verb};
pub use event::{Event, Record, Stream};
pub use facts::{Fact, Facts, PathKind, Query};
pub use grant::{Grant, Until};
pub use id::{Digest, GrantId, Moment, Origin, ProposalId, RuleId, Seq, SessionId, Span, Turn};
pub use message::{Message, Prompt, Reply, Role, ToolSpec, Usage};
pub use outcome::{Backup, Done, Outcome, OutputText, Status};
pub use places::Places;
pub use resource::{Extent, Kind, Resource};
pub use risk::{Hazard, LatchCause, LatchState};
pub use verdict::{Audit, Decision, Demand, Finding, HumanDecision, Offer, Plan, PlanKind, PlanStep};
