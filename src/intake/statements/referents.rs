//! Sentences that speak of rules which exist: permissions, revocations, updates. Where it is not clear which rule is
//! meant nothing is loosened: the statement is kept without a rule, with what it could mean.

use super::{
    build::{Cond, Then, rule},
    groups::{Group, Reach, groups_of_any_form},
    items::{Item, Object},
    lexicon::{Cue, Form},
    limits,
    read::{Draft, Reader, effects, verb_conds},
    units::Unit,
};
use crate::domain::{Constraint, Op, Scope, StatementKind, Verb};

/// What a rule in force is about, read back from its text.
struct About<'a> {
    constraint: &'a Constraint,
    verbs: Vec<&'a str>,
    resources: Vec<String>,
    labels: Vec<String>,
}

/// The arguments of every `name(…)` in a rule.
fn arguments<'a>(rule: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    rule.match_indices(name).filter_map(move |(at, _)| {
        let rest = rule.get(at + name.len()..)?;
        rest.get(..rest.find(')')?)
    })
}

fn unquoted(text: &str) -> String {
    text.trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\")
}

impl<'a> About<'a> {
    fn new(constraint: &'a Constraint) -> Self {
        let rule = constraint.rule.as_deref().unwrap_or_default();
        let mut verbs: Vec<&str> = arguments(rule, "effect_is(").chain(arguments(rule, "forbid_effect(")).collect();
        if verbs.len() > 1 {
            verbs.retain(|v| *v != "any");
        }
        let first = |text: &'a str| text.split(',').next().unwrap_or_default().trim();
        verbs.extend(arguments(rule, "require_before(").map(first));
        About {
            constraint,
            verbs,
            resources: arguments(rule, "resource_in(").map(unquoted).collect(),
            labels: arguments(rule, "data_scope_is(").map(unquoted).collect(),
        }
    }

    /// Both speak of some same effect.
    fn meets(&self, reach: &Reach) -> bool {
        let verbs =
            self.verbs.is_empty() || reach.verbs.iter().any(|v| self.verbs.iter().any(|own| verbs_meet(own, v)));
        verbs && self.names_meet(reach)
    }

    /// A permission lifts bans; an approval it gives for now, unless asking itself is waived; what must come first
    /// it leaves alone, unless that is waived by name; limits it never lifts.
    fn yields(&self, asking_waived: bool, waived: &[&String]) -> bool {
        match self.constraint.kind {
            StatementKind::Prohibition | StatementKind::Scope => !asking_waived,
            StatementKind::Approval | StatementKind::Temporal => true,
            StatementKind::Prerequisite => waived.iter().any(|verb| self.verbs.contains(&verb.as_str())),
            StatementKind::Limit | StatementKind::Exception | StatementKind::Revocation | StatementKind::Update => {
                false
            }
        }
    }

    /// The rule names something that `reach` names.
    fn is_named(&self, reach: &Reach) -> bool {
        let (names, labels) = names(&reach.guard);
        !(names.is_empty() && labels.is_empty() || self.resources.is_empty() && self.labels.is_empty())
            && self.names_meet(reach)
    }

    fn names_meet(&self, reach: &Reach) -> bool {
        let (names, labels) = names(&reach.guard);
        if names.is_empty() && labels.is_empty() {
            return true;
        }
        if self.resources.is_empty() && self.labels.is_empty() {
            return true;
        }
        let outside = self.constraint.rule.as_deref().unwrap_or_default().contains("not resource_in");
        outside
            || names.iter().any(|name| self.resources.iter().any(|own| below(name, own) || below(own, name)))
            || labels.iter().any(|label| self.labels.contains(label))
    }

    /// Nothing of the rule is left when `reach` is allowed.
    fn is_within(&self, reach: &Reach) -> bool {
        let (names, labels) = names(&reach.guard);
        let all_verbs = self.verbs.iter().all(|own| reach.verbs.iter().any(|v| verb_holds(v, own)));
        let open = names.is_empty() && labels.is_empty();
        let all_names =
            !self.resources.is_empty() && self.resources.iter().all(|own| names.iter().any(|name| below(own, name)));
        let all_labels = !self.labels.is_empty() && self.labels.iter().all(|own| labels.contains(own));
        all_verbs && (open && reach.dropped.is_none() || all_names || all_labels)
    }
}

fn verb_holds(wide: &str, narrow: &str) -> bool {
    let writes = Verb::from_word(narrow).is_some_and(Verb::writes);
    wide == narrow || wide == "any" || wide == "write" && writes
}

fn verbs_meet(a: &str, b: &str) -> bool {
    verb_holds(a, b) || verb_holds(b, a)
}

/// Names and labels that a guard speaks of.
fn names(guard: &[Cond]) -> (Vec<String>, Vec<String>) {
    let (mut resources, mut labels) = (Vec::new(), Vec::new());
    for cond in guard {
        match cond {
            Cond::Resource(name) | Cond::Recipient(name) => resources.push(name.clone()),
            Cond::Label(label) => labels.push(label.clone()),
            Cond::All(parts) | Cond::Any(parts) => {
                let (more, scopes) = names(parts);
                resources.extend(more);
                labels.extend(scopes);
            }
            Cond::Not(_) | Cond::Effect(_) | Cond::Requested => {}
        }
    }
    (resources, labels)
}

/// `inner` names nothing that `outer` does not hold; where that cannot be seen from the names, `false`.
pub(crate) fn below(inner: &str, outer: &str) -> bool {
    if inner == outer || outer == "path:*" || outer == "**" {
        return true;
    }
    match outer.strip_suffix("/**") {
        Some(base) => inner == base || inner.strip_prefix(base).is_some_and(|rest| rest.starts_with('/')),
        None => {
            outer.strip_suffix(":*").is_some_and(|kind| inner.split_once(':').is_some_and(|(own, _)| own == kind))
        }
    }
}

impl Reader<'_> {
    /// Statements about rules in force, or about one said earlier in this turn, which is then narrowed in place.
    /// `None`: the unit speaks of no rule.
    pub(crate) fn refer(&self, unit: &Unit, known: &[Constraint], said: &mut [Draft]) -> Option<Vec<Draft>> {
        let active: Vec<About<'_>> = known.iter().filter(|c| c.is_active()).map(About::new).collect();
        if unit.has(Cue::MakeIt) && unit.core.iter().any(|p| p.item == Item::Number) {
            return Some(vec![self.number(unit, &active)]);
        }
        if unit.has(Cue::Revoke) {
            return Some(vec![self.revoke(unit, &active)]);
        }
        if unit.has(Cue::SameFor)
            && let Some(update) = self.same_for(unit, &active)
        {
            return Some(vec![update]);
        }
        self.permit(unit, &active, said)
    }

    fn permit(&self, unit: &Unit, active: &[About<'_>], said: &mut [Draft]) -> Option<Vec<Draft>> {
        let bans =
            [Cue::Ban, Cue::Ask, Cue::Only, Cue::StayIn, Cue::OnlyAfter, Cue::Banned].iter().any(|c| unit.has(*c));
        let unasked = unit.tails.iter().any(|t| t.joint == Cue::Without && self.says_yes(t));
        let ordered = unit.core.iter().any(|p| matches!(p.item, Item::Act { form: Form::Base, .. }));
        let relaxes = unit.has(Cue::Relax) || unasked && ordered && !bans;
        let excepts = unit.core.is_empty() && unit.tail(&[Cue::Except]).is_some();
        let permits = unit.has(Cue::Permit) || unit.has(Cue::Permitted) || excepts;
        if bans && !unit.has(Cue::Relax) || !relaxes && !permits || unit.tail(&[Cue::OnlyAfter]).is_some() {
            return None;
        }
        let mut groups = groups_of_any_form(&unit.core);
        for tail in unit.tails.iter().filter(|t| matches!(t.joint, Cue::Before | Cue::If | Cue::Except)) {
            groups.extend(groups_of_any_form(&tail.items));
        }
        if groups.iter().all(|g| !g.has_things() && g.acts.is_empty()) {
            groups = groups_of_any_form(&unit.topic);
        }
        groups.retain(|g| !g.acts.is_empty() || g.has_things());
        if groups.is_empty() {
            groups.push(Group::default());
        }
        let mut out = Vec::new();
        for group in groups {
            out.extend(self.permit_group(unit, &group, relaxes, active, said));
        }
        Some(out)
    }

    fn permit_group(
        &self,
        unit: &Unit,
        group: &Group,
        relaxes: bool,
        active: &[About<'_>],
        said: &mut [Draft],
    ) -> Option<Draft> {
        let kind = StatementKind::Exception;
        let reach = match group.reach(self.lexicon, "any") {
            Ok(reach) => reach,
            Err(why) if relaxes || is_standing(unit, self) || !active.is_empty() && !group.acts.is_empty() => {
                return Some(Draft::new(kind, Op::Relax, Err(why), 0.55));
            }
            Err(_) => return None,
        };
        let waived = unit.tail(&[Cue::Without]).map(|t| groups_of_any_form(&t.items)).unwrap_or_default();
        let waived: Vec<&String> = waived.iter().flat_map(|g| self.acts_of(g)).collect();
        let fits = |about: &&About<'_>| about.yields(relaxes, &waived) && about.meets(&reach);
        let mut candidates: Vec<&About<'_>> = active.iter().filter(fits).collect();
        // a name that is spoken of means the rules that name it
        let naming: Vec<&About<'_>> = candidates.iter().filter(|a| a.is_named(&reach)).copied().collect();
        if !naming.is_empty() {
            candidates = naming;
        }
        let broad = group.acts.is_empty() && !group.is_concrete();
        match candidates.as_slice() {
            [one] => Some(loosened(one, &reach, relaxes)),
            [] if !broad && fold(&reach, group, said) => None,
            [] if relaxes || unit.has(Cue::Permit) && is_standing(unit, self) => {
                let why = "there is no earlier rule that this would relax".to_owned();
                Some(Draft::new(kind, Op::Relax, Err(why), 0.55))
            }
            [] => None,
            several => {
                let ids: Vec<String> = several.iter().map(|a| a.constraint.id.to_string()).collect();
                let why = format!("could speak of {}: all stay in force", ids.join(", "));
                Some(Draft::new(kind, Op::Relax, Err(why), 0.4))
            }
        }
    }

    fn acts_of<'b>(&'b self, group: &'b Group) -> impl Iterator<Item = &'b String> {
        group.acts.iter().filter_map(|a| self.lexicon.acts.get(*a)).flat_map(|a| &a.verbs)
    }

    /// What a sentence says to tell the rule it means from others.
    fn meant<'b, 'c>(&self, unit: &Unit, active: &'b [About<'c>]) -> Vec<&'b About<'c>> {
        let groups = groups_of_any_form(&unit.core);
        let acts: Vec<&String> = groups
            .iter()
            .flat_map(|g| &g.acts)
            .filter_map(|a| self.lexicon.acts.get(*a))
            .flat_map(|a| &a.verbs)
            .collect();
        let objects: Vec<&Object> = groups.iter().flat_map(|g| g.lists.iter().flatten()).collect();
        let described =
            !acts.is_empty() || objects.iter().any(|o| !matches!(o, Object::Any | Object::Pronoun | Object::Style));
        let fits = |about: &&About<'_>| {
            let by_act = acts.iter().any(|v| about.verbs.iter().any(|own| verbs_meet(own, v)));
            let by_name = objects.iter().any(|o| match o {
                Object::Resources(names) => {
                    names.iter().any(|n| about.resources.iter().any(|own| below(n, own) || below(own, n)))
                }
                Object::Kind(kind) => {
                    about.resources.contains(&format!("{kind}:*")) || kind == "mail" && about.verbs.contains(&"send")
                }
                Object::Label(label) => about.labels.contains(label),
                Object::Address(name) => about.resources.contains(name),
                Object::Unknown(words) | Object::Program(words) => words
                    .split(' ')
                    .any(|w| w.len() > 3 && about.constraint.quote.to_lowercase().contains(&w.to_lowercase())),
                Object::Any | Object::Pronoun | Object::Style => false,
            });
            by_act || by_name
        };
        if described { active.iter().filter(fits).collect() } else { active.iter().collect() }
    }

    fn revoke(&self, unit: &Unit, active: &[About<'_>]) -> Draft {
        let kind = StatementKind::Revocation;
        match self.meant(unit, active).as_slice() {
            [one] => revoked(one),
            [] => Draft::new(kind, Op::Revoke, Err("there is no earlier rule that this would lift".into()), 0.55),
            several => unclear(kind, Op::Revoke, several),
        }
    }

    /// `make it 300`.
    fn number(&self, unit: &Unit, active: &[About<'_>]) -> Draft {
        let kind = StatementKind::Update;
        let at = unit.core.iter().find(|p| p.item == Item::Number).map_or(0, |p| p.from);
        let quantity = limits::quantity(self.tokens, at);
        let limits: Vec<&About<'_>> = active.iter().filter(|a| a.constraint.kind == StatementKind::Limit).collect();
        let meant = self.meant(unit, active);
        let narrowed: Vec<&About<'_>> =
            limits.iter().filter(|a| meant.iter().any(|m| m.constraint.id == a.constraint.id)).copied().collect();
        let chosen = if narrowed.is_empty() { &limits } else { &narrowed };
        match (chosen.as_slice(), quantity) {
            ([one], Some(quantity)) => {
                let old = one.constraint.rule.as_deref().unwrap_or_default();
                let rule =
                    with_number(old, quantity.value).ok_or_else(|| "the earlier rule has no number".to_owned());
                let mut draft = Draft::new(kind, Op::Replace, rule, 0.85);
                draft.targets = vec![one.constraint.id];
                draft
            }
            (several, _) if several.len() > 1 => unclear(kind, Op::Replace, several),
            (_, _) => {
                Draft::new(kind, Op::Replace, Err("there is no earlier limit that this would change".into()), 0.55)
            }
        }
    }

    /// `also for invoices/`, `the same goes for drafts/`.
    fn same_for(&self, unit: &Unit, active: &[About<'_>]) -> Option<Draft> {
        let kind = StatementKind::Update;
        let at = unit.core.iter().position(|p| p.is_cue(Cue::SameFor))?;
        let (before, after) = unit.core.split_at(at);
        let last = groups_of_any_form(after).pop()?;
        if !last.has_things() && last.acts.is_empty() {
            return None;
        }
        let model = Unit { core: before.to_vec(), ..Unit::default() };
        let described = groups_of_any_form(before).iter().any(|g| g.has_things() || !g.acts.is_empty());
        let candidates = if described { self.meant(&model, active) } else { active.iter().rev().take(1).collect() };
        let reach = match last.reach(self.lexicon, "any") {
            Ok(reach) => reach,
            Err(why) => return Some(Draft::new(kind, Op::Add, Err(why), 0.55)),
        };
        Some(match candidates.as_slice() {
            [one] => {
                let old = one.constraint.rule.as_deref().unwrap_or_default();
                match with_objects(old, &reach.guard) {
                    Some(rule) => {
                        let mut draft = Draft::new(kind, Op::Add, Ok(rule), 0.8);
                        draft.targets = vec![one.constraint.id];
                        draft
                    }
                    None => Draft::new(
                        kind,
                        Op::Add,
                        Err("the rule before it names nothing to put another for".into()),
                        0.4,
                    ),
                }
            }
            [] => Draft::new(kind, Op::Add, Err("there is no earlier rule that this would extend".into()), 0.55),
            several => unclear(kind, Op::Add, several),
        })
    }
}

/// Said to last, not only for the next step.
fn is_standing(unit: &Unit, reader: &Reader<'_>) -> bool {
    let words = unit.core.first().zip(unit.core.last()).and_then(|(a, b)| reader.tokens.get(a.from..b.to));
    let lasting = |t: &super::text::Token| reader.lexicon.is("lasting", &t.norm);
    words.unwrap_or_default().iter().any(lasting) || reader.tokens.iter().any(|t| t.norm == "only")
}

fn unclear(kind: StatementKind, op: Op, several: &[&About<'_>]) -> Draft {
    let ids: Vec<String> = several.iter().map(|a| a.constraint.id.to_string()).collect();
    Draft::new(kind, op, Err(format!("could speak of {}: nothing is changed", ids.join(", "))), 0.4)
}

fn revoked(about: &About<'_>) -> Draft {
    let then = Then::Except(about.constraint.id.to_string());
    let mut draft = Draft::new(StatementKind::Revocation, Op::Revoke, Ok(rule(Vec::new(), &then)), 0.85);
    draft.targets = vec![about.constraint.id];
    draft
}

/// The one rule that a permission speaks of is lifted whole, or for what the permission names.
fn loosened(about: &About<'_>, reach: &Reach, asking_waived: bool) -> Draft {
    let for_now = about.constraint.kind == StatementKind::Approval && !asking_waived;
    if about.is_within(reach) && !for_now {
        return revoked(about);
    }
    if let Some(words) = &reach.dropped {
        let why = format!("`{words}` cannot be checked, and a permission must not reach further than said");
        let mut draft = Draft::new(StatementKind::Exception, Op::Relax, Err(why), 0.5);
        draft.targets = vec![about.constraint.id];
        return draft;
    }
    let guard = if reach.verbs == ["any"] { reach.guard.clone() } else { effects(reach) };
    let then = Then::Except(about.constraint.id.to_string());
    let mut draft = Draft::new(StatementKind::Exception, Op::Relax, Ok(rule(guard, &then)), 0.85);
    draft.targets = vec![about.constraint.id];
    if for_now {
        draft.scope = Some(Scope::Turn);
    }
    draft
}

/// Narrows the last restriction of the same turn that speaks of the same effects.
fn fold(reach: &Reach, group: &Group, said: &mut [Draft]) -> bool {
    if reach.dropped.is_some() {
        return false;
    }
    for draft in said.iter_mut().rev() {
        let Some((guard, then)) = &mut draft.parts else { continue };
        let text = rule(guard.clone(), then);
        let verbs: Vec<&str> = arguments(&text, "effect_is(").chain(arguments(&text, "forbid_effect(")).collect();
        let meets = reach.verbs.iter().any(|v| verbs.iter().any(|own| verbs_meet(own, v)));
        if !meets || matches!(then, Then::Limit { .. }) {
            continue;
        }
        let acts = if group.acts.is_empty() { Vec::new() } else { verb_conds(&reach.verbs) };
        let Some(cond) = Cond::all(acts.into_iter().chain(reach.guard.iter().cloned()).collect()) else { continue };
        guard.push(cond.not());
        draft.rule = Ok(rule(guard.clone(), then));
        return true;
    }
    false
}

/// The rule with another maximum in its `limit`.
fn with_number(rule: &str, max: f64) -> Option<String> {
    let (head, tail) = rule.split_once("limit(")?;
    let (attr, rest) = tail.split_once(", ")?;
    let end = rest.find([' ', ','])?;
    Some(format!("{head}limit({attr}, {max}{}", rest.get(end..)?))
}

/// The rule with other things in place of the one it names.
fn with_objects(rule: &str, guard: &[Cond]) -> Option<String> {
    let new = Cond::all(guard.to_vec())?;
    let mut named = arguments(rule, "resource_in(");
    let old = named.next()?;
    if named.next().is_some() {
        return None;
    }
    let old = format!("resource_in({old})");
    let new = if matches!(new, Cond::Any(_)) { format!("({new})") } else { new.to_string() };
    Some(rule.replacen(&old, &new, 1))
}
