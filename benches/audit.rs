//! One audit of one action against 10 to 10,000 rules: median and spread, in nanoseconds.
//!
//! Most rules speak of other tools, verbs and places, as in a long-lived workspace; a few speak of the action. The
//! digest that binds an audit to its action is part of the time and is shown apart as well.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::{collections::BTreeMap, hint::black_box, time::Instant};
use weal::{
    domain::{Action, Digest, Effect, Kind, Moment, Places, RawCall, Resource, RuleId, Verb},
    policy::{
        Case, Law, LawRule, audit,
        lang::ast::{Compare, Consequence, Guard, Operand, Predicate, Rule, Target, VerbClass, Window},
    },
};

fn main() {
    let actions = [
        (
            "a read that nothing speaks of",
            call("fs_read", Effect::new(Verb::Read, Resource::path("src/lib/main.rs"))),
        ),
        (
            "a delete that no rule meets",
            call("fs_delete", Effect::new(Verb::Delete, Resource::path("area7/part7/x"))),
        ),
        (
            "a delete of a subtree that three rules speak of",
            call("fs_delete", Effect::new(Verb::Delete, Resource::subtree("area7/part3"))),
        ),
        ("a mail", call("email_send", Effect::new(Verb::Send, Resource::named(Kind::Mail, "bob@example.org")))),
        (
            "an opaque command",
            call("shell_exec", Effect::new(Verb::Unknown, Resource::named(Kind::Program, "/usr/bin/make"))),
        ),
    ];
    for (what, action) in &actions {
        let digest = measure(|| {
            black_box(action.digest());
        });
        println!("{what} (its digest alone: {digest})");
        for count in [10, 100, 1_000, 10_000] {
            let law = law(count);
            let variables = BTreeMap::new();
            let case = case(action, &variables);
            let decision = audit(&law, &case, &|_| None).decision.word();
            let time = measure(|| {
                black_box(audit(black_box(&law), black_box(&case), &|_| None));
            });
            println!("  {count:>6} rules  {time}  {decision}");
        }
    }
}

fn call(tool: &str, effect: Effect) -> Action {
    let args = serde_json::json!({ "path": effect.resource.to_string() });
    Action { call: RawCall::new(tool, args), effects: vec![effect], programs: Vec::new(), facts: Digest::default() }
}

fn case<'a>(action: &'a Action, variables: &'a BTreeMap<String, weal::domain::Scalar>) -> Case<'a> {
    Case {
        action,
        requested: &[true],
        intents: &[],
        offers: &[],
        model_intents: &[],
        variables,
        done: &[],
        grants: &[],
        latch: None,
        task_turn: 1,
        now: Moment::utc(0),
    }
}

/// A law of `count` rules: a tenth core-like, the others about places, tools, receivers and intents of their own.
fn law(count: u32) -> Law {
    let places = Places { workspace: "/home/ann/work/project".into(), home: "/home/ann".into() };
    let rules = (0..count).map(|n| LawRule { id: RuleId::said(n), hard: false, rule: rule(n), once: None });
    Law::compile(rules, places, &["level"]).0
}

fn rule(n: u32) -> Rule {
    let is = Guard::Is;
    let resource = |text: String| is(Predicate::ResourceIn(text));
    let verb = |verb| is(Predicate::EffectIs(VerbClass::One(verb)));
    let place = format!("area{}/part{}/**", n / 10 % 100, n % 10);
    match n % 10 {
        0 => Rule { guard: resource(place), then: Consequence::ForbidEffect(VerbClass::Write) },
        1 => Rule {
            guard: Guard::All(vec![verb(Verb::Delete), resource(format!("area{}/part3/*.tar.gz", n / 10))]),
            then: Consequence::RequireBefore { verb: Verb::Backup, target: Target::SameResource },
        },
        2 => Rule {
            guard: Guard::All(vec![
                is(Predicate::IntentIs(format!("task{n}"))),
                is(Predicate::DataScopeIs("internal".into())),
                is(Predicate::ToolIs(format!("tool_{n}"))),
            ]),
            then: Consequence::ForbidToolCall(format!("tool_{n}")),
        },
        3 => Rule {
            guard: resource(format!("area{}/part3/**", n / 10)),
            then: Consequence::ForbidEffect(VerbClass::One(Verb::Delete)),
        },
        4 => Rule {
            guard: Guard::All(vec![verb(Verb::Send), resource(format!("mail:*@site{n}.org"))]),
            then: Consequence::RequireApproval,
        },
        5 => Rule {
            guard: Guard::All(vec![verb(Verb::Send), resource(format!("mail:person{n}@example.org"))]),
            then: Consequence::RequireApproval,
        },
        6 => Rule {
            guard: Guard::All(vec![verb(Verb::Pay), resource(format!("account:shop{n}"))]),
            then: Consequence::Limit {
                attr: "amount".into(),
                max: 50.0,
                unit: Some("EUR".into()),
                window: Window::CalendarDay,
            },
        },
        7 => Rule {
            guard: is(Predicate::Variable {
                name: "level".into(),
                compare: Compare::Less,
                value: Operand::Number(3.0),
            }),
            then: Consequence::ForbidToolCall(format!("tool_{n}")),
        },
        8 => Rule { guard: resource(format!("/srv/data{n}/**")), then: Consequence::ForbidEffect(VerbClass::Any) },
        _ => Rule { guard: verb(Verb::Publish), then: Consequence::RequireApproval },
    }
}

/// Median, least and most of 200 batches, per call.
fn measure(mut run: impl FnMut()) -> String {
    let batch = 50;
    let mut time = || {
        let start = Instant::now();
        (0..batch).for_each(|_| run());
        start.elapsed().as_nanos() as u64 / batch
    };
    for _ in 0..20 {
        time();
    }
    let mut all: Vec<u64> = (0..200).map(|_| time()).collect();
    all.sort_unstable();
    let at = |n: usize| all.get(n).copied().unwrap_or_default();
    format!("{:>7} ns [{}..{}]", at(100), at(0), at(199))
}
