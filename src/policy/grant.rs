//! What a person's yes leaves behind, and what it answers.
//!
//! A grant discharges a required approval, a doubt and the latch's question; it lifts no prohibition, limit or
//! prerequisite. Two sorts: *one-shot*, bound to the digests of action and law, answers whatever was asked of that
//! action; *session*, with a scope the person saw in words, answers approvals only, and never for what cannot be
//! had back. What an opaque program does is covered by a grant for that program and its content, or one-shot.

use super::{
    audit::Trial,
    lang::ast::{Consequence, Guard, Predicate, Rule, VerbClass},
    law::Law,
    pattern::{Pattern, surely_within},
};
use crate::domain::{
    Action, Audit, Decision, Demand, Digest, Effect, Extent, Grant, GrantId, Kind, Moment, Places, Program, Resource,
    Reversibility, RuleId, Scalar, Turn, Until, Verb,
};
use std::collections::BTreeSet;

/// The grant that answers an open question; a lasting one before a one-shot one, which would be used up.
pub(super) fn discharging(trial: &Trial<'_>, finding: &crate::domain::Finding) -> Option<GrantId> {
    let is_question = finding.level == Decision::Ask;
    let is_doubt = match finding.demand {
        Demand::Approval => false,
        Demand::Unknown { .. } => true,
        Demand::Forbidden | Demand::Limit { .. } | Demand::Before { .. } => return None,
    };
    let effect = trial.case.action.effects.get(finding.effect).filter(|_| is_question)?;
    let live = trial.case.grants.iter().filter(|g| g.is_live(trial.case.now));
    live.filter(|g| answers(trial, g, effect, is_doubt)).min_by_key(|g| (is_one_shot(g), g.id)).map(|g| g.id)
}

fn is_one_shot(grant: &Grant) -> bool {
    grant.action.is_some() || grant.until == Until::Once
}

fn answers(trial: &Trial<'_>, grant: &Grant, effect: &Effect, is_doubt: bool) -> bool {
    let places = trial.law.places();
    let within = |r: &Resource| surely_within(&effect.resource, r, places);
    if !grant.verbs.contains(&effect.verb) || !grant.resources.iter().any(within) {
        return false;
    }
    let latch = trial.case.latch.filter(|_| effect.is_critical());
    if is_one_shot(grant) {
        let same = grant.action == Some(trial.digest) && grant.law == Some(trial.law.digest());
        return same && latch.is_none_or(|latch| grant.given.millis >= latch.at.millis);
    }
    if latch.is_some() {
        return false;
    }
    match &grant.program {
        Some(program) => effect.is_opaque() && runs(trial, program, effect),
        None => !is_doubt && may_last(effect),
    }
}

/// The opaque effect is this program, with this content, and nothing else.
fn runs(trial: &Trial<'_>, program: &Program, effect: &Effect) -> bool {
    let action = trial.case.action;
    if program.digest.is_none() || !action.programs.contains(program) {
        return false;
    }
    if effect.resource.kind == Kind::Program && effect.resource.name().is_some() {
        return effect.resource.name() == Some(&program.path);
    }
    let granted = |p: &Program| {
        let live = trial.case.grants.iter().filter(|g| !is_one_shot(g) && g.is_live(trial.case.now));
        p.digest.is_some() && live.into_iter().any(|g| g.program.as_ref() == Some(p))
    };
    action.effects.iter().filter(|e| e.is_opaque()).count() == 1 && action.programs.iter().all(granted)
}

/// Whether a yes for the whole session may be offered for such an effect, and hold.
fn may_last(effect: &Effect) -> bool {
    match effect.verb {
        _ if effect.is_opaque() => false,
        Verb::Send | Verb::Pay | Verb::Escalate | Verb::Unknown => false,
        Verb::Delete => effect.reversibility != Reversibility::Irreversible,
        Verb::Publish => {
            let forced = effect.attributes.get("force") == Some(&Scalar::Bool(true));
            !forced && !effect.labels.iter().any(|l| l == "protected" || l == "production")
        }
        Verb::Read
        | Verb::List
        | Verb::Create
        | Verb::Modify
        | Verb::Overwrite
        | Verb::Move
        | Verb::Copy
        | Verb::Backup
        | Verb::Execute
        | Verb::Install
        | Verb::Grant
        | Verb::Request
        | Verb::Schedule
        | Verb::Cancel
        | Verb::Set => true,
    }
}

/// Who said yes, when, under which name it is kept.
#[derive(Debug, Clone, Copy)]
pub struct Approval<'a> {
    pub id: GrantId,
    pub turn: Turn,
    pub given: Moment,
    /// `person`, or `scripted` in a scratch workspace.
    pub approver: &'a str,
}

impl Approval<'_> {
    fn grant(self, scope: SessionScope, until: Until) -> Grant {
        Grant {
            id: self.id,
            verbs: scope.verbs,
            resources: scope.resources,
            action: None,
            law: None,
            program: scope.program,
            until,
            turn: self.turn,
            given: self.given,
            words: scope.words,
            approver: self.approver.to_owned(),
            used: 0,
            revoked: false,
        }
    }
}

/// The grant of `approve_once`: for exactly this action, under exactly the law it was audited by.
pub fn one_shot(action: &Action, audit: &Audit, approval: Approval<'_>) -> Grant {
    let shown: Vec<String> = action.effects.iter().take(4).map(Effect::to_string).collect();
    let more = action.effects.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let scope = SessionScope {
        verbs: distinct(action.effects.iter().map(|e| e.verb)),
        resources: distinct(action.effects.iter().map(|e| e.resource.clone())),
        program: None,
        words: format!("once: {}{more}", shown.join(", ")),
    };
    let bound = Grant { action: Some(audit.action), law: Some(audit.law), ..approval.grant(scope, Until::Once) };
    debug_assert_eq!(bound.action, Some(action.digest()));
    bound
}

/// What `approve_session` would cover, before anybody says yes to it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionScope {
    pub verbs: Vec<Verb>,
    pub resources: Vec<Resource>,
    pub program: Option<Program>,
    /// As the person reads it: `reading and listing anything under src/`.
    pub words: String,
}

impl SessionScope {
    pub fn grant(self, approval: Approval<'_>) -> Grant {
        approval.grant(self, Until::Session)
    }
}

/// The scope to offer for the questions of `audit`, or `None` where only single answers are right: what cannot be
/// had back, more than one sort of effect at once, questions that no lasting grant answers.
pub fn session_scope(action: &Action, audit: &Audit, latched: bool) -> Option<SessionScope> {
    if audit.decision != Decision::Ask {
        return None;
    }
    let open = || audit.open().filter(|f| f.level == Decision::Ask);
    let asked: BTreeSet<usize> = open().map(|f| f.effect).collect();
    let effects: Vec<&Effect> = asked.iter().filter_map(|at| action.effects.get(*at)).collect();
    if latched && effects.iter().any(|e| e.is_critical()) {
        return None;
    }
    if effects.iter().all(|e| e.is_opaque()) {
        return program_scope(action, &effects);
    }
    if !open().all(|f| f.demand == Demand::Approval) || !effects.iter().all(|e| may_last(e)) {
        return None;
    }
    let verbs = family(&effects)?;
    let resources = distinct(effects.iter().map(|e| widened(e)));
    let doing: Vec<&str> = verbs.iter().map(|v| doing(*v)).collect();
    let words = format!("{} {}", listed(&doing), listed(&resources.iter().map(in_words).collect::<Vec<_>>()));
    Some(SessionScope { verbs, resources, program: None, words })
}

fn program_scope(action: &Action, effects: &[&Effect]) -> Option<SessionScope> {
    let [program] = action.programs.as_slice() else { return None };
    let digest = program.digest?;
    if effects.len() > 1 && !effects.iter().all(|e| e.resource.name() == Some(&program.path)) {
        return None;
    }
    Some(SessionScope {
        verbs: distinct(effects.iter().map(|e| e.verb)),
        resources: distinct(effects.iter().map(|e| e.resource.clone())),
        words: format!("running {} with exactly its present content ({})", program.path, digest.short()),
        program: Some(program.clone()),
    })
}

/// The verbs that go together with those asked about, if they are of one sort: a grant covers every one of its verbs
/// on every one of its resources.
fn family(effects: &[&Effect]) -> Option<Vec<Verb>> {
    const LOOK: &[Verb] = &[Verb::Read, Verb::List];
    const EDIT: &[Verb] = &[Verb::Create, Verb::Modify];
    const WRITE: &[Verb] = &[Verb::Create, Verb::Modify, Verb::Overwrite];
    let all = |family: &[Verb]| effects.iter().all(|e| family.contains(&e.verb));
    let one = effects.first()?.verb;
    [LOOK, EDIT, WRITE].into_iter().find(|f| all(f)).map(<[Verb]>::to_vec).or_else(|| all(&[one]).then(|| vec![one]))
}

/// A yes for a file is a yes for its directory, when looking and editing inside the workspace and nothing marks the
/// file as special. Anything else is covered as it stands.
fn widened(effect: &Effect) -> Resource {
    let tame = matches!(effect.verb, Verb::Read | Verb::List | Verb::Create | Verb::Modify | Verb::Overwrite)
        && effect.resource.kind == Kind::Path
        && effect.labels.is_empty();
    match &effect.resource.extent {
        Extent::One(name) if tame && !name.starts_with(['/', '~', '.']) => match name.rsplit_once('/') {
            Some((parent, _)) => Resource::subtree(parent),
            None => effect.resource.clone(),
        },
        Extent::One(_) | Extent::Subtree(_) | Extent::Glob(_) | Extent::Any => effect.resource.clone(),
    }
}

fn in_words(resource: &Resource) -> String {
    match &resource.extent {
        Extent::Subtree(name) if resource.kind == Kind::Path => format!("anything under {name}/"),
        Extent::Any => format!("any {}", resource.kind),
        Extent::One(_) | Extent::Subtree(_) | Extent::Glob(_) => resource.to_string(),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}

const fn doing(verb: Verb) -> &'static str {
    match verb {
        Verb::Read => "reading",
        Verb::List => "listing",
        Verb::Create => "creating",
        Verb::Modify => "modifying",
        Verb::Overwrite => "overwriting",
        Verb::Delete => "deleting",
        Verb::Move => "moving",
        Verb::Copy => "copying",
        Verb::Backup => "backing up",
        Verb::Execute => "running",
        Verb::Install => "installing",
        Verb::Grant => "changing the rights of",
        Verb::Send => "sending to",
        Verb::Publish => "publishing to",
        Verb::Request => "requests to",
        Verb::Pay => "paying",
        Verb::Schedule => "scheduling",
        Verb::Cancel => "cancelling",
        Verb::Set => "setting",
        Verb::Escalate => "raising the rights of",
        Verb::Unknown => "doing anything with",
    }
}

/// A rule that an `approve_once` on a denied action makes: it relaxes one rule, for this one action.
#[derive(Debug, Clone, PartialEq)]
pub struct Relaxation {
    pub relaxes: RuleId,
    pub rule: Rule,
    pub once: Digest,
}

/// One relaxation for each rule that denies the action, no wider than what it denied; `None` when one of them is
/// hard and so nothing can be done.
pub fn one_shot_exceptions(action: &Action, audit: &Audit, law: &Law) -> Option<Vec<Relaxation>> {
    let denied = || audit.open().filter(|f| f.level == Decision::Deny);
    let rules: BTreeSet<RuleId> = denied().map(|f| f.rule).collect();
    let relaxed = rules.into_iter().map(|relaxes| {
        let effects = denied().filter(|f| f.rule == relaxes).filter_map(|f| action.effects.get(f.effect));
        let guard = Guard::any_of(distinct(effects.map(|e| exactly(e, law.places()))));
        let rule = Rule { guard, then: Consequence::Except(relaxes) };
        (!law.is_hard(relaxes)).then_some(Relaxation { relaxes, rule, once: audit.action })
    });
    relaxed.collect()
}

/// A guard that provably holds for this effect. Where nothing can be proved of its operand (it is opaque, not
/// resolved, or no canonical name) the digest alone binds.
fn exactly(effect: &Effect, places: &Places) -> Guard {
    if effect.is_opaque() {
        return Guard::Is(Predicate::EffectIs(VerbClass::One(Verb::Unknown)));
    }
    let verb = Guard::Is(Predicate::EffectIs(VerbClass::One(effect.verb)));
    let text = effect.resource.to_string();
    match Pattern::compile(&text, places) {
        Ok(pattern) if pattern.holds(&effect.resource, places) => {
            Guard::All(vec![verb, Guard::Is(Predicate::ResourceIn(text))])
        }
        Ok(_) | Err(_) => verb,
    }
}
