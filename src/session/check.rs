//! One question, one answer: what would the gate say to this call after this history? A whole session in small,
//! over the same decide and advance, with no disk, no model and no user configuration behind it.

use super::{Command, Desk, Input, Stage, State, Step, advance, decide};
use crate::domain::event::Entry;
use crate::domain::{
    Audit, Decision, Demand, Digest, Effect, Event, Fact, Facts, Finding, Moment, PathKind, Proposal, ProposalId,
    Proposer, Query, RawCall, Record, RuleId, Scalar, Seq, SessionId, ToolSpec,
    event::{CoreRule, Opening, Sandbox},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A question.
#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    #[serde(default)]
    pub history: Vec<Said>,
    #[serde(default)]
    pub request: Option<Said>,
    pub tool: String,
    #[serde(default)]
    pub args: Value,
    #[serde(default)]
    pub state: BTreeMap<String, Value>,
}

/// A turn: a string is the user's.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Said {
    User(String),
    By { role: String, text: String },
}

/// An answer.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    pub decision: Decision,
    pub rules: Vec<CitedRule>,
    pub effects: Vec<Effect>,
    pub repair: Vec<RepairStep>,
    pub receipt: String,
    /// Entries of `state` that answered nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_state: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct CitedRule {
    pub id: RuleId,
    pub origin: &'static str,
    pub text: String,
    pub quote: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct RepairStep {
    pub kind: crate::domain::PlanKind,
    pub tool: String,
    pub args: Value,
}

/// Sources in parentheses whose words are standing instructions of the person.
const STANDING: [&str; 9] =
    ["rules", "rule", "policy", "memory", "protocol", "procedure", "setting", "skill", "earlier session"];

/// The words of a turn that are the person's, or `None` when somebody else's.
fn persons_words(said: &Said) -> Option<&str> {
    let text = match said {
        Said::User(text) => text,
        Said::By { role, text } if role == "user" => text,
        Said::By { .. } => return None,
    };
    let Some(rest) = text.strip_prefix('(') else { return Some(text) };
    let Some((source, words)) = rest.split_once(')') else { return Some(text) };
    STANDING.contains(&source.trim().to_lowercase().as_str()).then_some(words.trim_start())
}

/// Answers a question under the given core rules.
pub fn check(question: &Question, core: &[CoreRule], tools: &[ToolSpec]) -> Answer {
    let workspace = match question.state.get("workdir").and_then(Value::as_str) {
        Some(path) if path.starts_with('/') => path.to_owned(),
        Some(_) | None => "/workspace".to_owned(),
    };
    let mut bench = Bench::open(&workspace, core, tools);
    for said in &question.history {
        if let Some(words) = persons_words(said) {
            bench.input(Input::UserTurn { text: words.to_owned(), pasted: Vec::new() });
        }
    }
    match question.request.as_ref().map(|r| (r, persons_words(r))) {
        Some((_, Some(words))) => bench.input(Input::UserTurn { text: words.to_owned(), pasted: Vec::new() }),
        Some((_, None)) | None => bench.forget_request(),
    }
    let world = Told::new(question);
    let id = bench.propose(RawCall::new(&question.tool, question.args.clone()));
    bench.until_audited(id, &world);
    bench.answer(id, world.unused())
}

/// Effects of one call, with the facts that are given.
pub fn effects(call: &RawCall, facts: &Facts, core: &[CoreRule]) -> Vec<Effect> {
    let mut bench = Bench::open("/workspace", core, &[]);
    let id = bench.propose(call.clone());
    bench.until_audited(id, &Told::facts(facts));
    bench.state.handlings.get(&id).and_then(|h| h.action.clone()).map(|a| a.effects).unwrap_or_default()
}

/// A session whose log is this value alone.
pub struct Bench<'a> {
    pub state: State,
    tools: &'a [ToolSpec],
}

impl<'a> Bench<'a> {
    pub fn open(workspace: &str, core: &[CoreRule], tools: &'a [ToolSpec]) -> Self {
        let mut bench = Bench { state: State::new(), tools };
        bench.input(Input::Open(Box::new(Opening {
            session: SessionId("check".to_owned()),
            workspace: workspace.to_owned(),
            home: "/home/user".to_owned(),
            model: "check".to_owned(),
            simulated: false,
            scratch: false,
            sandbox: Sandbox::None { why: "nothing runs".to_owned() },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            core: core.to_vec(),
            next_constraint: 1,
            latched: false,
            context_budget: u64::MAX,
        })));
        bench
    }

    const fn desk(&self) -> Desk<'a> {
        Desk { now: Moment::utc(0), tools: self.tools }
    }

    pub fn input(&mut self, input: Input) {
        let step = decide(&self.state, input, self.desk());
        self.record(step);
    }

    fn record(&mut self, step: Step) -> Vec<Command> {
        for Entry { stream, event } in step.events {
            let seq = Seq(self.state.last.0 + 1);
            self.state.apply(&Record { seq, stream, at: Moment::utc(0), event });
        }
        step.commands
    }

    /// The present turn is nobody's request: it names nothing.
    fn forget_request(&mut self) {
        self.state.request.clear();
        self.state.intents.clear();
    }

    fn propose(&mut self, call: RawCall) -> ProposalId {
        let id = self.state.next_proposal();
        let proposal = Proposal { id, turn: self.state.turn, call, by: Proposer::Model { call: "check".to_owned() } };
        self.happen(Event::ActionProposed { proposal });
        id
    }

    fn happen(&mut self, event: Event) {
        let stream = crate::domain::Stream::Session(SessionId("check".to_owned()));
        self.record(Step { events: vec![Entry { stream, event }], commands: Vec::new() });
    }

    fn until_audited(&mut self, id: ProposalId, world: &Told<'_>) {
        while self.state.handlings.get(&id).is_some_and(|h| matches!(h.stage, Stage::Proposed | Stage::Understood)) {
            let step = advance(&self.state, self.desk());
            if step.is_empty() {
                break;
            }
            for command in self.record(step) {
                if let Command::ReadFacts { proposal, queries } = command {
                    self.input(Input::FactsRead { proposal, facts: world.read(&queries) });
                }
            }
        }
    }

    fn answer(&self, id: ProposalId, unused_state: Vec<String>) -> Answer {
        let handling = self.state.handlings.get(&id);
        let (Some(action), Some(audit)) =
            (handling.and_then(|h| h.action.as_ref()), handling.and_then(super::Handling::audit))
        else {
            return Answer {
                decision: Decision::Deny,
                rules: Vec::new(),
                effects: Vec::new(),
                repair: Vec::new(),
                receipt: "the call could not be audited".to_owned(),
                unused_state,
            };
        };
        let cite = |rule| advance::cite(&self.state, rule);
        let steps = audit.plan.0.iter();
        Answer {
            decision: audit.decision,
            rules: self.cited(audit),
            effects: action.effects.clone(),
            repair: steps
                .map(|s| RepairStep { kind: s.kind, tool: s.call.tool.clone(), args: s.call.args.clone() })
                .collect(),
            receipt: crate::policy::receipt::receipt(audit, action, &cite),
            unused_state,
        }
    }

    fn cited(&self, audit: &Audit) -> Vec<CitedRule> {
        let ids: BTreeSet<RuleId> = audit.open().map(|f| f.rule).collect();
        let cited = ids.into_iter().filter_map(|id| {
            let citation = advance::cite(&self.state, id)?;
            Some(CitedRule { id, origin: id.origin.word(), text: citation.text, quote: citation.quote })
        });
        cited.collect()
    }
}

/// A world that knows only what it was told.
struct Told<'a> {
    state: &'a BTreeMap<String, Value>,
    facts: Option<&'a Facts>,
    used: std::cell::RefCell<BTreeSet<String>>,
}

static NOTHING: BTreeMap<String, Value> = BTreeMap::new();

impl<'a> Told<'a> {
    fn new(question: &'a Question) -> Self {
        let used = BTreeSet::from(["workdir".to_owned()]);
        Told { state: &question.state, facts: None, used: used.into() }
    }

    fn facts(facts: &'a Facts) -> Self {
        Told { state: &NOTHING, facts: Some(facts), used: BTreeSet::new().into() }
    }

    fn read(&self, queries: &[Query]) -> Facts {
        Facts(queries.iter().map(|q| (q.clone(), self.look(q))).collect())
    }

    fn look(&self, query: &Query) -> Fact {
        if let Some(fact) = self.facts.and_then(|f| f.get(query)) {
            return fact.clone();
        }
        let told = match query {
            Query::Path(path) => self.path(path),
            Query::State(name) => self.value(name),
            Query::Glob(_) | Query::Command(_) | Query::Env(_) | Query::Text(_) | Query::Git(_) => None,
        };
        told.unwrap_or_else(|| Fact::Unavailable { why: "not told".to_owned() })
    }

    /// The value of an entry; of a list, one line for each.
    fn value(&self, name: &str) -> Option<Fact> {
        let value = match self.state.get(name)? {
            Value::Bool(b) => Scalar::Bool(*b),
            Value::Number(n) => Scalar::Number(n.as_f64()?),
            Value::String(text) => Scalar::Text(text.clone()),
            Value::Array(all) => {
                let lines = all.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
                Scalar::Text(lines.collect::<Vec<_>>().join("\n"))
            }
            Value::Null | Value::Object(_) => return None,
        };
        self.used.borrow_mut().insert(name.to_owned());
        Some(Fact::State { value })
    }

    /// A path that `state` says is a link, or not there.
    fn path(&self, path: &str) -> Option<Fact> {
        let matches = |key: &String| {
            let key = key.trim_end_matches('/');
            path == key || path.ends_with(&format!("/{}", key.trim_start_matches("../")))
        };
        let (key, value) = self.state.iter().find(|(key, _)| matches(key))?;
        let text = value.as_str()?;
        let (resolved, kind, link) = match text.split_once("->") {
            Some((_, target)) => (target.trim().to_owned(), PathKind::Directory, true),
            None if text.contains("not exist") => (path.to_owned(), PathKind::Missing, false),
            None => return None,
        };
        self.used.borrow_mut().insert(key.clone());
        let stamp = Digest::of(text.as_bytes());
        Some(Fact::Path { resolved, kind, link, files: 0, bytes: 0, capped: false, stamp, made_here: false })
    }

    fn unused(&self) -> Vec<String> {
        let used = self.used.borrow();
        self.state.keys().filter(|k| !used.contains(*k)).cloned().collect()
    }
}

/// A place to try the examples of rules in: one law, compiled once, and a fresh session for each call.
pub struct Trial {
    calm: State,
    latched: State,
}

impl Trial {
    pub fn under(core: &[CoreRule]) -> Self {
        let mut bench = Bench::open("/workspace", core, &[]);
        let calm = bench.state.clone();
        let cause = crate::domain::LatchCause::Inherited;
        bench.happen(Event::LatchEngaged { turn: bench.state.turn, cause, at: Moment::utc(0) });
        Trial { calm, latched: bench.state }
    }

    /// The rules that speak for certain about a call, whether or not anything lifts what they say.
    pub fn findings(&self, call: &RawCall, latched: bool) -> Vec<RuleId> {
        let state = if latched { &self.latched } else { &self.calm };
        let mut bench = Bench { state: state.clone(), tools: &[] };
        let id = bench.propose(call.clone());
        bench.until_audited(id, &Told::facts(&Facts::default()));
        let audit = bench.state.handlings.get(&id).and_then(super::Handling::audit);
        let sure = |f: &&Finding| !matches!(f.demand, Demand::Unknown { .. });
        audit.map(|a| a.findings.iter().filter(sure).map(|f| f.rule).collect()).unwrap_or_default()
    }
}
