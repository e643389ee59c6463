//! What the person says to an action that waits or was stopped. An answer changes the law; the action is then
//! audited again under it. Nothing here overrides a verdict.

use super::{Out, propose};
use crate::domain::{
    Constraint, ConstraintState, Decision, Event, HumanDecision, Outcome, ProposalId, Proposer, RuleId, Scope,
    Source, Span, StatementKind, Status,
};
use crate::policy::grant::{self, Approval};
use crate::session::{Desk, Handling, Stage};

pub(super) fn answer(out: &mut Out<'_>, id: ProposalId, decision: HumanDecision, approver: String, desk: Desk<'_>) {
    let what = format!("{} for {id}", decision.word());
    if approver == "scripted" && !out.state.opening.as_ref().is_some_and(|o| o.scratch) {
        return out.ignore(what, "scripted answers hold only in a scratch workspace");
    }
    let Some(handling) = out.state.handlings.get(&id) else { return out.ignore(what, "there is no such proposal") };
    match (handling.stage, &decision) {
        (Stage::Asked, _) => asked(out, handling, decision, approver, desk),
        (Stage::Unresolved, _) => unresolved(out, handling, decision, approver, desk),
        (Stage::Denied, HumanDecision::ApproveOnce) => except_once(out, handling, decision, approver),
        (stage, _) => out.ignore(what, format!("it is {}", stage.word())),
    }
}

fn decided(out: &mut Out<'_>, id: ProposalId, decision: HumanDecision, approver: &str) {
    out.event(Event::PersonDecided { proposal: id, decision, approver: approver.to_owned() });
}

fn asked(out: &mut Out<'_>, handling: &Handling, decision: HumanDecision, approver: String, desk: Desk<'_>) {
    let id = handling.id();
    let (Some(action), Some(audit)) = (&handling.action, handling.audit()) else {
        return out.ignore(decision.word(), "its audit is not there");
    };
    match &decision {
        HumanDecision::ApproveOnce => {
            let grant = grant::one_shot(action, audit, approval(out, handling, &approver, desk));
            out.event(Event::GrantIssued { grant });
            decided(out, id, decision, &approver);
        }
        HumanDecision::ApproveSession { words } => match handling.session_scope() {
            Some(scope) if scope.words == *words => {
                let grant = scope.grant(approval(out, handling, &approver, desk));
                out.event(Event::GrantIssued { grant });
                decided(out, id, decision, &approver);
            }
            Some(scope) => {
                let why = format!("the scope that was shown is gone; now it would be: {}", scope.words);
                out.ignore("approve_session", why);
            }
            None => out.ignore("approve_session", "this is approved one by one"),
        },
        HumanDecision::Deny { feedback } => {
            let why = refusal(feedback);
            decided(out, id, decision, &approver);
            out.event(Event::ActionDropped { proposal: id, why });
        }
        HumanDecision::Edit { call } => {
            let (call, by) = (call.clone(), edited_by(&handling.proposal.by));
            decided(out, id, decision, &approver);
            out.event(Event::ActionDropped { proposal: id, why: "the person edited it".to_owned() });
            propose(out, out.state.next_proposal(), call, by);
        }
        HumanDecision::RepairFirst if audit.plan.preceding().next().is_none() => {
            let Some(step) = audit.plan.substitutes().next() else {
                return out.ignore("repair_first", "there is no plan that could come first");
            };
            let (call, by) = (step.call.clone(), edited_by(&handling.proposal.by));
            decided(out, id, decision, &approver);
            let why = "the person took what was offered instead".to_owned();
            out.event(Event::ActionDropped { proposal: id, why });
            propose(out, out.state.next_proposal(), call, by);
        }
        HumanDecision::RepairFirst | HumanDecision::AskHuman => decided(out, id, decision, &approver),
    }
}

fn refusal(feedback: &str) -> String {
    match feedback.trim() {
        "" => "denied by the person".to_owned(),
        words => format!("denied by the person: {words}"),
    }
}

/// An edited call answers to the same model call; a repair step that a person rewrote is the person's own.
fn edited_by(by: &Proposer) -> Proposer {
    match by {
        Proposer::Model { call } => Proposer::Model { call: call.clone() },
        Proposer::Person | Proposer::Repair { .. } => Proposer::Person,
    }
}

fn approval<'a>(out: &Out<'_>, handling: &Handling, approver: &'a str, desk: Desk<'_>) -> Approval<'a> {
    Approval { id: out.state.next_grant(), turn: handling.proposal.turn, given: desk.now, approver }
}

/// `approve_once` on a denied action: an exception for this very action from each rule that stopped it, and the
/// action again. A hard rule is not lifted.
fn except_once(out: &mut Out<'_>, handling: &Handling, decision: HumanDecision, approver: String) {
    let id = handling.id();
    let (Some(action), Some(audit)) = (&handling.action, handling.audit()) else {
        return out.ignore("approve_once", "its audit is not there");
    };
    if audit.decision != Decision::Deny {
        return out.ignore("approve_once", "the person said no to it; propose it again");
    }
    let Some(rules) = grant::one_shot_exceptions(action, audit, &out.state.law) else {
        return out.ignore("approve_once", "a hard rule stands against it, and that is lifted by nothing");
    };
    decided(out, id, decision, &approver);
    for (n, relaxation) in (out.state.next_constraint()..).zip(rules) {
        out.event(Event::ConstraintAdded {
            constraint: Constraint {
                id: RuleId::said(n),
                kind: StatementKind::Exception,
                quote: format!("approve_once for {id} against {}", relaxation.relaxes),
                turn: out.state.turn,
                span: Span::default(),
                source: Source::Decided,
                scope: Scope::Session,
                rule: Some(relaxation.rule.to_string()),
                note: None,
                confidence: 1.0,
                state: ConstraintState::Active,
                expires: None,
                once: Some(relaxation.once),
            },
        });
    }
    propose(out, out.state.next_proposal(), handling.proposal.call.clone(), Proposer::Person);
}

/// What may have happened is run again only when the person says so, and then as a new proposal.
fn unresolved(out: &mut Out<'_>, handling: &Handling, decision: HumanDecision, approver: String, desk: Desk<'_>) {
    let id = handling.id();
    let again = matches!(decision, HumanDecision::ApproveOnce);
    if !again && !matches!(decision, HumanDecision::Deny { .. }) {
        return out.ignore(decision.word(), "say approve_once to run it again, deny to leave it");
    }
    decided(out, id, decision, &approver);
    let text = "weal ended while this ran; nobody knows whether it happened. Look before you do it again.";
    let outcome = Outcome::plain(Status::Unknown, text, 0);
    out.event(Event::ActionFinished { proposal: id, outcome, at: desk.now });
    if again {
        propose(out, out.state.next_proposal(), handling.proposal.call.clone(), Proposer::Person);
    }
}
