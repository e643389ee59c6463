//! A unit to drafts of statements: which demand is it, on what, under which conditions.

use super::{
    build::{Cond, Then, rule},
    groups::{Group, Reach, groups, resolved},
    items::{Item, Object, Placed},
    lexicon::{Cue, Form, Lexicon},
    units::{Tail, Unit},
};
use crate::domain::{Op, RuleId, StatementKind};

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
    /// Guard and consequence of the rule, for an exception that follows in the same turn.
    pub parts: Option<(Vec<Cond>, Then)>,
}

impl Draft {
    pub(crate) fn new(kind: StatementKind, op: Op, rule: Result<String, String>, confidence: f64) -> Draft {
        Draft { kind, op, rule, confidence, targets: Vec::new(), note: None, parts: None }
    }

    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Draft {
        self.note = Some(note.into());
        self
    }
}

/// What a unit demands, before objects and conditions are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Demand {
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
    fn bans(&self, unit: &Unit) -> bool {
        let left = unit.has(Cue::Leave) && unit.has(Cue::Alone);
        let cues = [Cue::BanThing, Cue::KeepOut, Cue::OffLimits, Cue::Banned, Cue::StaysHere];
        left || cues.iter().any(|c| unit.has(*c)) || unit.has(Cue::Ban) && !self.is_told(unit)
    }

    /// `I never push on Fridays` tells of the person, `it never works` of a thing.
    fn is_told(&self, unit: &Unit) -> bool {
        let Some(at) = unit.core.iter().position(|p| p.is_cue(Cue::Ban)) else { return false };
        let Some(cue) = unit.core.get(at) else { return false };
        let before = cue.from.checked_sub(1).and_then(|i| self.tokens.get(i)).map(|t| t.norm.as_str());
        let next_passive = unit.core.iter().skip(at).any(|p| matches!(p.item, Item::Act { passive: true, .. }));
        let is_act = |p: &Placed| matches!(p.item, Item::Act { .. });
        let (earlier, later) = unit.core.split_at(at);
        if earlier.iter().any(is_act) && !later.iter().any(is_act) {
            return true;
        }
        matches!(before, Some("i" | "he" | "she" | "they" | "it" | "that" | "this")) && !next_passive
    }

    fn groups_of(&self, items: &[Placed]) -> Vec<Group> {
        resolved(groups(items), &self.antecedent)
    }

    /// Groups in the core; where it names no acts or no things, those of the topic.
    fn governed(&self, unit: &Unit) -> Vec<Group> {
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
            // `x/ is off limits, no reading, no editing`
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

    fn ban(&self, unit: &Unit) -> Vec<Draft> {
        let whole = [Cue::BanThing, Cue::KeepOut, Cue::OffLimits, Cue::Banned, Cue::Alone, Cue::StaysHere]
            .iter()
            .any(|c| unit.has(*c));
        let mut governed: Vec<Group> = self.governed(unit).into_iter().flat_map(Group::split).collect();
        let mails = |g: &Group| g.lists.iter().flatten().any(|o| matches!(o, Object::Kind(kind) if kind == "mail"));
        governed.retain(|g| !g.acts.is_empty() || (whole || g.outside || mails(g)) && g.has_things());
        governed.retain(|g| !g.is_style() && (!g.is_strict(self.lexicon) || g.has_things()));
        let out: Vec<Draft> = governed.iter().flat_map(|group| self.forbid(unit, group)).collect();
        if out.is_empty()
            && unit.tail(&[Cue::Before, Cue::Until, Cue::Without, Cue::Unless]).is_some_and(|t| self.says_yes(t))
        {
            return self.approve_all(unit);
        }
        out
    }

    /// One forbidden group, under what hangs on the demand.
    fn forbid(&self, unit: &Unit, group: &Group) -> Vec<Draft> {
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
                        None => return vec![self.unclear(unit, group, tail)],
                    }
                }
                Cue::While => return vec![self.temporal(unit, group, tail)],
                Cue::If | Cue::After => return vec![self.conditional(unit, group, tail)],
                _ => {}
            }
        }
        let requested = unit.has(Cue::Requested).then(|| Cond::Requested.not());
        if unit.has(Cue::ForNow) {
            return vec![self.held(unit, group, "for a time that was said")];
        }
        self.demand(Demand::Forbid, unit, group, requested)
    }

    /// The rule or rules that forbid a group or want approval for it.
    fn demand(&self, demand: Demand, unit: &Unit, group: &Group, extra: Option<Cond>) -> Vec<Draft> {
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
            Demand::Forbid if !hedged => forbid_rules(&reach).into_iter().map(|(g, t)| draft(kind, g, t)).collect(),
            Demand::Forbid | Demand::Approve => vec![draft(kind, effects(&reach), Then::Approval)],
        };
        for draft in &mut drafts {
            if let Err(why) = &excepted {
                draft.note = Some(why.clone());
                draft.confidence = 0.7;
            } else if let Some(words) = &reach.dropped {
                draft.note = Some(format!("taken wider than said: `{words}` cannot be checked"));
                draft.confidence = 0.7;
            } else if hedged {
                draft.note = Some("said with a hedge: asks instead of forbidding".to_owned());
                draft.confidence = 0.7;
            }
        }
        drafts
    }

    /// Narrows by the exceptions in the same sentence. One that cannot be told is left out: the rule stays wider.
    fn excepted(&self, unit: &Unit, reach: &mut Reach) -> Result<(), String> {
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
    fn temporal(&self, unit: &Unit, group: &Group, tail: &Tail) -> Draft {
        let joint = if tail.joint == Cue::While { "while" } else { "until" };
        self.held(unit, group, &format!("{joint} {}", self.words(&tail.items)))
    }

    fn held(&self, unit: &Unit, group: &Group, time: &str) -> Draft {
        let drafts = self.demand(Demand::Forbid, unit, group, None);
        let mut draft = drafts.into_iter().next().unwrap_or_else(|| {
            Draft::new(StatementKind::Temporal, Op::Add, Err("nothing that can be checked".into()), 0.6)
        });
        draft.kind = StatementKind::Temporal;
        draft.with_note(format!("said to hold {time}; in force until it is lifted"))
    }

    /// `never push if the tests fail`: the condition cannot be checked, so there is no rule.
    fn conditional(&self, unit: &Unit, group: &Group, tail: &Tail) -> Draft {
        let words = self.words(&tail.items);
        let acts = self.groups_of(&tail.items).into_iter().any(|g| !g.acts.is_empty());
        if acts && group.acts.is_empty() {
            let drafts =
                self.groups_of(&tail.items).into_iter().flat_map(|g| self.demand(Demand::Forbid, unit, &g, None));
            if let Some(draft) = drafts.into_iter().next() {
                return draft;
            }
        }
        Draft::new(
            StatementKind::Prohibition,
            Op::Add,
            Err(format!("whether `{words}` holds cannot be checked")),
            0.6,
        )
    }

    fn unclear(&self, unit: &Unit, group: &Group, tail: &Tail) -> Draft {
        let words = self.words(&tail.items);
        let kind = if group.acts.is_empty() { StatementKind::Prohibition } else { StatementKind::Prerequisite };
        let kind = if tail.joint == Cue::Unless { StatementKind::Prohibition } else { kind };
        let _ = unit;
        Draft::new(kind, Op::Add, Err(format!("whether `{words}` holds cannot be checked")), 0.6)
    }

    /// Acts that a clause says must have been done.
    fn required(&self, tail: &Tail) -> Option<Vec<Group>> {
        let found: Vec<Group> = groups_of_any_form(&tail.items);
        let found = resolved(found, &self.antecedent);
        (found.iter().any(|g| !g.acts.is_empty())).then_some(found)
    }

    /// `required` must come before what `group` does.
    fn require(&self, unit: &Unit, group: &Group, required: &[Group]) -> Draft {
        let kind = StatementKind::Prerequisite;
        let mut reach = match group.reach(self.lexicon, "write") {
            Ok(reach) => reach,
            Err(why) => return Draft::new(kind, Op::Add, Err(why), 0.6),
        };
        let excepted = self.excepted(unit, &mut reach);
        let Some(first) = required.iter().find(|g| !g.acts.is_empty()) else {
            return Draft::new(kind, Op::Add, Err("what must come first cannot be told".into()), 0.6);
        };
        let step = match first.reach(self.lexicon, "any") {
            Ok(step) => step,
            Err(why) => return Draft::new(kind, Op::Add, Err(why), 0.6),
        };
        let verb = match step.verbs.as_slice() {
            [verb] if !matches!(verb.as_str(), "write" | "any") => verb.clone(),
            _ => {
                return Draft::new(
                    kind,
                    Op::Add,
                    Err("what must come first cannot be told from other actions".into()),
                    0.6,
                );
            }
        };
        let target = match step.guard.as_slice() {
            [Cond::Resource(name)] if !reach.guard.contains(&Cond::Resource(name.clone())) => Some(name.clone()),
            _ => None,
        };
        if verb == "execute" {
            return Draft::new(
                kind,
                Op::Add,
                Err("that something was run cannot be told from other commands".into()),
                0.6,
            );
        }
        let mut made = draft(kind, effects(&reach), Then::Before(verb, target));
        if let Err(why) = excepted {
            made.note = Some(why);
        }
        made
    }

    /// `back up X before you delete it`, `before X is deleted, make a backup`.
    fn prerequisite(&self, unit: &Unit) -> Vec<Draft> {
        let Some(tail) = unit.tail(&[Cue::Before, Cue::If]) else { return self.step_first(unit) };
        let firstly = tail.joint == Cue::Before || unit.has(Cue::First);
        let first = self.groups_of(&unit.core);
        if !firstly || first.iter().all(|g| g.acts.is_empty()) || self.is_narrated(unit) {
            return Vec::new();
        }
        let spoken: Vec<Vec<Object>> =
            first.iter().find(|g| g.is_concrete()).map(|g| g.lists.clone()).unwrap_or_default();
        let mut later = resolved(groups_of_any_form(&tail.items), &spoken);
        later.retain(|g| !g.acts.is_empty());
        for group in &mut later {
            if !group.is_concrete() && group.lists.iter().flatten().all(|o| matches!(o, Object::Pronoun)) {
                group.lists.clone_from(&spoken);
            }
        }
        later.iter().flat_map(|g| g.clone().split()).map(|group| self.require(unit, &group, &first)).collect()
    }

    /// `mass mailings: dry run first`.
    fn step_first(&self, unit: &Unit) -> Vec<Draft> {
        let is_step = |group: &Group| {
            group
                .acts
                .iter()
                .filter_map(|a| self.lexicon.acts.get(*a))
                .any(|a| a.unclear.is_some() || a.verbs == ["backup"])
        };
        let steps: Vec<Group> = self.groups_of(&unit.core).into_iter().filter(is_step).collect();
        let governed: Vec<Group> =
            self.groups_of(&unit.topic).into_iter().filter(|g| !g.acts.is_empty() || g.has_things()).collect();
        if !unit.has(Cue::First) || steps.is_empty() {
            return Vec::new();
        }
        governed.iter().map(|group| self.require(unit, group, &steps)).collect()
    }

    /// Told of what was or is, not asked for.
    fn is_narrated(&self, unit: &Unit) -> bool {
        let subject = unit.core.first().and_then(|p| self.tokens.get(p.from)).map(|t| t.norm.as_str());
        let told = unit.core.iter().any(|p| matches!(p.item, Item::Act { form: Form::Past, passive: false, .. }));
        let base = unit.core.iter().any(|p| {
            matches!(p.item, Item::Act { form: Form::Base | Form::Noun, .. } | Item::Act { passive: true, .. })
        });
        told || !base || matches!(subject, Some("i" | "we" | "he" | "she" | "they" | "it"))
    }

    fn approval(&self, unit: &Unit) -> Vec<Draft> {
        let mut governed: Vec<Group> = Vec::new();
        for tail in unit.tails.iter().filter(|t| matches!(t.joint, Cue::Before | Cue::If | Cue::After | Cue::While)) {
            governed.extend(groups_of_any_form(&tail.items));
        }
        governed = resolved(governed, &self.antecedent);
        governed.retain(|g| !g.acts.is_empty() || g.is_concrete());
        if governed.is_empty() {
            governed = self.governed(unit);
            governed
                .retain(|g| !g.acts.is_empty() || g.is_concrete() || g.outside || g.has_things() && !g.is_style());
        }
        if governed.is_empty() {
            return self.approve_all(unit);
        }
        let requested = unit.has(Cue::Requested).then(|| Cond::Requested.not());
        let split = governed.into_iter().flat_map(Group::split);
        split.flat_map(|group| self.demand(Demand::Approve, unit, &group, requested.clone())).collect()
    }

    /// Approval for whatever comes.
    fn approve_all(&self, unit: &Unit) -> Vec<Draft> {
        if unit.has(Cue::Idle) {
            return Vec::new();
        }
        let mut all = draft(StatementKind::Approval, vec![Cond::Effect("any".into())], Then::Approval);
        all.confidence = 0.6;
        vec![all]
    }

    /// `only after a backup`, `only if I say so`.
    fn only_after(&self, unit: &Unit, tail: &Tail) -> Vec<Draft> {
        let mut governed = self.governed(unit);
        if governed.iter().all(|g| g.acts.is_empty() && !g.is_concrete()) {
            governed = groups_of_any_form(&unit.core);
        }
        governed.retain(|g| !g.acts.is_empty() || g.is_concrete());
        let asks = self.says_yes(tail);
        let requested = (!asks && self.on_request(tail)).then(|| Cond::Requested.not());
        let one = |group: Group| {
            if asks || requested.is_some() {
                return self.demand(Demand::Approve, unit, &group, requested.clone());
            }
            match self.required(tail) {
                Some(required) => vec![self.require(unit, &group, &required)],
                None => {
                    let why = format!("whether `{}` holds cannot be checked", self.words(&tail.items));
                    vec![Draft::new(StatementKind::Prerequisite, Op::Add, Err(why), 0.6)]
                }
            }
        };
        governed.into_iter().flat_map(Group::split).flat_map(one).collect()
    }

    /// Stay inside a place; only read.
    fn scope(&self, unit: &Unit) -> Vec<Draft> {
        let kind = StatementKind::Scope;
        if unit.has(Cue::ReadOnly) {
            let governed = self.groups_of(&unit.core);
            if governed.iter().any(|g| g.has_things() && !g.is_concrete()) {
                return Vec::new();
            }
            return vec![draft(kind, Vec::new(), Then::Forbid("any".into()))];
        }
        let governed: Vec<Group> = groups_of_any_form(&unit.core);
        let mut out = Vec::new();
        for group in governed {
            let reads = group.acts.iter().all(|a| self.lexicon.acts.get(*a).is_some_and(|a| a.verbs == ["read"]));
            if group.is_style() || unit.has(Cue::Only) && !unit.has(Cue::StayIn) && (group.acts.is_empty() || reads) {
                continue;
            }
            out.push(match group.reach(self.lexicon, "write") {
                Ok(reach) if reach.guard.is_empty() => continue,
                Ok(_) if group.lists.iter().flatten().all(|o| matches!(o, Object::Kind(_) | Object::Any)) => {
                    Draft::new(kind, Op::Add, Err("which ones are meant cannot be told".into()), 0.6)
                }
                Ok(reach) => {
                    let mut guard: Vec<Cond> = Cond::all(reach.guard).map(Cond::not).into_iter().collect();
                    let then = match reach.verbs.as_slice() {
                        [verb] => Then::Forbid(verb.clone()),
                        _ => {
                            guard.extend(Cond::any(verb_conds(&reach.verbs)));
                            Then::Forbid("any".into())
                        }
                    };
                    draft(kind, guard, then)
                }
                Err(why) => Draft::new(kind, Op::Add, Err(why), 0.6),
            });
        }
        out
    }

    /// The clause speaks of the person's yes.
    pub(crate) fn says_yes(&self, tail: &Tail) -> bool {
        tail.items.iter().any(|p| p.is_cue(Cue::Say) || p.is_cue(Cue::Ask))
    }

    fn on_request(&self, tail: &Tail) -> bool {
        tail.items.iter().any(|p| p.is_cue(Cue::Requested))
    }

    fn words(&self, items: &[Placed]) -> String {
        let tokens = items.first().zip(items.last()).and_then(|(a, b)| self.tokens.get(a.from..b.to));
        let words: Vec<&str> = tokens.unwrap_or_default().iter().map(|t| t.norm.as_str()).collect();
        words.join(" ")
    }
}

/// In clauses about what comes first or later every form counts: `once it was backed up`, `before it goes out`.
pub(crate) fn groups_of_any_form(items: &[Placed]) -> Vec<Group> {
    let bare: Vec<Placed> = items
        .iter()
        .map(|placed| match placed.item {
            Item::Act { act, .. } => {
                Placed { item: Item::Act { act, form: Form::Gerund, passive: true }, ..placed.clone() }
            }
            _ => placed.clone(),
        })
        .collect();
    groups(&bare)
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
