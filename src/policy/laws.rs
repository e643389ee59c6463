//! The laws of the audit, over random rules, actions, histories and approvals, and an interpreter that knows neither
//! the index nor compiled guards to hold it against.

use super::{
    Case, Law, LawRule, audit,
    audit::{Hit, MOST_DOUBTS, Trial},
    eval::Truth,
    lang::ast::{Compare, Consequence, Guard, Operand, Predicate, Rule, Target, VerbClass, Window},
    pattern::Pattern,
};
use crate::domain::{
    Action, Audit, Certainty, Decision, Demand, Digest, Done, Effect, Extent, Grant, GrantId, Kind, LatchCause,
    LatchState, Moment, Places, Program, ProposalId, RawCall, Resource, Reversibility, RuleId, Scalar, Seq, Turn,
    Until, Verb,
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json;
use std::collections::BTreeMap;

const NOW: Moment = Moment::utc(1_000 * 86_400_000);
const DECLARED: &[&str] = &["step", "level", "unset"];

fn places() -> Places {
    Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() }
}

/// Everything an audit looks at, owned.
#[derive(Debug, Clone)]
struct World {
    rules: Vec<LawRule>,
    action: Action,
    requested: Vec<bool>,
    intents: Vec<String>,
    model_intents: Vec<String>,
    variables: BTreeMap<String, Scalar>,
    done: Vec<Done>,
    grants: Vec<Grant>,
    latch: Option<LatchState>,
}

impl World {
    fn law(&self) -> Law {
        Law::compile(self.rules.clone(), places(), DECLARED).0
    }

    fn case(&self) -> Case<'_> {
        Case {
            action: &self.action,
            requested: &self.requested,
            intents: &self.intents,
            model_intents: &self.model_intents,
            variables: &self.variables,
            done: &self.done,
            grants: &self.grants,
            latch: self.latch.as_ref(),
            task_turn: 3,
            now: NOW,
        }
    }

    fn audit(&self) -> Audit {
        audit(&self.law(), &self.case(), &understand)
    }

    fn with(&self, more: &[LawRule]) -> World {
        World { rules: self.rules.iter().chain(more).cloned().collect(), ..self.clone() }
    }
}

/// A repair step does what its name says to everything under its path.
fn understand(call: &RawCall) -> Option<Action> {
    let verb = match call.tool.as_str() {
        "fs_backup" => Verb::Backup,
        "fs_list" => Verb::List,
        "fs_read" => Verb::Read,
        _ => return None,
    };
    let effects = vec![Effect::new(verb, Resource::subtree(call.text("path")?))];
    Some(Action { call: call.clone(), effects, programs: Vec::new(), facts: Digest::default() })
}

// ---- generators ----------------------------------------------------------------------------------------------

fn label() -> impl Strategy<Value = String> {
    select(vec!["clean", "internal", "secret"]).prop_map(str::to_owned)
}

fn verb() -> impl Strategy<Value = Verb> {
    prop_oneof![4 => select(vec![Verb::Read, Verb::Delete, Verb::Modify, Verb::Send, Verb::Pay, Verb::Backup, Verb::List]),
        1 => select(Verb::ALL.to_vec())]
}

fn class() -> impl Strategy<Value = VerbClass> {
    prop_oneof![6 => verb().prop_map(VerbClass::One), 1 => Just(VerbClass::Write), 1 => Just(VerbClass::Any)]
}

fn path() -> impl Strategy<Value = String> {
    select(vec!["a", "a/b", "a/b/c", "ab", "d/x.log", ".", "~", "~/n", "/etc/p", "/", "a/../d", "/home/ann/work/a"])
        .prop_map(str::to_owned)
}

fn resource() -> impl Strategy<Value = Resource> {
    prop_oneof![
        5 => path().prop_map(Resource::path),
        3 => path().prop_map(Resource::subtree),
        1 => select(vec!["a/*", "*.log", "**/x.log", "{a,/etc}/*", "a/b?/**", "~/*", "[a-b]/b"]).prop_map(Resource::glob),
        1 => Just(Resource::any(Kind::Path)),
        1 => select(vec!["x.org", "X.org", "ΑΣ"]).prop_map(|n| Resource::named(Kind::Host, n)),
        1 => select(vec!["bob@x.org", "eve@y.org"]).prop_map(|n| Resource::named(Kind::Mail, n)),
        1 => Just(Resource { kind: Kind::Mail, extent: Extent::Glob("*@x.org".into()) }),
        1 => Just(Resource::named(Kind::Program, "/usr/bin/make")),
    ]
}

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(vec!["a", "a/**", "a/b/**", "a/*", "*.log", "**/x.log", "**", "./**", "~/**", "/etc/**", "/**",
            "{a,d}/**", "{/etc,a}/*", "a/b/c", ".", "/home/**", "[ab]/**", "d/x.log", "../n"]),
        2 => select(vec!["host:x.org", "host:*.org", "host:ασ", "mail:bob@x.org", "mail:*@x.org", "mail:*",
            "path:*", "program:*"]),
        1 => select(vec!["", "a/[", "{a"]),
    ]
    .prop_map(str::to_owned)
}

fn compare() -> impl Strategy<Value = Compare> {
    select(vec![Compare::Less, Compare::AtMost, Compare::Equal, Compare::Unequal, Compare::AtLeast, Compare::More])
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        (0..4_i32).prop_map(|n| Operand::Number(f64::from(n))),
        select(vec!["hard", "true"]).prop_map(|t| Operand::Text(t.to_owned())),
        select(vec!["step", "unset", "undeclared"]).prop_map(|n| Operand::Name(n.to_owned())),
    ]
}

fn tool() -> impl Strategy<Value = String> {
    select(vec!["fs_delete", "fs.delete", "shell_exec", "env_act", "fs_backup"]).prop_map(str::to_owned)
}

fn predicate() -> impl Strategy<Value = Predicate> {
    prop_oneof![
        6 => class().prop_map(Predicate::EffectIs),
        6 => pattern().prop_map(Predicate::ResourceIn),
        1 => pattern().prop_map(Predicate::RecipientIn),
        2 => label().prop_map(Predicate::IntentIs),
        1 => label().prop_map(Predicate::DataScopeIs),
        2 => tool().prop_map(Predicate::ToolIs),
        1 => (select(vec!["mode", "n", "deep.n", "action"]), compare(), operand())
            .prop_map(|(name, compare, value)| Predicate::Arg { name: name.to_owned(), compare, value }),
        1 => (select(vec!["step", "level", "unset", "undeclared"]), compare(), operand())
            .prop_map(|(name, compare, value)| Predicate::Variable { name: name.to_owned(), compare, value }),
        1 => (compare(), 0..6_i32)
            .prop_map(|(compare, n)| Predicate::TurnOfTask { compare, value: f64::from(n) }),
        1 => Just(Predicate::Reversible),
        1 => Just(Predicate::Requested),
    ]
}

fn guard() -> impl Strategy<Value = Guard> {
    let leaf = prop_oneof![1 => Just(Guard::Always), 8 => predicate().prop_map(Guard::Is)];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            2 => inner.clone().prop_map(|g| Guard::Not(Box::new(g))),
            4 => vec(inner.clone(), 2..4).prop_map(Guard::All),
            2 => vec(inner, 2..4).prop_map(Guard::AnyOf),
        ]
    })
}

fn restriction() -> impl Strategy<Value = Consequence> {
    let window = select(vec![
        Window::Call,
        Window::Session,
        Window::Total,
        Window::RollingHours(5),
        Window::RollingDays(1),
        Window::CalendarDay,
        Window::CalendarWeek,
    ]);
    let target = prop_oneof![2 => Just(Target::SameResource), 1 => pattern().prop_map(Target::Named)];
    let unit = option::of(select(vec!["EUR".to_owned(), "USD".to_owned()]));
    prop_oneof![
        4 => class().prop_map(Consequence::ForbidEffect),
        1 => tool().prop_map(Consequence::ForbidToolCall),
        1 => (tool(), operand()).prop_map(|(tool, value)| Consequence::ForbidToolArg { tool, arg: "mode".into(), value }),
        1 => Just(Consequence::ForbidEnvAction("hard".into())),
        3 => Just(Consequence::RequireApproval),
        3 => (select(vec![Verb::Backup, Verb::Backup, Verb::List, Verb::Read, Verb::Execute]), target)
            .prop_map(|(verb, target)| Consequence::RequireBefore { verb, target }),
        2 => (select(vec!["amount", "count"]), select(vec![0.0, 1.0, 2.5, 40.0, f64::NAN]), unit, window)
            .prop_map(|(attr, max, unit, window)| Consequence::Limit { attr: attr.to_owned(), max, unit, window }),
    ]
}

fn id() -> impl Strategy<Value = RuleId> {
    (0..3_u8, 1..6_u32).prop_map(|(origin, n)| match origin {
        0 => RuleId::core(n),
        1 => RuleId::said(n),
        _ => RuleId::scar(n),
    })
}

fn restricting() -> impl Strategy<Value = LawRule> {
    (id(), prop::bool::weighted(0.2), guard(), restriction()).prop_map(|(id, hard, guard, then)| LawRule {
        id,
        hard,
        rule: Rule { guard, then },
        once: None,
    })
}

fn exception() -> impl Strategy<Value = LawRule> {
    (id(), guard(), id()).prop_map(|(id, guard, relaxed)| LawRule {
        id,
        hard: false,
        rule: Rule { guard, then: Consequence::Except(relaxed) },
        once: None,
    })
}

fn effect() -> impl Strategy<Value = Effect> {
    let certainty =
        prop_oneof![6 => Just(Certainty::Certain), 1 => Just(Certainty::Possible), 1 => Just(Certainty::Opaque)];
    let reversibility = select(vec![
        Reversibility::ReadOnly,
        Reversibility::Reversible,
        Reversibility::ExternallyReversible,
        Reversibility::Irreversible,
    ]);
    let amount = option::of((0..30_i32, option::of(select(vec!["EUR", "usd"]))));
    (verb(), resource(), certainty, reversibility, amount, vec(label(), 0..2), 0..2_u16).prop_map(
        |(verb, resource, certainty, reversibility, amount, labels, chain)| {
            let mut effect = Effect::new(verb, resource);
            if verb != Verb::Unknown {
                effect = Effect { certainty, reversibility, ..effect };
            }
            if let Some((amount, currency)) = amount {
                effect = effect.with("amount", f64::from(amount));
                if let Some(currency) = currency {
                    effect = effect.with("currency", currency);
                }
            }
            Effect { labels, chain, ..effect }
        },
    )
}

fn action() -> impl Strategy<Value = Action> {
    let args = select(vec![
        json!({}),
        json!({"mode": "hard", "n": 2}),
        json!({"mode": 3, "deep": {"n": 1}}),
        json!({"action": "hard"}),
    ]);
    (tool(), args, vec(effect(), 1..5), prop::bool::ANY).prop_map(|(tool, args, effects, program)| {
        let make = Program { path: "/usr/bin/make".into(), digest: Some(Digest([7; 32])) };
        let programs = if program { vec![make] } else { Vec::new() };
        Action { call: RawCall::new(&tool, args), effects, programs, facts: Digest::default() }
    })
}

fn done() -> impl Strategy<Value = Done> {
    (effect(), tool(), prop::bool::weighted(0.9), 0..200_i64).prop_map(|(effect, tool, verified, hours)| Done {
        proposal: ProposalId(1),
        turn: Turn(1),
        seq: Seq(1),
        at: Moment::utc(NOW.millis - hours * 3_600_000),
        tool,
        effect: effect.with("location", "/var/backups/1"),
        verified,
    })
}

fn grant() -> impl Strategy<Value = Grant> {
    (vec(verb(), 1..6), vec(resource(), 1..4), prop::bool::ANY, prop::bool::ANY, 0..3_i64).prop_map(
        |(verbs, resources, program, whole, later)| Grant {
            id: GrantId(later as u32),
            verbs: if whole { Verb::ALL.to_vec() } else { verbs },
            resources: if whole { vec![Resource::subtree("/"), Resource::any(Kind::Path)] } else { resources },
            action: None,
            law: None,
            program: program.then(|| Program { path: "/usr/bin/make".into(), digest: Some(Digest([7; 32])) }),
            until: Until::Session,
            turn: Turn(1),
            given: Moment::utc(NOW.millis + later - 1),
            words: String::new(),
            approver: "person".into(),
            used: 0,
            revoked: false,
        },
    )
}

fn world() -> impl Strategy<Value = World> {
    let rule = || prop_oneof![4 => restricting(), 1 => exception()];
    let rules = prop_oneof![3 => vec(rule(), 0..8), 1 => vec(rule(), 8..24)];
    let latch = LatchState { cause: LatchCause::Inherited, turn: Turn(1), since: Seq(1), at: NOW };
    let asked = (vec(prop::bool::ANY, 0..4), vec(label(), 0..2), vec(label(), 0..2));
    let given = (vec(grant(), 0..3), option::weighted(0.3, Just(latch)), prop::bool::ANY);
    (rules, action(), asked, vec(done(), 0..5), given).prop_map(
        |(rules, action, (requested, intents, model_intents), done, (grants, latch, approved))| {
            let variables = [("step", Scalar::Number(2.0)), ("level", Scalar::Text("hard".into()))];
            let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            let mut world =
                World { rules, action, requested, intents, model_intents, variables, done, grants, latch };
            if approved {
                world.grants.push(approval(&world));
            }
            world
        },
    )
}

/// The grant of an `approve_once` for the action of `world` under its law.
fn approval(world: &World) -> Grant {
    let approval = super::grant::Approval { id: GrantId(9), turn: Turn(1), given: NOW, approver: "person" };
    super::grant::one_shot(&world.action, &world.audit(), approval)
}

// ---- the interpreter -------------------------------------------------------------------------------------------

/// Reads a guard as the design says it, straight from the tree.
struct Naive<'a> {
    world: &'a World,
    at: usize,
}

impl Naive<'_> {
    fn effect(&self) -> &Effect {
        &self.world.action.effects[self.at]
    }

    fn guard(&self, guard: &Guard, wide: bool) -> Truth {
        match guard {
            Guard::Always => Truth::True,
            Guard::Is(p) => self.predicate(p, wide),
            Guard::Not(g) => match self.guard(g, !wide) {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                Truth::Unknown => Truth::Unknown,
            },
            Guard::All(gs) => gs.iter().map(|g| self.guard(g, wide)).min().unwrap(),
            Guard::AnyOf(gs) => gs.iter().map(|g| self.guard(g, wide)).max().unwrap(),
        }
    }

    fn predicate(&self, predicate: &Predicate, wide: bool) -> Truth {
        let (w, e) = (self.world, self.effect());
        let yes = |b: bool| if b { Truth::True } else { Truth::False };
        match predicate {
            Predicate::IntentIs(l) => yes(w.intents.contains(l) || wide && w.model_intents.contains(l)),
            Predicate::DataScopeIs(l) => {
                let with = |e: &&Effect| e.labels.contains(l);
                let others = w.action.effects.iter().any(|e| !e.labels.is_empty() && !e.labels.contains(l));
                match (w.action.effects.iter().find(with), w.action.effects.iter().any(Effect::is_opaque)) {
                    (Some(_), _) if wide => Truth::True,
                    (_, true) => Truth::Unknown,
                    (Some(_), false) => yes(!others),
                    (None, false) => Truth::False,
                }
            }
            Predicate::ToolIs(t) => yes(t.replace('.', "_") == w.action.call.tool),
            Predicate::Arg { name, compare, value } => {
                let arg = match name.as_str() {
                    "deep.n" => w.action.call.args.get("deep").and_then(|d| d.get("n")),
                    name => w.action.call.args.get(name),
                };
                match arg {
                    _ if matches!(value, Operand::Name(n) if n == "undeclared") => Truth::Unknown,
                    None => Truth::False,
                    Some(v) if v.is_number() => self.compare(&Scalar::Number(v.as_f64().unwrap()), *compare, value),
                    Some(v) => self.compare(&Scalar::Text(v.as_str().unwrap().to_owned()), *compare, value),
                }
            }
            Predicate::Variable { name, compare, value } => {
                w.variables.get(name).map_or(Truth::Unknown, |v| self.compare(v, *compare, value))
            }
            Predicate::TurnOfTask { compare, value } => {
                self.compare(&Scalar::Number(3.0), *compare, &Operand::Number(*value))
            }
            Predicate::EffectIs(class) if e.is_opaque() => match class {
                VerbClass::One(Verb::Unknown) => Truth::True,
                class if e.verb != Verb::Unknown && class.covers(e.verb) => Truth::True,
                _ => Truth::Unknown,
            },
            Predicate::EffectIs(class) => yes(class.covers(e.verb)),
            Predicate::ResourceIn(text) => self.lies(text, wide),
            Predicate::RecipientIn(text) => {
                let goes_out =
                    [Verb::Send, Verb::Publish, Verb::Request, Verb::Pay, Verb::Grant, Verb::Schedule, Verb::Unknown];
                match Pattern::compile(text, &places()) {
                    Err(_) => Truth::Unknown,
                    Ok(_) if goes_out.contains(&e.verb) => self.lies(text, wide),
                    Ok(_) if e.is_opaque() => Truth::Unknown,
                    Ok(_) => Truth::False,
                }
            }
            Predicate::Reversible => match e.reversibility {
                Reversibility::ReadOnly | Reversibility::Reversible if e.is_opaque() => Truth::Unknown,
                Reversibility::ReadOnly | Reversibility::Reversible => Truth::True,
                Reversibility::ExternallyReversible | Reversibility::Irreversible => Truth::False,
            },
            Predicate::Requested => yes(w.requested.get(self.at) == Some(&true)),
        }
    }

    fn lies(&self, text: &str, wide: bool) -> Truth {
        let e = self.effect();
        let Ok(pattern) = Pattern::compile(text, &places()) else { return Truth::Unknown };
        let (meets, holds) = (pattern.meets(&e.resource, &places()), pattern.holds(&e.resource, &places()));
        let unresolved = e.resource.extent == Extent::Any;
        let truth = if unresolved && meets && !holds {
            Truth::Unknown
        } else if if wide { meets } else { holds } {
            Truth::True
        } else {
            Truth::False
        };
        let named = wide && !unresolved && e.verb != Verb::Unknown && truth == Truth::True;
        if e.is_opaque() && !named { Truth::Unknown } else { truth }
    }

    fn compare(&self, left: &Scalar, how: Compare, right: &Operand) -> Truth {
        let right = match right {
            Operand::Number(n) => Scalar::Number(*n),
            Operand::Text(t) => Scalar::Text(t.clone()),
            Operand::Name(name) => match self.world.variables.get(name) {
                Some(value) => value.clone(),
                None => return Truth::Unknown,
            },
        };
        let yes = match (left, &right, how) {
            (Scalar::Number(l), Scalar::Number(r), Compare::Less) => l < r,
            (Scalar::Number(l), Scalar::Number(r), Compare::AtMost) => l <= r,
            (Scalar::Number(l), Scalar::Number(r), Compare::AtLeast) => l >= r,
            (Scalar::Number(l), Scalar::Number(r), Compare::More) => l > r,
            (Scalar::Number(_), Scalar::Number(_), _) | (Scalar::Text(_), Scalar::Text(_), Compare::Equal) => {
                (*left == right) == (how == Compare::Equal)
            }
            (Scalar::Text(l), Scalar::Text(r), Compare::Unequal) => l != r,
            _ => return Truth::Unknown,
        };
        if yes { Truth::True } else { Truth::False }
    }

    /// Whether the restriction speaks: its guard, and the conditions of its consequence.
    fn speaks(&self, rule: &Rule) -> Truth {
        let tool = |t: &str| self.predicate(&Predicate::ToolIs(t.to_owned()), true);
        let arg = |name: &str, value: &Operand| {
            let (name, value) = (name.to_owned(), value.clone());
            self.predicate(&Predicate::Arg { name, compare: Compare::Equal, value }, true)
        };
        let condition = match &rule.then {
            Consequence::ForbidToolCall(t) => tool(t),
            Consequence::ForbidToolArg { tool: t, arg: a, value } => tool(t).min(arg(a, value)),
            Consequence::ForbidEnvAction(a) => tool("env_act").min(arg("action", &Operand::Text(a.clone()))),
            Consequence::ForbidEffect(class) => self.predicate(&Predicate::EffectIs(*class), true),
            Consequence::Limit { max, .. } if !max.is_finite() => Truth::Unknown,
            Consequence::RequireApproval | Consequence::RequireBefore { .. } | Consequence::Limit { .. } => {
                Truth::True
            }
            Consequence::Except(_) => Truth::False,
        };
        condition.min(self.guard(&rule.guard, true))
    }

    fn lifted(&self, law: &Law, rule: RuleId) -> Option<RuleId> {
        if law.rules().iter().any(|r| r.id == rule && r.hard) {
            return None;
        }
        let lifts = |r: &&LawRule| {
            r.rule.then == Consequence::Except(rule) && self.guard(&r.rule.guard, false) == Truth::True
        };
        law.rules().iter().find(lifts).map(|r| r.id)
    }
}

fn is_question(demand: &Demand) -> bool {
    matches!(demand, Demand::Approval | Demand::Unknown { .. })
}

fn naive_hits(world: &World, law: &Law) -> Vec<Hit> {
    let mut hits = Vec::new();
    let restrictions: Vec<&LawRule> = law.rules().iter().filter(|r| !r.rule.then.loosens()).collect();
    for at in 0..world.action.effects.len() {
        let naive = Naive { world, at };
        let mut doubts = 0;
        for (rule, restriction) in restrictions.iter().enumerate() {
            let truth = naive.speaks(&restriction.rule);
            let lifted = naive.lifted(law, restriction.id);
            let doubt = truth == Truth::Unknown && naive.effect().is_opaque();
            if truth == Truth::False || doubt && doubts == MOST_DOUBTS {
                continue;
            }
            doubts += usize::from(doubt && lifted.is_none());
            hits.push(Hit { rule, effect: at, truth, lifted });
        }
    }
    hits.sort();
    hits
}

// ---- the laws --------------------------------------------------------------------------------------------------

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_index_equals_asking_every_rule(world in world()) {
        let (law, case) = (world.law(), world.case());
        let trial = Trial { law: &law, case: &case, digest: world.action.digest(), understand: &understand, depth: 0 };
        prop_assert_eq!(trial.hits(), naive_hits(&world, &law));
    }

    #[test]
    fn adding_a_restriction_never_loosens(world in world(), more in vec(restricting(), 1..3)) {
        prop_assert!(world.with(&more).audit().decision >= world.audit().decision);
    }

    /// With every one-shot grant given under the law that holds the exception.
    #[test]
    fn removing_an_exception_never_loosens(world in world(), more in vec(exception(), 1..4), approved: bool) {
        let mut with = world.with(&more);
        with.grants.retain(|g| g.action.is_none());
        if approved {
            with.grants.push(approval(&with));
        }
        let without = World { rules: world.rules, ..with.clone() };
        prop_assert!(without.audit().decision >= with.audit().decision);
    }

    #[test]
    fn order_and_duplicates_do_not_matter(world in world(), seed in any::<u64>()) {
        let mut shuffled = world.clone();
        shuffled.rules.extend(world.rules.clone());
        shuffled.rules.sort_by_key(|r| Digest::of(format!("{seed}{r:?}").as_bytes()));
        prop_assert_eq!(shuffled.law().digest(), world.law().digest());
        prop_assert_eq!(shuffled.audit(), world.audit());
        shuffled.grants.reverse();
        prop_assert_eq!(shuffled.audit().decision, world.audit().decision);
    }

    #[test]
    fn the_same_input_gives_the_same_verdict(world in world()) {
        prop_assert_eq!(world.audit(), world.clone().audit());
    }

    #[test]
    fn a_grant_lifts_no_deny(world in world(), more in vec(grant(), 0..4)) {
        let mut bare = world.clone();
        bare.grants.clear();
        let before = bare.audit();
        let mut granted = bare.clone();
        granted.grants = more;
        granted.grants.push(approval(&bare));
        let after = granted.audit();
        prop_assert!(after.decision <= before.decision);
        let denials = |a: &Audit| a.findings.iter().filter(|f| f.level == Decision::Deny).count();
        prop_assert_eq!(denials(&before) > 0, denials(&after) > 0);
        prop_assert!(after.findings.iter().all(|f| f.granted.is_none() || is_question(&f.demand)));
    }

    #[test]
    fn a_hard_rule_is_lifted_by_nothing(world in world(), more in vec(exception(), 0..6)) {
        let mut hard = world;
        for rule in hard.rules.iter_mut().filter(|r| !r.rule.then.loosens()) {
            rule.hard = true;
        }
        let relaxed = hard.with(&more).audit();
        prop_assert!(relaxed.findings.iter().all(|f| f.lifted.is_none()));
        hard.rules.retain(|r| !r.rule.then.loosens());
        hard.grants.clear();
        let mut bare = hard.with(&more);
        bare.grants.clear();
        prop_assert_eq!(bare.audit().decision, hard.audit().decision);
    }

    /// What is unknown or cannot be read is a question at least, until a person answers it.
    #[test]
    fn neither_unknown_nor_an_error_allows(world in world()) {
        let law = world.law();
        let unanswered = World { grants: Vec::new(), ..world.clone() };
        let audit = unanswered.audit();
        for hit in naive_hits(&world, &law) {
            let rule = law.rules().iter().filter(|r| !r.rule.then.loosens()).nth(hit.rule).unwrap();
            let settled = matches!(rule.rule.then, Consequence::RequireBefore { .. } | Consequence::Limit { .. });
            if hit.lifted.is_none() && !settled {
                prop_assert!(audit.decision >= Decision::Ask, "{:?}", rule);
            }
            if hit.lifted.is_none() && settled && hit.truth == Truth::Unknown
                && world.action.effects[hit.effect].is_opaque() {
                prop_assert!(audit.decision >= Decision::Ask, "{:?}", rule);
            }
        }
        for broken in [Predicate::ResourceIn("a/[".into()), Predicate::Variable {
            name: "undeclared".into(), compare: Compare::Less, value: Operand::Number(1.0) }] {
            let rule = Rule { guard: Guard::Is(broken.clone()), then: Consequence::RequireApproval };
            let erring = LawRule { id: RuleId::said(1), hard: false, rule, once: None };
            let mut only = unanswered.clone();
            only.rules = vec![erring.clone()];
            prop_assert_eq!(only.audit().decision.max(Decision::Ask), only.audit().decision);
            // An exception that cannot be read lifts nothing.
            let guard = Guard::Is(broken);
            only.rules.push(LawRule { id: RuleId::said(2), hard: false, once: None,
                rule: Rule { guard, then: Consequence::Except(RuleId::said(1)) } });
            prop_assert!(only.audit().decision >= Decision::Ask);
        }
    }

    #[test]
    fn every_verdict_cites_rules_and_no_open_finding_allows(world in world()) {
        let audit = world.audit();
        let strictest = audit.open().map(|f| f.level).max();
        prop_assert_eq!(audit.decision, strictest.unwrap_or(Decision::Allow));
        let known: Vec<RuleId> = world.rules.iter().map(|r| r.id).chain([super::latch::LATCH]).collect();
        prop_assert!(audit.findings.iter().all(|f| known.contains(&f.rule)));
        for at in 0..world.action.effects.len() {
            prop_assert_eq!(audit.lawful.contains(&at), audit.open().all(|f| f.effect != at));
        }
    }

    /// A yes given once answers every question that a yes can answer.
    #[test]
    fn approve_once_leaves_no_question_that_it_could_answer(world in world()) {
        let mut asked = world;
        asked.grants = vec![approval(&asked)];
        let open = asked.audit();
        prop_assert!(open.open().all(|f| !is_question(&f.demand)));
    }

    /// Exceptions made for a denied action take away its denials, and only from this very action.
    #[test]
    fn relaxations_lift_what_denied_and_bind_to_the_action(world in world()) {
        let law = world.law();
        let audit = world.audit();
        let Some(made) = super::grant::one_shot_exceptions(&world.action, &audit, &law) else {
            let hard = |id: RuleId| world.rules.iter().any(|r| r.id == id && r.hard);
            prop_assert!(audit.open().any(|f| f.level == Decision::Deny && hard(f.rule)));
            return Ok(());
        };
        let made: Vec<LawRule> = made.into_iter().zip(50..)
            .map(|(r, n)| LawRule { id: RuleId::said(n), hard: false, rule: r.rule, once: Some(r.once) }).collect();
        let relaxed = world.with(&made);
        prop_assert_eq!(relaxed.law().digest(), law.digest());
        prop_assert!(relaxed.audit().decision < Decision::Deny);
        let mut other = relaxed;
        other.action.facts = Digest([1; 32]);
        let without = World { action: other.action.clone(), ..world };
        prop_assert_eq!(other.audit(), without.audit());
    }
}
