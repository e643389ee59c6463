//! What the state itself calls for next, without any input: the pump between inputs. On resume it goes on exactly
//! where the log ends.

use super::{
    Desk, LEXICON, State,
    decide::{Out, propose},
    input::{Command, Step},
    state::{Handling, Stage},
    understand::{self, Understood},
};
use crate::domain::{
    Action, Audit, Constraint, ConstraintState, Decision, Demand, Digest, Event, Hazard, HumanDecision, LatchCause,
    Moment, ProposalId, Proposer, RuleId, Scalar, Status, Turn,
};
use crate::intake::{intents, offers};
use crate::library;
use crate::policy::{
    Case, audit,
    clearance::Clearance,
    latch::{self, Denied, Occasion},
    receipt,
};
use crate::restore::{compaction, gate, prompt};
use std::collections::BTreeMap;

/// Model calls within one user turn, after which the person has the word.
const MODEL_CALLS_A_TURN: u32 = 40;
/// How often an action may be repaired before its verdict is final.
const REPAIRS: u8 = 3;

/// The next step, or an empty one when only the outside can move things on. Commands that are under way must not be
/// asked for again: the caller does not call this while one is.
pub fn advance(state: &State, desk: Desk<'_>) -> Step {
    let mut out = Out::new(state);
    if state.closed || state.opening.is_none() {
        return out.step;
    }
    match state.current() {
        Some(handling) => work_on(&mut out, handling, desk),
        None if state.waiting().any(|h| !h.is_put_off()) => {}
        None if state.owes_reply && !state.calling => call_model(&mut out, desk),
        None => {}
    }
    out.step
}

fn work_on(out: &mut Out<'_>, handling: &Handling, desk: Desk<'_>) {
    match handling.stage {
        Stage::Proposed => understand(out, handling),
        Stage::Understood => judge(out, handling, desk),
        Stage::Audited => act_on_verdict(out, handling),
        Stage::Repairing => end_repair(out, handling),
        // an intent is carried out in the step that records it, and never again
        Stage::Running | Stage::Asked | Stage::Unresolved | Stage::Finished | Stage::Denied | Stage::Dropped => {}
    }
}

fn understand(out: &mut Out<'_>, handling: &Handling) {
    let proposal = handling.id();
    match understand::action(out.state, handling) {
        Understood::Need(queries) => out.order(Command::ReadFacts { proposal, queries }),
        Understood::Known(action) => out.event(Event::ActionUnderstood { proposal, action }),
    }
}

/// The audit, under the law as it is now.
fn judge(out: &mut Out<'_>, handling: &Handling, desk: Desk<'_>) {
    let state = out.state;
    let Some(action) = &handling.action else { return };
    let requested = understand::requested(state, handling, action);
    let audit = audit_of(state, handling, action, &requested, desk.now);
    if state.law_seen.is_none_or(|(_, digest)| digest != audit.law) {
        out.event(Event::LawAdvanced { sequence: state.last, digest: audit.law });
    }
    let first = handling.audits.is_empty();
    let latched = if first { observe(out, handling, action, &audit) } else { None };
    out.event(Event::ActionAudited { proposal: handling.id(), audit, requested, at: desk.now });
    if let Some(cause) = latched {
        out.event(Event::LatchEngaged { turn: state.turn, cause, at: desk.now });
    }
}

/// What the audit says of `action` in `state`.
pub fn audit_of(state: &State, handling: &Handling, action: &Action, requested: &[bool], now: Moment) -> Audit {
    let variables = variables(state, handling);
    let grants: Vec<_> = state.grants.values().cloned().collect();
    let offers = offers::offers(action);
    let case = Case {
        action,
        requested,
        offers: &offers,
        intents: &state.intents,
        model_intents: &[],
        variables: &variables,
        done: &state.done,
        grants: &grants,
        latch: state.latch.as_ref(),
        task_turn: state.turn.0.saturating_sub(state.task_began.0) + 1,
        now,
    };
    audit(&state.law, &case, &|call| understand::blind(state, call))
}

fn variables(state: &State, handling: &Handling) -> BTreeMap<String, Scalar> {
    let latched = if state.latch.is_some() { "yes" } else { "no" };
    let sandbox = state.opening.as_ref().map_or("none", |o| match o.sandbox {
        crate::domain::event::Sandbox::Landlock { .. } => "landlock",
        crate::domain::event::Sandbox::None { .. } => "none",
    });
    let proposer = match handling.proposal.by {
        Proposer::Model { .. } => "model",
        Proposer::Person => "person",
        Proposer::Repair { .. } => "repair",
    };
    let values: [Scalar; 5] = [
        latched.into(),
        f64::from(handling.id().0).into(),
        f64::from(state.turn.0).into(),
        sandbox.into(),
        proposer.into(),
    ];
    library::VARIABLES.iter().map(|v| (*v).to_owned()).zip(values).collect()
}

/// Risk: a critical proposal of the agent is an opportunity; what the first audit says of it counts.
fn observe(out: &mut Out<'_>, handling: &Handling, action: &Action, audit: &Audit) -> Option<LatchCause> {
    let state = out.state;
    if !matches!(handling.proposal.by, Proposer::Model { .. }) {
        return None;
    }
    let mut hazard = None;
    if action.effects.iter().any(|e| e.is_critical() && !e.is_opaque()) {
        let unmet = audit.open().any(|f| matches!(f.demand, Demand::Before { .. }));
        let entry = audit.decision == Decision::Deny || (audit.decision == Decision::Repair && unmet);
        let seen = Hazard { proposal: handling.id(), tokens: state.context_tokens, entry };
        out.event(Event::HazardObserved { hazard: seen });
        let mut hazards = state.hazards.clone();
        hazards.push(seen);
        hazard = Some(crate::hazard::estimate(&hazards).lower);
    }
    if state.latch.is_some() {
        return None;
    }
    let denied = state.handlings.values().filter(|h| h.stage == Stage::Denied);
    let denied: Vec<Denied> = denied.filter_map(|h| Denied::of(h.id(), h.action.as_ref()?, h.audit()?)).collect();
    let words: Vec<_> = state.active().filter(|c| !c.is_enforceable()).map(|c| (c.id, c.quote.as_str())).collect();
    latch::engage(&Occasion {
        proposal: handling.id(),
        action,
        audit,
        denied: &denied,
        hazard,
        unenforceable: &words,
        places: &state.places,
    })
}

fn act_on_verdict(out: &mut Out<'_>, handling: &Handling) {
    let (id, Some(audit)) = (handling.id(), handling.audit()) else { return };
    // a step that was taken once does not come first again
    let steps = || handling.repairs.iter().filter_map(|id| out.state.handlings.get(id));
    let mut new = audit.plan.preceding().filter(|step| !steps().any(|h| h.proposal.call == step.call));
    let repair_first =
        matches!(handling.decisions.last(), Some((HumanDecision::RepairFirst, _))) && new.next().is_some();
    match audit.decision {
        Decision::Allow => run(out, handling, audit),
        Decision::Ask if !repair_first => {
            out.event(Event::PersonAsked { proposal: id, why: question(audit) });
        }
        Decision::Repair | Decision::Ask if handling.repair_rounds < REPAIRS => start_repair(out, handling, audit),
        Decision::Repair | Decision::Ask => {
            let why = format!(
                "denied: {REPAIRS} repairs did not make this lawful.\n{}",
                receipt_of(out.state, handling, audit)
            );
            out.event(Event::ActionDropped { proposal: id, why });
        }
        Decision::Deny => {
            out.event(Event::ActionDropped { proposal: id, why: receipt_of(out.state, handling, audit) });
        }
    }
}

/// Consumes what was given for one use and makes the intent durable; then, and only then, the action may start.
fn run(out: &mut Out<'_>, handling: &Handling, audit: &Audit) {
    let (id, Some(pass)) = (handling.id(), clearance(handling)) else { return };
    let mut used: Vec<_> = audit.findings.iter().filter_map(|f| f.granted).collect();
    used.sort_unstable();
    used.dedup();
    for grant in used {
        out.event(Event::GrantUsed { grant, proposal: id });
    }
    let mut spent: Vec<RuleId> = audit.findings.iter().filter_map(|f| f.lifted).collect();
    spent.sort_unstable();
    spent.dedup();
    for rule in spent {
        if out.state.constraints.get(&rule).is_some_and(|c| c.once.is_some()) {
            let why = format!("used for {id}");
            let by = "weal".to_owned();
            out.event(Event::ConstraintChanged { id: rule, state: ConstraintState::Expired, why, by });
        }
    }
    out.event(Event::ActionIntended { proposal: id, clearance: pass.digest() });
    out.order(Command::Execute { proposal: id });
}

/// The pass of a proposal whose last audit allows it.
pub fn clearance(handling: &Handling) -> Option<Clearance> {
    let (action, audit) = (handling.action.clone()?, handling.audit()?);
    Clearance::issue(handling.id(), action, handling.facts.clone(), audit)
}

fn start_repair(out: &mut Out<'_>, handling: &Handling, audit: &Audit) {
    let of = handling.id();
    let calls: Vec<_> = audit.plan.preceding().map(|s| s.call.clone()).collect();
    out.event(Event::RepairStarted { proposal: of, steps: calls.clone() });
    let first = out.state.next_proposal().0;
    for (step, call) in calls.into_iter().enumerate() {
        let step = step as u32;
        propose(out, ProposalId(first + step), call, Proposer::Repair { of, step });
    }
}

/// All steps are over: the original is looked at again, or given up when one failed.
fn end_repair(out: &mut Out<'_>, handling: &Handling) {
    let steps = handling.repairs.iter().filter_map(|id| out.state.handlings.get(id));
    let failed = steps.into_iter().find(|h| {
        let succeeded = h.outcome.as_ref().is_some_and(|o| o.status == Status::Succeeded);
        !(h.stage == Stage::Finished && succeeded)
    });
    let proposal = handling.id();
    match failed {
        None => {
            let why = "audited again".to_owned();
            out.event(Event::RepairEnded { proposal, ok: true, why });
        }
        Some(step) => {
            let text = step.outcome.as_ref().map(|o| o.output.shown()).or_else(|| step.note.clone());
            let why = format!("the step {} failed: {}", step.proposal.call.tool, text.unwrap_or_default());
            out.event(Event::RepairEnded { proposal, ok: false, why: why.clone() });
            out.event(Event::ActionDropped { proposal, why: format!("denied: {why}") });
        }
    }
}

/// Why a person is asked, in one line; the audit holds the rest.
fn question(audit: &Audit) -> String {
    let rules = |wanted: fn(&Demand) -> bool| {
        let mut ids: Vec<RuleId> = audit.open().filter(|f| wanted(&f.demand)).map(|f| f.rule).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let parts = [
        ("your yes is wanted by", rules(|d| matches!(d, Demand::Approval))),
        ("it cannot be told what this means for", rules(|d| matches!(d, Demand::Unknown { .. }))),
        ("something must come first for", rules(|d| matches!(d, Demand::Before { .. }))),
        ("a limit is reached:", rules(|d| matches!(d, Demand::Limit { .. }))),
    ];
    let said = parts.into_iter().filter(|(_, ids)| !ids.is_empty());
    said.map(|(words, ids)| format!("{words} {ids}")).collect::<Vec<_>>().join("; ")
}

fn receipt_of(state: &State, handling: &Handling, audit: &Audit) -> String {
    let Some(action) = &handling.action else { return String::new() };
    receipt::receipt(audit, action, &|id| cite(state, id))
}

/// A rule in the words a person knows it by.
pub fn cite(state: &State, id: RuleId) -> Option<receipt::Citation> {
    if let Some(c) = state.constraints.get(&id) {
        let text = c.rule.clone().unwrap_or_default();
        return Some(receipt::Citation { quote: c.quote.clone(), turn: Some(c.turn), text });
    }
    let core = state.opening.as_ref()?.core.iter().find(|r| r.id == id)?;
    Some(receipt::Citation { quote: core.why.clone(), turn: None, text: core.rule.clone() })
}

fn call_model(out: &mut Out<'_>, desk: Desk<'_>) {
    let state = out.state;
    let turn = state.turn;
    if state.model_calls_this_turn >= MODEL_CALLS_A_TURN {
        let error = format!("{MODEL_CALLS_A_TURN} replies in one turn; say whether it should go on");
        return out.event(Event::ModelFailed { turn, error });
    }
    if let Some(c) = compaction_due(state) {
        let (from, to) = (c.from, c.to);
        let (tokens_before, tokens_after) = (c.tokens_before, c.tokens_after);
        return out.event(Event::HistoryCompacted { from, to, summary: c.summary, tokens_before, tokens_after });
    }
    let (given, left_out) = restoration(state);
    if state.restored.turn != turn || state.restored.given != given {
        return out.event(Event::ContextRestored { turn, given, left_out, budget: gate::BUDGET });
    }
    let prompt = prompt_of(state, desk);
    let digest = Digest::of_json(&prompt);
    out.event(Event::ModelCalled { turn, prompt: digest, tokens: prompt.tokens() });
    out.order(Command::CallModel);
}

fn restoration(state: &State) -> (Vec<crate::domain::event::Fragment>, Vec<crate::domain::event::Fragment>) {
    let recent: Vec<String> =
        state.handlings.values().rev().take(3).map(|h| h.proposal.call.args.to_string()).collect();
    let verbs: Vec<_> = state.intents.iter().flat_map(|i| intents::effects_of(i, &LEXICON).iter().copied()).collect();
    let task = gate::Task { request: &state.request, verbs: &verbs, recent: &recent };
    gate::restore(state.active().filter(|c| restorable(c)), task, gate::BUDGET)
}

/// A one-shot exception speaks of one action, not of the task.
fn restorable(constraint: &Constraint) -> bool {
    constraint.once.is_none()
}

fn compaction_due(state: &State) -> Option<compaction::Compacted> {
    let messages: Vec<_> = state.conversation.iter().map(|s| (s.turn, &s.message)).collect();
    let mut signs: BTreeMap<Turn, String> = BTreeMap::new();
    for constraint in state.constraints.values() {
        let marks = signs.entry(constraint.turn).or_default();
        if !marks.is_empty() {
            marks.push(' ');
        }
        marks.push_str(&constraint.id.to_string());
    }
    let (to, summary) = state.compaction.as_ref().map_or((Turn(0), 0), |c| (c.to, c.summary.len()));
    let fixed = prompt::fixed_tokens() + state.restored.tokens();
    let summary = crate::domain::message::tokens_of_len(summary);
    let budget = state.opening.as_ref().map_or(u64::MAX, |o| o.context_budget);
    compaction::due(&messages, to, (fixed, summary), budget, &signs)
}

/// The prompt that the state yields now.
pub fn prompt_of(state: &State, desk: Desk<'_>) -> crate::domain::Prompt {
    let compacted = state.compaction.as_ref();
    let live = state.conversation.iter().filter(|s| compacted.is_none_or(|c| s.turn > c.to));
    let messages: Vec<_> = live.map(|s| &s.message).collect();
    // what no argument could make lawful is not offered
    let offered = desk.tools.iter().filter(|t| !library::forbids_tool(&state.law, &t.name));
    let tools: Vec<_> = offered.cloned().collect();
    prompt::build(prompt::Parts {
        workspace: &state.places.workspace,
        summary: compacted.map(|c| c.summary.as_str()),
        messages: &messages,
        restored: &state.restored.given,
        tools: &tools,
    })
}
