//! A user turn: its words are recorded, what they ask for and what they forbid is found, and binds at once.

use super::Out;
use crate::domain::{
    Constraint, ConstraintState, Event, Op, RuleId, Scope, Source, Span, Statement, StatementKind, Turn,
};
use crate::intake::{intents, statements};
use crate::library;
use crate::session::{Desk, LEXICON};

/// Below this a statement is a draft that waits for the person's word.
const SURE: f64 = 0.5;

pub(super) fn user_turn(out: &mut Out<'_>, text: &str, pasted: Vec<Span>, desk: Desk<'_>) {
    if text.trim().is_empty() {
        return out.ignore("an empty turn", "there is nothing in it");
    }
    let turn = Turn(out.state.turn.0 + 1);
    let known: Vec<Constraint> = out.state.constraints.values().cloned().collect();
    let found = statements::extract(turn, text, &pasted, &known, &LEXICON);
    out.event(Event::UserSaid { turn, text: text.to_owned(), pasted: pasted.clone() });
    out.event(Event::IntentSet { turn, intents: intents::classify(text, &LEXICON) });
    expire_turn_scoped(out);
    if !found.is_empty() {
        out.event(Event::StatementsFound { turn, statements: found.clone() });
    }
    let mut next = out.state.next_constraint();
    for statement in found {
        let from_paste = pasted.iter().any(|p| p.start < statement.span.end && statement.span.start < p.end);
        let source = if from_paste { Source::Pasted } else { Source::Said };
        take(out, &mut next, statement, source, desk);
    }
    if !out.state.has_model() {
        out.event(Event::ModelFailed { turn, error: NO_MODEL.to_owned() });
    }
}

const NO_MODEL: &str = "no model is configured, so nobody answers this. Set OPENAI_BASE_URL or OPENAI_API_KEY (or `[model]` in the \
                        config file), propose actions yourself with `!command`, or try a demo";

/// Constraints of one turn end with it.
fn expire_turn_scoped(out: &mut Out<'_>) {
    let over = out.state.active().filter(|c| c.scope == Scope::Turn);
    let over: Vec<RuleId> = over.map(|c| c.id).collect();
    for id in over {
        let why = "it was said for one turn only".to_owned();
        out.event(Event::ConstraintChanged { id, state: ConstraintState::Expired, why, by: "weal".to_owned() });
    }
}

/// What a statement does to the constraints in force. What loosens takes effect only where its referent is clear and
/// the words are the person's own and typed; everything else waits as a draft.
fn take(out: &mut Out<'_>, next: &mut u32, statement: Statement, source: Source, desk: Desk<'_>) {
    let sure = statement.confidence >= SURE && source == Source::Said;
    let targets = statement.targets.clone();
    match statement.op {
        Op::Revoke if sure && !targets.is_empty() => {
            let why = format!("turn {}: \"{}\"", statement.turn, statement.quote);
            for id in targets {
                let (state, by) = (ConstraintState::Revoked, "person".to_owned());
                out.event(Event::ConstraintChanged { id, state, why: why.clone(), by });
            }
        }
        Op::Replace if sure && !targets.is_empty() => {
            let new = add(out, next, statement, source, ConstraintState::Active, desk);
            for id in targets {
                let (state, why) = (ConstraintState::Superseded { by: new }, format!("{new} takes its place"));
                out.event(Event::ConstraintChanged { id, state, why, by: "person".to_owned() });
            }
        }
        Op::Revoke | Op::Replace => {
            add(out, next, statement, source, ConstraintState::Proposed, desk);
        }
        Op::Relax => {
            let state = if sure { ConstraintState::Active } else { ConstraintState::Proposed };
            add(out, next, statement, source, state, desk);
        }
        // a restriction binds at once, unless it was only pasted
        Op::Add | Op::Tighten => {
            let draft = source == Source::Pasted || statement.confidence < SURE;
            let state = if draft { ConstraintState::Proposed } else { ConstraintState::Active };
            add(out, next, statement, source, state, desk);
        }
    }
}

fn add(
    out: &mut Out<'_>,
    next: &mut u32,
    statement: Statement,
    source: Source,
    state: ConstraintState,
    desk: Desk<'_>,
) -> RuleId {
    let id = RuleId::said(*next);
    *next += 1;
    let constraint = Constraint::of(id, statement, source, state);
    if constraint.is_active() && !matches!(constraint.kind, StatementKind::Exception | StatementKind::Revocation) {
        revoke_what_it_overlaps(out, &constraint, desk);
    }
    out.event(Event::ConstraintAdded { constraint });
    id
}

/// A later restriction revokes every earlier grant and exception that it overlaps.
fn revoke_what_it_overlaps(out: &mut Out<'_>, restriction: &Constraint, desk: Desk<'_>) {
    let why = format!("{} is stricter and came later", restriction.id);
    let grants = out.state.grants.values().filter(|g| g.is_live(desk.now));
    let grants: Vec<_> =
        grants.filter(|g| library::restricts_grant(restriction, g, &out.state.places)).map(|g| g.id).collect();
    for grant in grants {
        out.event(Event::GrantRevoked { grant, why: why.clone() });
    }
    let exceptions = out.state.active().filter(|c| c.kind == StatementKind::Exception);
    let exceptions: Vec<_> = exceptions
        .filter(|e| library::restricts_exception(restriction, e, &out.state.places))
        .map(|e| e.id)
        .collect();
    for id in exceptions {
        let (state, by) = (ConstraintState::Revoked, "weal".to_owned());
        out.event(Event::ConstraintChanged { id, state, why: why.clone(), by });
    }
}
