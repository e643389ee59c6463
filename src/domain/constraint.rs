//! What the person said that binds the agent: statements as extracted, constraints as kept.

use super::id::{Moment, RuleId, Span, Turn};
use serde::{Deserialize, Serialize};

/// What kind of statement it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    Prohibition,
    Prerequisite,
    Approval,
    Limit,
    Exception,
    Temporal,
    Scope,
    Revocation,
    Update,
}

impl StatementKind {
    pub const fn word(self) -> &'static str {
        match self {
            StatementKind::Prohibition => "prohibition",
            StatementKind::Prerequisite => "prerequisite",
            StatementKind::Approval => "approval",
            StatementKind::Limit => "limit",
            StatementKind::Exception => "exception",
            StatementKind::Temporal => "temporal",
            StatementKind::Scope => "scope",
            StatementKind::Revocation => "revocation",
            StatementKind::Update => "update",
        }
    }
}

/// What a statement does to the constraints in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    Add,
    Tighten,
    Relax,
    Replace,
    Revoke,
}

impl Op {
    /// Lets something through that was held before.
    pub const fn loosens(self) -> bool {
        matches!(self, Op::Relax | Op::Revoke | Op::Replace)
    }
}

/// How long and where a constraint holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Only the turn it stands in.
    Turn,
    Session,
    /// Every session of this workspace.
    Project,
    Always,
}

impl Scope {
    pub const fn word(self) -> &'static str {
        match self {
            Scope::Turn => "turn",
            Scope::Session => "session",
            Scope::Project => "project",
            Scope::Always => "always",
        }
    }
}

/// Where the words come from; decides what they may do (DESIGN §5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum Source {
    /// Typed by the person.
    Said,
    /// Pasted, fenced or attached: can at most propose a restriction as a draft.
    Pasted,
    /// An instruction file of the workspace: tightens at once, loosens only when confirmed.
    Instructions { file: String },
    /// A decision of the person on an action or rule, not a sentence.
    Decided,
}

/// One clause of a turn, as an extractor understood it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    pub turn: Turn,
    pub span: Span,
    /// The words under `span`, verbatim.
    pub quote: String,
    pub kind: StatementKind,
    pub op: Op,
    /// In the rule language; `None` exactly when it cannot be enforced.
    pub rule: Option<String>,
    pub scope: Scope,
    /// 0 to 1.
    pub confidence: f64,
    pub enforceable: bool,
    /// Constraints that a revocation, relaxation or update speaks of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<RuleId>,
    /// Why no rule could be made of it, or what is unclear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The life of a constraint; nothing is ever deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ConstraintState {
    /// A draft that waits for the person's word.
    Proposed,
    Active,
    Suspended,
    Superseded {
        by: RuleId,
    },
    Revoked,
    Expired,
}

impl ConstraintState {
    pub const fn word(&self) -> &'static str {
        match self {
            ConstraintState::Proposed => "proposed",
            ConstraintState::Active => "active",
            ConstraintState::Suspended => "suspended",
            ConstraintState::Superseded { .. } => "superseded",
            ConstraintState::Revoked => "revoked",
            ConstraintState::Expired => "expired",
        }
    }
}

/// A lifecycle object around a rule: the person's words, where they stand, what they became.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    pub id: RuleId,
    pub kind: StatementKind,
    pub quote: String,
    pub turn: Turn,
    pub span: Span,
    pub source: Source,
    pub scope: Scope,
    /// In the rule language; `None` when the words cannot be enforced (they are still restored and shown).
    pub rule: Option<String>,
    /// Why there is no rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub confidence: f64,
    pub state: ConstraintState,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Moment>,
    /// Holds for this one action only: the digest of the action that `approve_once` was given for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once: Option<super::id::Digest>,
}

impl Constraint {
    /// What a statement becomes when it is taken in.
    pub fn of(id: RuleId, statement: Statement, source: Source, state: ConstraintState) -> Self {
        Constraint {
            id,
            kind: statement.kind,
            quote: statement.quote,
            turn: statement.turn,
            span: statement.span,
            source,
            scope: statement.scope,
            rule: statement.rule,
            note: statement.note,
            confidence: statement.confidence,
            state,
            expires: None,
            once: None,
        }
    }

    pub fn is_active(&self) -> bool {
        self.state == ConstraintState::Active
    }

    pub fn is_enforceable(&self) -> bool {
        self.rule.is_some()
    }
}
