//! What an audit says: a decision with everything that led to it.

use super::{
    action::RawCall,
    effect::Verb,
    id::{Digest, GrantId, RuleId},
    resource::Resource,
};
use serde::{Deserialize, Serialize};

/// The strictest wins: `deny` > `ask` > `repair` > `allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Allow,
    Repair,
    Ask,
    Deny,
}

impl Decision {
    pub const fn word(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Repair => "repair",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        }
    }
}

/// What a rule asks of an effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "demand")]
pub enum Demand {
    /// It must not happen.
    Forbidden,
    /// `attr` would reach `would_be` where `max` is allowed.
    Limit { attr: String, max: f64, would_be: f64, unit: Option<String> },
    /// `verb` on `resource` must have happened before.
    Before { verb: Verb, resource: Resource },
    /// A person must have said yes.
    Approval,
    /// The rule could apply, and whether it does cannot be told: `why`.
    Unknown { why: String },
}

/// One rule that spoke about one effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub rule: RuleId,
    /// Index into the action's effects.
    pub effect: usize,
    #[serde(flatten)]
    pub demand: Demand,
    /// What this finding alone would decide; `allow` when it was discharged or lifted.
    pub level: Decision,
    /// The operand that met the guard, e.g. `contracts/old/** meets contracts/**`.
    pub matched: String,
    /// The grant that discharged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted: Option<GrantId>,
    /// The exception that lifted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifted: Option<RuleId>,
}

impl Finding {
    /// Still stands against the action.
    pub fn is_open(&self) -> bool {
        self.level != Decision::Allow
    }
}

/// How a plan helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanKind {
    /// Steps run first, then the original is audited again.
    Precede,
    /// Another action that could be proposed instead; never runs by itself.
    Substitute,
}

/// One step of a plan; an action like any other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    pub kind: PlanKind,
    pub call: RawCall,
    /// The rule whose demand it meets.
    pub rule: RuleId,
}

/// A step that may help with some effects of an action; whether it does, and is lawful, the audit says.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub kind: PlanKind,
    pub call: RawCall,
    /// Indices of the action's effects.
    pub eases: Vec<usize>,
}

/// What would make the action lawful.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan(pub Vec<PlanStep>);

impl Plan {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn preceding(&self) -> impl Iterator<Item = &PlanStep> {
        self.0.iter().filter(|s| s.kind == PlanKind::Precede)
    }

    pub fn substitutes(&self) -> impl Iterator<Item = &PlanStep> {
        self.0.iter().filter(|s| s.kind == PlanKind::Substitute)
    }
}

/// The verdict on one action under one law, with its whole trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    pub decision: Decision,
    /// Every rule that matched, discharged ones included, in order of effect then rule.
    pub findings: Vec<Finding>,
    #[serde(default, skip_serializing_if = "Plan::is_empty")]
    pub plan: Plan,
    /// Indices of effects against which nothing stands: what could lawfully be proposed alone.
    #[serde(default)]
    pub lawful: Vec<usize>,
    /// Of the action that was audited.
    pub action: Digest,
    /// Of the rules (not the grants) it was audited under.
    pub law: Digest,
}

impl Audit {
    pub fn open(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.is_open())
    }
}

/// What a person may answer to an action that waits or was stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
pub enum HumanDecision {
    ApproveOnce,
    /// With the scope the person saw in words.
    ApproveSession {
        words: String,
    },
    Deny {
        feedback: String,
    },
    Edit {
        call: RawCall,
    },
    RepairFirst,
    AskHuman,
}

impl HumanDecision {
    pub const fn word(&self) -> &'static str {
        match self {
            HumanDecision::ApproveOnce => "approve_once",
            HumanDecision::ApproveSession { .. } => "approve_session",
            HumanDecision::Deny { .. } => "deny",
            HumanDecision::Edit { .. } => "edit",
            HumanDecision::RepairFirst => "repair_first",
            HumanDecision::AskHuman => "ask_human",
        }
    }
}
