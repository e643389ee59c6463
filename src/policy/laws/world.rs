//! Random worlds: rules, an action, what was done before, what was granted.

use crate::{
    domain::{
        Action, Audit, Certainty, Digest, Done, Effect, Extent, Grant, GrantId, Kind, LatchCause, LatchState, Moment,
        Places, Program, ProposalId, RawCall, Resource, Reversibility, RuleId, Scalar, Seq, Turn, Until, Verb,
    },
    policy::{
        Case, Law, LawRule, audit,
        grant::{Approval, one_shot},
        lang::ast::{Compare, Consequence, Guard, Operand, Predicate, Rule, Target, VerbClass, Window},
    },
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json;
use std::collections::BTreeMap;

const NOW: Moment = Moment::utc(1_000 * 86_400_000);
const DECLARED: &[&str] = &["step", "level", "unset"];

pub(super) fn places() -> Places {
    Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() }
}

/// Everything an audit looks at, owned.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub rules: Vec<LawRule>,
    pub action: Action,
    pub requested: Vec<bool>,
    pub intents: Vec<String>,
    pub model_intents: Vec<String>,
    pub variables: BTreeMap<String, Scalar>,
    pub done: Vec<Done>,
    pub grants: Vec<Grant>,
    pub latch: Option<LatchState>,
}

impl World {
    pub(super) fn law(&self) -> Law {
        Law::compile(self.rules.clone(), places(), DECLARED).0
    }

    pub(super) fn case(&self) -> Case<'_> {
        Case {
            action: &self.action,
            requested: &self.requested,
            intents: &self.intents,
            offers: &[],
            model_intents: &self.model_intents,
            variables: &self.variables,
            done: &self.done,
            grants: &self.grants,
            latch: self.latch.as_ref(),
            task_turn: 3,
            now: NOW,
        }
    }

    pub(super) fn audit(&self) -> Audit {
        audit(&self.law(), &self.case(), &understand)
    }

    pub(super) fn with(&self, more: &[LawRule]) -> World {
        World { rules: self.rules.iter().chain(more).cloned().collect(), ..self.clone() }
    }
}

/// A repair step does what its name says to everything under its path.
pub(super) fn understand(call: &RawCall) -> Option<Action> {
    let verb = match call.tool.as_str() {
        "fs_backup" => Verb::Backup,
        "fs_list" => Verb::List,
        "fs_read" => Verb::Read,
        _ => return None,
    };
    let effects = vec![Effect::new(verb, Resource::subtree(call.text("path")?))];
    Some(Action { call: call.clone(), effects, programs: Vec::new(), facts: Digest::default() })
}

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

pub(super) fn restricting() -> impl Strategy<Value = LawRule> {
    (id(), prop::bool::weighted(0.2), guard(), restriction()).prop_map(|(id, hard, guard, then)| LawRule {
        id,
        hard,
        rule: Rule { guard, then },
        once: None,
    })
}

pub(super) fn exception() -> impl Strategy<Value = LawRule> {
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

pub(super) fn grant() -> impl Strategy<Value = Grant> {
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

pub(super) fn world() -> impl Strategy<Value = World> {
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
pub(super) fn approval(world: &World) -> Grant {
    let approval = Approval { id: GrantId(9), turn: Turn(1), given: NOW, approver: "person" };
    one_shot(&world.action, &world.audit(), approval)
}
