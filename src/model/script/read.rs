//! From TOML to a checked script: every mistake with its line and what to write instead.
//!
//! What never lives here: playing.

use super::{FileSpec, Line, Say, Script, ScriptedReply, ScriptedTurn, Wrong};
use crate::{
    domain::{HumanDecision, RawCall},
    model::{
        rehearsal::{Plan, Scenario},
        template::Template,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeSet, ops::Range};
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    name: String,
    title: String,
    #[serde(default)]
    about: String,
    context_budget: Option<u64>,
    #[serde(default)]
    file: Vec<Spanned<RawFile>>,
    #[serde(default)]
    step: Vec<Spanned<RawStep>>,
    rehearsal: Option<Spanned<RawScenario>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    path: String,
    text: String,
    count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    user: Option<String>,
    agent: Option<String>,
    person: Option<String>,
    feedback: Option<String>,
    #[serde(rename = "if")]
    when: Option<When>,
    #[serde(default)]
    call: Vec<RawToolCall>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum When {
    Approved,
    Denied,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawToolCall {
    tool: String,
    #[serde(default)]
    args: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    cues: Vec<String>,
    constraint: String,
    p0: f64,
    half_life: f64,
    safe: RawPlan,
    #[serde(rename = "unsafe")]
    risky: RawPlan,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPlan {
    say: String,
    done: String,
    call: Vec<RawToolCall>,
}

/// More files than this in one workspace is a slip of the pen.
const MOST_FILES: u64 = 20_000;

pub fn script(text: &str) -> Result<Script, Wrong> {
    let raw: RawScript = toml::from_str(text).map_err(|e| {
        Wrong::new(e.span().unwrap_or(0..0), e.message().replace('\n', ", "), "see `sessions/` for examples")
    })?;
    let rehearsal = raw.rehearsal.map(|spanned| scenario(&raw.name, spanned)).transpose()?;
    let files = files(raw.file)?;
    let turns = turns(raw.step, rehearsal.as_ref())?;
    let (name, title, about) = (raw.name, raw.title, raw.about);
    Ok(Script { name, title, about, context_budget: raw.context_budget, files, turns, rehearsal })
}

fn files(raw: Vec<Spanned<RawFile>>) -> Result<Vec<FileSpec>, Wrong> {
    let mut specs = Vec::new();
    let (mut paths, mut total) = (BTreeSet::new(), 0_u64);
    for spanned in raw {
        let (at, file) = (spanned.span(), spanned.into_inner());
        total = total.saturating_add(file.count.unwrap_or(1));
        if total > MOST_FILES {
            return Err(Wrong::new(at, format!("more than {MOST_FILES} files"), "lower `count`"));
        }
        let template = |text: &str| Template::parse(text).map_err(|e| e.at(at.clone()));
        let spec = match file.count {
            None => FileSpec::One { path: file.path, text: file.text },
            Some(count) => FileSpec::Series { path: template(&file.path)?, text: template(&file.text)?, count },
        };
        for (path, _) in spec.files() {
            if path.split('/').any(|part| matches!(part, "" | "." | "..")) || path.contains(['\\', '\0']) {
                let hint = "write it relative to the root of the workspace, without `..`";
                return Err(Wrong::new(at, format!("`{path}` is no path within the workspace"), hint));
            }
            if !paths.insert(path.clone()) {
                let hint = "a path with `count` needs `{n}` in it";
                return Err(Wrong::new(at, format!("`{path}` is made twice"), hint));
            }
        }
        specs.push(spec);
    }
    Ok(specs)
}

/// A step as one thing, which is what it must be.
enum Step {
    User(String),
    Agent { say: Say, when: Option<When> },
    Person(HumanDecision),
}

fn step(at: Range<usize>, raw: RawStep) -> Result<Step, Wrong> {
    let calls: Vec<RawCall> = raw.call.into_iter().map(RawToolCall::call).collect();
    let bare = calls.is_empty() && raw.when.is_none();
    match (raw.user, raw.agent, raw.person) {
        (Some(user), None, None) if bare && raw.feedback.is_none() => {
            if user.trim().is_empty() {
                return Err(Wrong::new(at, "a user turn says nothing", "give it words"));
            }
            Ok(Step::User(user.trim().to_owned()))
        }
        (None, Some(text), None) if raw.feedback.is_none() => {
            Ok(Step::Agent { say: Say { text: text.trim().to_owned(), calls }, when: raw.when })
        }
        (None, None, Some(word)) if raw.when.is_none() => Ok(Step::Person(decision(at, &word, raw.feedback, calls)?)),
        _ => Err(Wrong::new(
            at,
            "a step must be exactly one of `user`, `agent`, `person`",
            "`if` and `call` belong to `agent`, `feedback` to `person`: put the rest into steps of their own",
        )),
    }
}

fn decision(
    at: Range<usize>,
    word: &str,
    feedback: Option<String>,
    mut calls: Vec<RawCall>,
) -> Result<HumanDecision, Wrong> {
    let words = feedback.unwrap_or_default();
    let decision = match (word, calls.pop()) {
        ("edit", Some(call)) => HumanDecision::Edit { call },
        ("edit", None) => return Err(Wrong::new(at, "`edit` without a call", "add one `[[step.call]]`")),
        (_, Some(_)) => return Err(Wrong::new(at, format!("`{word}` with a call"), "only `edit` has one")),
        ("approve_once", None) => HumanDecision::ApproveOnce,
        ("approve_session", None) => HumanDecision::ApproveSession { words },
        ("deny", None) => HumanDecision::Deny { feedback: words },
        ("repair_first", None) => HumanDecision::RepairFirst,
        ("ask_human", None) => HumanDecision::AskHuman,
        (other, None) => {
            let hint = "one of approve_once, approve_session, deny, edit, repair_first, ask_human";
            return Err(Wrong::new(at, format!("`{other}` is no decision"), hint));
        }
    };
    if calls.is_empty() { Ok(decision) } else { Err(Wrong::new(at, "`edit` with several calls", "keep one")) }
}

fn turns(raw: Vec<Spanned<RawStep>>, rehearsal: Option<&Scenario>) -> Result<Vec<ScriptedTurn>, Wrong> {
    let mut turns: Vec<(Range<usize>, ScriptedTurn)> = Vec::new();
    // An `if` step whose other half has not come yet.
    let mut half: Option<(Range<usize>, When, Say)> = None;
    for spanned in raw {
        let at = spanned.span();
        let step = step(at.clone(), spanned.into_inner())?;
        if let Some((from, ..)) = half.as_ref().filter(|_| !matches!(step, Step::Agent { when: Some(_), .. })) {
            return Err(one_sided(from.clone()));
        }
        let (user, turn) = match (step, turns.last_mut()) {
            (Step::User(user), _) => {
                turns.push((at, ScriptedTurn { user, replies: Vec::new() }));
                continue;
            }
            (step, Some((_, turn))) => (step, turn),
            (_, None) => return Err(Wrong::new(at, "the first step is not the user's", "begin with a `user` step")),
        };
        match user {
            Step::User(_) => {}
            Step::Agent { say, when: None } => {
                turn.replies.push(ScriptedReply { line: Line::Always(say), answer: None })
            }
            Step::Agent { say, when: Some(when) } => match half.take() {
                None => half = Some((at, when, say)),
                Some((from, other, _)) if other == when => return Err(one_sided(from)),
                Some((_, _, first)) => {
                    let (approved, denied) = if when == When::Denied { (first, say) } else { (say, first) };
                    turn.replies.push(ScriptedReply { line: Line::Either { approved, denied }, answer: None });
                }
            },
            Step::Person(decision) => {
                let hint = "put one `person` step after the `agent` step whose call they decide";
                let reply = turn.replies.last_mut().filter(|r| r.answer.is_none() && r.line.calls());
                let reply = reply.ok_or_else(|| Wrong::new(at, "nothing here is to be decided", hint))?;
                reply.answer = Some(decision);
            }
        }
    }
    if let Some((from, ..)) = half {
        return Err(one_sided(from));
    }
    turns.into_iter().map(|(at, turn)| whole(at, turn, rehearsal)).collect()
}

fn one_sided(at: Range<usize>) -> Wrong {
    let hint = "give both `if = \"approved\"` and `if = \"denied\"`, one after the other";
    Wrong::new(at, "only one side of an `if`", hint)
}

/// A turn ends when the model has nothing more to call; one that the rehearsal plays has no replies here.
fn whole(at: Range<usize>, turn: ScriptedTurn, rehearsal: Option<&Scenario>) -> Result<ScriptedTurn, Wrong> {
    let rehearsed = rehearsal.is_some_and(|scenario| scenario.is_cued(&turn.user));
    match turn.replies.last() {
        None if rehearsed => Ok(turn),
        Some(_) if rehearsed => {
            Err(Wrong::new(at, "a turn that the rehearsal plays has an `agent` step", "remove it, or change `cues`"))
        }
        None => Err(Wrong::new(at, "nobody answers this turn", "add an `agent` step")),
        Some(reply) if reply.line.calls() => {
            Err(Wrong::new(at, "this turn ends with a call", "add an `agent` step that only says something"))
        }
        Some(_) => Ok(turn),
    }
}

fn scenario(name: &str, spanned: Spanned<RawScenario>) -> Result<Scenario, Wrong> {
    let (at, raw) = (spanned.span(), spanned.into_inner());
    let lives = raw.half_life.is_finite() && raw.half_life > 0.0;
    let wrong = match &raw {
        _ if !(0.0..=1.0).contains(&raw.p0) => Some(("`p0` is no probability", "between 0 and 1")),
        _ if !lives => Some(("`half_life` is no number of tokens", "more than 0")),
        _ if raw.constraint.trim().is_empty() => Some(("`constraint` is empty", "quote the person's words")),
        _ if raw.cues.iter().all(|c| c.trim().is_empty()) => Some(("no cue", "give words of the request in `cues`")),
        _ => None,
    };
    if let Some((what, hint)) = wrong {
        return Err(Wrong::new(at, what, hint));
    }
    let plan = |raw: RawPlan| Plan {
        say: raw.say,
        calls: raw.call.into_iter().map(RawToolCall::call).collect(),
        done: raw.done,
    };
    Ok(Scenario {
        name: name.to_owned(),
        cues: raw.cues.into_iter().filter(|c| !c.trim().is_empty()).collect(),
        constraint: raw.constraint,
        p0: raw.p0,
        half_life: raw.half_life,
        safe: plan(raw.safe),
        risky: plan(raw.risky),
    })
}

impl RawToolCall {
    fn call(self) -> RawCall {
        RawCall::new(&self.tool, Value::Object(self.args))
    }
}

impl Line {
    /// Proposes something, on one side at least.
    fn calls(&self) -> bool {
        match self {
            Line::Always(say) => !say.calls.is_empty(),
            Line::Either { approved, denied } => !approved.calls.is_empty() || !denied.calls.is_empty(),
        }
    }
}
