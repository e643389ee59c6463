//! A unit to drafts of statements: which demand is it, on what, under which conditions.

use super::{
    build::{Cond, Then, rule},
    groups::{Group, Reach, groups, groups_of_any_form, resolved},
    items::{Item, Object, Placed},
    lexicon::{Cue, Form, Lexicon},
    units::{Tail, Unit},
};
use crate::domain::{Op, RuleId, Scope, StatementKind};

/// A statement without its place in the turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    pub kind: StatementKind,
    pub op: Op,
    /// The rule, or why there is none.
    pub rule: Result<String, String>,
    pub confidence: f64,
    pub targets: Vec<RuleId>,
    pub note: Option<String>,
    /// Where the sort of statement says how long it holds.
    pub scope: Option<Scope>,
    /// Guard and consequence of the rule, for an exception that follows in the same turn.
    pub parts: Option<(Vec<Cond>, Then)>,
}

impl Draft {
    pub(crate) fn new(kind: StatementKind, op: Op, rule: Result<String, String>, confidence: f64) -> Draft {
        Draft { kind, op, rule, confidence, targets: Vec::new(), note: None, scope: None, parts: None }
    }

    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Draft {
        self.note = Some(note.into());
        self
    }
}

/// What a unit demands, before objects and conditions are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    Forbid,
    Approve,
}

pub(crate) struct Reader<'a> {
    pub lexicon: &'a Lexicon,
    /// What `it` and `them` speak of.
    pub antecedent: Vec<Vec<Object>>,
    /// What the demand before it in the same sentence was about.
    pub before: Vec<Vec<Object>>,
    pub tokens: &'a [super::text::Token],
}

impl Reader<'_> {
    /// Restrictions in one unit. Permissions, revocations and updates are read in `referents`.
    pub(crate) fn read(&self, unit: &Unit) -> Vec<Draft> {
        let conditional = unit.tail(&[Cue::OnlyAfter]);
        if let Some(only) = conditional.or_else(|| unit.tail(&[Cue::After, Cue::If]).filter(|_| unit.has(Cue::Only)))
        {
            return self.only_after(unit, only);
        }
        let yes = unit.core.iter().any(|p| p.is_cue(Cue::Say) || p.is_cue(Cue::Ask));
        if unit.has(Cue::Only) && (yes || unit.has(Cue::Requested)) {
            return self.approval(unit);
        }
        if unit.has(Cue::StayIn) || unit.has(Cue::ReadOnly) || unit.has(Cue::Only) && !unit.has(Cue::Ban) {
            return self.scope(unit);
        }
        let shown = unit.has(Cue::Show) && (unit.has(Cue::First) || unit.tail(&[Cue::Before]).is_some());
        if unit.has(Cue::Ask) || shown {
            return self.approval(unit);
        }
        if self.bans(unit) {
            return self.ban(unit);
        }
        self.prerequisite(unit)
    }

    /// The unit forbids something.
    pub(super) fn bans(&self, unit: &Unit) -> bool {
        let left = unit.has(Cue::Leave) && unit.has(Cue::Alone);
        let cues = [Cue::BanThing, Cue::KeepOut, Cue::OffLimits, Cue::Banned, Cue::StaysHere];
        let passive = || unit.core.iter().any(|p| matches!(p.item, Item::Act { passive: true, .. }));
        let ensured = unit.has(Cue::Ensure) && unit.has(Cue::DoesNot) && passive();
        left || ensured || cues.iter().any(|c| unit.has(*c)) || unit.has(Cue::Ban) && !self.is_told(unit)
    }

    /// `I never push on Fridays` tells of the person, `it never works` of a thing.
    pub(super) fn is_told(&self, unit: &Unit) -> bool {
        let Some(at) = unit.core.iter().position(|p| p.is_cue(Cue::Ban)) else { return false };
        let Some(cue) = unit.core.get(at) else { return false };
        let before = cue.from.checked_sub(1).and_then(|i| self.tokens.get(i)).map(|t| t.norm.as_str());
        let next_passive = unit.core.iter().skip(at).any(|p| matches!(p.item, Item::Act { passive: true, .. }));
        let is_act = |p: &Placed| matches!(p.item, Item::Act { .. });
        let (earlier, later) = unit.core.split_at(at);
        if earlier.iter().any(is_act) && !later.iter().any(is_act) {
            return true;
        }
        before.is_some_and(|w| self.lexicon.is("subjects", w)) && !next_passive
    }

    pub(super) fn groups_of(&self, items: &[Placed]) -> Vec<Group> {
        resolved(groups(items), &self.antecedent)
    }

    /// Groups in the core; where it names no acts or no things, those of the topic.
    pub(super) fn governed(&self, unit: &Unit) -> Vec<Group> {
        let mut found = self.groups_of(&unit.core);
        let topic = self.groups_of(&unit.topic);
        if found.is_empty() {
            return topic;
        }
        for group in &mut found {
            if group.acts.is_empty() {
                group.acts = topic.iter().flat_map(|t| t.acts.clone()).collect();
            }
            if !group.has_things()
                && let Some(with) = topic.iter().find(|t| t.is_concrete())
            {
                group.lists.clone_from(&with.lists);
            }
            // a ban in its own words, then what it bans, one by one
            let verbless = unit
                .core
                .iter()
                .all(|p| !matches!(p.item, Item::Act { form: Form::Base, .. } | Item::Act { passive: true, .. }));
            if group.lists.is_empty() && verbless {
                group.lists.clone_from(&self.before);
            }
        }
        found
    }

    pub(super) fn ban(&self, unit: &Unit) -> Vec<Draft> {
        let whole = [Cue::BanThing, Cue::KeepOut, Cue::OffLimits, Cue::Banned, Cue::Alone, Cue::StaysHere]
            .iter()
            .any(|c| unit.has(*c));
        let mut governed: Vec<Group> = self.governed(unit).into_iter().flat_map(|g| g.split(self.lexicon)).collect();
        let mails = |g: &Group| g.lists.iter().flatten().any(|o| matches!(o, Object::Kind(kind) if kind == "mail"));
        governed.retain(|g| !g.acts.is_empty() || (whole || g.outside || mails(g)) && g.has_things());
        governed.retain(|g| !g.is_style() && (!g.is_strict(self.lexicon) || g.has_things()));
        let out: Vec<Draft> = governed.iter().flat_map(|group| self.forbid(unit, group)).collect();
        if out.is_empty()
            && unit.tail(&[Cue::Before, Cue::Until, Cue::Without, Cue::Unless]).is_some_and(|t| self.says_yes(t))
        {
            return self.approve_all(unit);
        }
        if out.is_empty() && self.is_for_you(unit) {
            let why = "what this forbids cannot be told from what is done (say which action, on what)";
            return vec![Draft::new(StatementKind::Prohibition, Op::Add, Err(why.into()), 0.6)];
        }
        out
    }

    /// `you must not …`: said to the one who acts, and no matter of style. What cannot be read must not get lost.
    fn is_for_you(&self, unit: &Unit) -> bool {
        let Some(ban) = unit.core.iter().find(|p| p.is_cue(Cue::Ban)) else { return false };
        let here = ban.from.saturating_sub(1)..ban.to;
        let you = self.tokens.get(here).is_some_and(|all| all.iter().any(|t| t.norm == "you"));
        let style = |p: &Placed| matches!(p.item, Item::Object(Object::Style)) || p.is_cue(Cue::Idle);
        let manners = self.tokens.get(ban.to).is_some_and(|t| self.lexicon.is("manners", &t.norm));
        you && !manners && !unit.core.iter().any(style) && unit.core.last().is_some_and(|last| last.to > ban.to)
    }

    /// One forbidden group, under what hangs on the demand.
    pub(super) fn forbid(&self, unit: &Unit, group: &Group) -> Vec<Draft> {
        for tail in &unit.tails {
            match tail.joint {
                Cue::Without | Cue::Unless | Cue::Until | Cue::Before if self.says_yes(tail) => {
                    return self.demand(Demand::Approve, unit, group, None);
                }
                Cue::Unless if self.on_request(tail) => {
                    return self.demand(Demand::Approve, unit, group, Some(Cond::Requested.not()));
                }
                Cue::Until if self.on_request(tail) => return vec![self.temporal(unit, group, tail)],
                Cue::Without | Cue::Unless | Cue::Until | Cue::Before => {
                    let required = self.required(tail);
                    match required {
                        Some(required) => return vec![self.require(unit, group, &required)],
                        None if tail.joint == Cue::Until => return vec![self.temporal(unit, group, tail)],
                        None => return vec![self.conditional(unit, group, tail)],
                    }
                }
                Cue::While => return vec![self.temporal(unit, group, tail)],
                Cue::If | Cue::After => return vec![self.conditional(unit, group, tail)],
                _ => {}
            }
        }
        let requested = unit.has(Cue::Requested).then(|| Cond::Requested.not());
        if unit.has(Cue::Recurring) {
            return vec![self.asks_instead(StatementKind::Temporal, unit, group, "the time is not known here")];
        }
        if unit.has(Cue::ForNow) {
            return vec![self.held(unit, group, "for a time that was said")];
        }
        self.demand(Demand::Forbid, unit, group, requested)
    }

    /// The rule or rules that forbid a group or want approval for it.
    pub(super) fn demand(&self, demand: Demand, unit: &Unit, group: &Group, extra: Option<Cond>) -> Vec<Draft> {
        let kind = match demand {
            Demand::Forbid => StatementKind::Prohibition,
            Demand::Approve => StatementKind::Approval,
        };
        let mail = group.lists.iter().flatten().any(|o| matches!(o, Object::Kind(kind) if kind == "mail"));
        let else_verb = match demand {
            _ if mail => "send",
            Demand::Forbid if unit.has(Cue::StaysHere) => "send|publish|request",
            Demand::Forbid => "write",
            Demand::Approve => "any",
        };
        let mut reach = match group.reach(self.lexicon, else_verb) {
            Ok(reach) => reach,
            Err(why) => return vec![Draft::new(kind, Op::Add, Err(why), 0.6)],
        };
        if unit.has(Cue::KeepOut) && group.acts.is_empty() {
            reach.verbs.push("read".to_owned());
        }
        reach.guard.extend(extra);
        let excepted = self.excepted(unit, &mut reach);
        let hedged = unit.all().any(|p| p.is_cue(Cue::Hedge));
        let mut drafts: Vec<Draft> = match demand {
            Demand::Forbid if !hedged && !reach.shared => {
                forbid_rules(&reach).into_iter().map(|(g, t)| draft(kind, g, t)).collect()
            }
            Demand::Forbid | Demand::Approve => vec![draft(kind, effects(&reach), Then::Approval)],
        };
        for draft in &mut drafts {
            if let Err(why) = &excepted {
                draft.note = Some(why.clone());
                draft.confidence = 0.7;
            } else if let Some(words) = &reach.dropped {
                let asks = if reach.shared { ": asks instead" } else { "" };
                draft.note = Some(format!("taken wider than said: `{words}` cannot be checked{asks}"));
                draft.confidence = 0.7;
            } else if hedged {
                draft.note = Some("said with a hedge: asks instead of forbidding".to_owned());
                draft.confidence = 0.7;
            }
        }
        drafts
    }

    /// Narrows by the exceptions in the same sentence. One that cannot be told is left out: the rule stays wider.
    pub(super) fn excepted(&self, unit: &Unit, reach: &mut Reach) -> Result<(), String> {
        let mut result = Ok(());
        for tail in unit.tails.iter().filter(|t| t.joint == Cue::Except) {
            if self.says_yes(tail) || self.on_request(tail) {
                reach.guard.push(Cond::Requested.not());
                continue;
            }
            let mut all = Vec::new();
            for group in self.groups_of(&tail.items) {
                match group.reach(self.lexicon, "any") {
                    Ok(except) => {
                        let verbs = if group.acts.is_empty() { Vec::new() } else { verb_conds(&except.verbs) };
                        all.extend(Cond::all(verbs.into_iter().chain(except.guard).collect()));
                    }
                    Err(why) => result = Err(format!("the exception is not applied: {why}")),
                }
            }
            reach.guard.extend(Cond::any(all).map(Cond::not));
        }
        result
    }

    /// A restriction that holds for a time: in force at once, until it is lifted.
    pub(super) fn temporal(&self, unit: &Unit, group: &Group, tail: &Tail) -> Draft {
        let joint = if tail.joint == Cue::While { "while" } else { "until" };
        self.held(unit, group, &format!("{joint} {}", self.words(&tail.items)))
    }

    pub(super) fn held(&self, unit: &Unit, group: &Group, time: &str) -> Draft {
        let drafts = self.demand(Demand::Forbid, unit, group, None);
        let mut draft = drafts.into_iter().next().unwrap_or_else(|| {
            Draft::new(StatementKind::Temporal, Op::Add, Err("nothing that can be checked".into()), 0.6)
        });
        draft.kind = StatementKind::Temporal;
        draft.with_note(format!("said to hold {time}; in force until it is lifted"))
    }

    /// `never push if the tests fail`: what hangs on it cannot be checked. The acts may stand in the clause.
    pub(super) fn conditional(&self, unit: &Unit, group: &Group, tail: &Tail) -> Draft {
        let acts = groups_of_any_form(&tail.items).iter().any(|g| !g.acts.is_empty());
        if acts
            && group.is_concrete()
            && matches!(tail.joint, Cue::If | Cue::After)
            && let Some(draft) = self.demand(Demand::Forbid, unit, group, None).into_iter().next()
        {
            let words = self.words(&tail.items);
            return draft.with_note(format!("taken wider than said: whether `{words}` holds is not checked"));
        }
        let within = self.groups_of(&tail.items).into_iter().find(|g| !g.acts.is_empty() && group.acts.is_empty());
        let kind = match tail.joint {
            Cue::Without | Cue::Before => StatementKind::Prerequisite,
            _ => StatementKind::Prohibition,
        };
        let why = format!("whether `{}` holds cannot be checked", self.words(&tail.items));
        self.asks_instead(kind, unit, &within.unwrap_or_else(|| group.clone()), &why)
    }

    /// A demand under a condition that cannot be checked asks: what is unknown neither allows nor denies.
    pub(super) fn asks_instead(&self, kind: StatementKind, unit: &Unit, group: &Group, why: &str) -> Draft {
        let mut drafts = self.demand(Demand::Approve, unit, group, None).into_iter();
        let Some(mut draft) = drafts.next() else { return Draft::new(kind, Op::Add, Err(why.to_owned()), 0.6) };
        draft.kind = kind;
        if draft.rule.is_ok() {
            draft.confidence = draft.confidence.min(0.7);
            draft.note = Some(format!("{why}: asks instead"));
        }
        draft
    }

    /// The clause speaks of the person's yes.
    pub(crate) fn says_yes(&self, tail: &Tail) -> bool {
        tail.items.iter().any(|p| p.is_cue(Cue::Say) || p.is_cue(Cue::Ask))
    }

    pub(super) fn on_request(&self, tail: &Tail) -> bool {
        tail.items.iter().any(|p| p.is_cue(Cue::Requested))
    }

    pub(super) fn words(&self, items: &[Placed]) -> String {
        let tokens = items.first().zip(items.last()).and_then(|(a, b)| self.tokens.get(a.from..b.to));
        let words: Vec<&str> = tokens.unwrap_or_default().iter().map(|t| t.norm.as_str()).collect();
        words.join(" ")
    }
}

pub(crate) fn draft(kind: StatementKind, guard: Vec<Cond>, then: Then) -> Draft {
    let mut draft = Draft::new(kind, Op::Add, Ok(rule(guard.clone(), &then)), 0.9);
    draft.parts = Some((guard, then));
    draft
}

pub(crate) fn verb_conds(verbs: &[String]) -> Vec<Cond> {
    let conds = verbs.iter().map(|v| Cond::Effect(v.clone())).collect();
    Cond::any(conds).into_iter().collect()
}

/// Verbs as conditions, then the rest.
pub(crate) fn effects(reach: &Reach) -> Vec<Cond> {
    verb_conds(&reach.verbs).into_iter().chain(reach.guard.iter().cloned()).collect()
}

/// One verb is its own consequence; several stand in the guard. Reading is no part of the class `any`.
fn forbid_rules(reach: &Reach) -> Vec<(Vec<Cond>, Then)> {
    let (reads, rest): (Vec<String>, Vec<String>) = reach.verbs.iter().cloned().partition(|v| v == "read");
    let single = |verb: &String| (reach.guard.clone(), Then::Forbid(verb.clone()));
    let mut out: Vec<(Vec<Cond>, Then)> = match rest.as_slice() {
        [] => Vec::new(),
        [verb] => vec![single(verb)],
        _ => vec![(
            verb_conds(&rest).into_iter().chain(reach.guard.iter().cloned()).collect(),
            Then::Forbid("any".into()),
        )],
    };
    out.extend(reads.iter().map(single));
    out
}
