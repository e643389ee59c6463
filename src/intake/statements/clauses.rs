//! Demands that lean on a clause or a place: what must come first, whose yes it takes, where the work may happen.

use super::{
    build::{Cond, Then},
    groups::{Group, groups_of_any_form, resolved},
    items::{Item, Object},
    lexicon::{Cue, Form},
    read::{Demand, Draft, Reader, draft, effects, verb_conds},
    units::{Tail, Unit},
};
use crate::domain::{Op, StatementKind};

impl Reader<'_> {
    /// Acts that a clause says must have been done.
    pub(super) fn required(&self, tail: &Tail) -> Option<Vec<Group>> {
        let found: Vec<Group> = groups_of_any_form(&tail.items);
        let found = resolved(found, &self.antecedent);
        (found.iter().any(|g| !g.acts.is_empty())).then_some(found)
    }

    /// `required` must come before what `group` does.
    pub(super) fn require(&self, unit: &Unit, group: &Group, required: &[Group]) -> Draft {
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
            Err(why) => return self.asks_instead(kind, unit, group, &why),
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
    pub(super) fn prerequisite(&self, unit: &Unit) -> Vec<Draft> {
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
        later
            .iter()
            .flat_map(|g| g.clone().split(self.lexicon))
            .map(|group| self.require(unit, &group, &first))
            .collect()
    }

    /// `mass mailings: dry run first`.
    pub(super) fn step_first(&self, unit: &Unit) -> Vec<Draft> {
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
    pub(super) fn is_narrated(&self, unit: &Unit) -> bool {
        let subject = unit.core.first().and_then(|p| self.tokens.get(p.from)).map(|t| t.norm.as_str());
        let told = unit.core.iter().any(|p| matches!(p.item, Item::Act { form: Form::Past, passive: false, .. }));
        let base = unit.core.iter().any(|p| {
            matches!(p.item, Item::Act { form: Form::Base | Form::Noun, .. } | Item::Act { passive: true, .. })
        });
        told || !base || matches!(subject, Some("i" | "we" | "he" | "she" | "they" | "it"))
    }

    pub(super) fn approval(&self, unit: &Unit) -> Vec<Draft> {
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
        let split = governed.into_iter().flat_map(|g| g.split(self.lexicon));
        split.flat_map(|group| self.demand(Demand::Approve, unit, &group, requested.clone())).collect()
    }

    /// Approval for whatever comes.
    pub(super) fn approve_all(&self, unit: &Unit) -> Vec<Draft> {
        if unit.has(Cue::Idle) {
            return Vec::new();
        }
        let mut all = draft(StatementKind::Approval, vec![Cond::Effect("any".into())], Then::Approval);
        all.confidence = 0.6;
        vec![all]
    }

    /// `only after a backup`, `only if I say so`.
    pub(super) fn only_after(&self, unit: &Unit, tail: &Tail) -> Vec<Draft> {
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
                    vec![self.asks_instead(StatementKind::Prerequisite, unit, &group, &why)]
                }
            }
        };
        governed.into_iter().flat_map(|g| g.split(self.lexicon)).flat_map(one).collect()
    }

    /// Stay inside a place; only read.
    pub(super) fn scope(&self, unit: &Unit) -> Vec<Draft> {
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
}
