//! The language by laws and examples: what is printed reads back, what is wrong is named, nothing panics.

use super::{ast::*, *};
use crate::domain::{RuleId, Verb};
use proptest::prelude::*;

/// What the seeds write, and one rule of every shape, as they print.
const AS_PRINTED: [&str; 23] = [
    "if intent_is(\"database_export\") and data_scope_is(\"internal\") and tool_is(\"send_data\") then forbid_tool_call(\"send_data\")",
    "if pool_resource_level < threshold and tool_is(\"harvest\") then forbid_tool_call(\"harvest\")",
    "if effect_is(write) and resource_in(\"records/**\") then forbid_effect(write)",
    "if effect_is(delete) then require_before(backup, same_resource)",
    "if effect_is(delete) then require_before(list, \"path/**\")",
    "if effect_is(pay) then limit(amount, 50 EUR, per calendar day)",
    "if effect_is(send) then limit(count, 3, per rolling 12 h)",
    "if effect_is(send) then limit(count, 3, per rolling 7 d)",
    "if effect_is(send) then limit(count, 0.5, per calendar week)",
    "if effect_is(send) then limit(count, -1, per call)",
    "if effect_is(send) then limit(size, 3 \"MiB/s\", per session)",
    "if effect_is(send) then limit(count, 3, per total)",
    "if resource_in(\"build/**\") and (effect_is(delete) or effect_is(overwrite)) then except(§2)",
    "if always then require_approval()",
    "if not (effect_is(read) and reversible()) or not not requested() then forbid_effect(any)",
    "if effect_is(read) and reversible() or always then forbid_env_action(\"reboot\")",
    "if arg(to) == \"x\\\"y\\\\z\\n\" then forbid_tool_arg(\"email_send\", \"to\", \"all@example.org\")",
    "if arg(\"a b\") != 3 then forbid_tool_arg(\"t\", \"a\", 3)",
    "if turn_of_task >= 20 then forbid_tool_call(\"t\")",
    "if recipient_in(\"mail:*@example.org\") then require_approval()",
    "if env.pool-level <= other.level then except(s1)",
    "if latched == \"yes\" then except(c4)",
    "if größe > 1 then limit(größe, 5 °, per call)",
];

#[test]
fn printed_rules_read_back_as_they_were() {
    for text in AS_PRINTED {
        let text = text.replace("5 °", "5 Grad");
        let rule = parse(&text).unwrap_or_else(|e| panic!("{}", e[0].render(&text)));
        assert_eq!(rule.to_string(), text);
    }
}

#[test]
fn other_ways_of_writing_read_as_the_same() {
    for (text, printed) in [
        (
            "if effect_is(\"delete\") then forbid_effect(\"delete\")",
            "if effect_is(delete) then forbid_effect(delete)",
        ),
        ("if always then except(u2)", "if always then except(§2)"),
        ("if tool_is(fs_delete) then except(\"§2\")", "if tool_is(\"fs_delete\") then except(§2)"),
        ("if a<1e3 and(b==-.5)then require_approval()", "if a < 1000 and b == -0.5 then require_approval()"),
        ("if arg(force) == true then forbid_tool_call(t)", "if arg(force) == \"true\" then forbid_tool_call(\"t\")"),
        (
            "if a == 1 and (b == 1 and c == 1) or (d == 1 or (e == 1)) then require_approval()",
            "if a == 1 and b == 1 and c == 1 or d == 1 or e == 1 then require_approval()",
        ),
        ("if\n  always\n  then\n  limit(n,50EUR,per call)", "if always then limit(n, 50 EUR, per call)"),
    ] {
        let rule = parse(text).unwrap_or_else(|e| panic!("{}", e[0].render(text)));
        assert_eq!(rule.to_string(), printed);
    }
}

#[test]
fn the_first_mistake_is_named_and_marked() {
    // text, what is marked, part of the message, part of the hint
    for (text, marked, message, hint) in [
        ("if efect_is(delete) then require_approval()", "efect_is", "no condition `efect_is`", "`effect_is`"),
        ("if effect_is(delte) then require_approval()", "delte", "no verb `delte`", "`delete`"),
        ("if effect_is(erase) then require_approval()", "erase", "no verb `erase`", "the verbs are read, list"),
        ("if always then forbid_efect(delete)", "forbid_efect", "no consequence", "`forbid_effect`"),
        ("if always then limit(n, 3, per sesion)", "sesion", "no window `sesion`", "`session`"),
        ("if always then limit(n, 3, per day)", "day", "two ways", "per calendar day"),
        ("if always then limit(n, 3 per day)", "per", "`,` is expected", "limit("),
        ("if always then limit(n, 3, per rolling 1.5 h)", "1.5", "whole number", "12 h"),
        ("if resource_in(\"hosts:x\") then require_approval()", "\"hosts:x\"", "no kind `hosts:`", "`host`"),
        ("if resource_in(\"a[b\") then require_approval()", "\"a[b\"", "not closed", ""),
        ("forbid_effect(delete)", "forbid_effect", "without a condition", "if always then"),
        ("effect_is(delete) then require_approval()", "effect_is", "`if` is expected", "if … then"),
        ("if effect_is(delete)", "", "no consequence", "then"),
        ("if effect_is(delete) require_approval()", "require_approval", "`then` is missing", "then require_approval"),
        ("if a == 1 adn b == 2 then require_approval()", "adn", "`and`, `or` or `then`", "`and`"),
        ("if a = 1 then require_approval()", "=", "no comparison", "`==`"),
        ("if a == 1 && b == 1 then require_approval()", "&&", "joins nothing", "`and`"),
        ("if step < \"x\" then require_approval()", "\"x\"", "numbers only", "=="),
        ("if step < then require_approval()", "then", "a value is expected", "variable"),
        ("if reversible then require_approval()", "then", "`(` after `reversible`", "reversible()"),
        ("if (a == 1 then require_approval()", "(", "not closed", ")"),
        ("if a == 1) then require_approval()", ")", "closes nothing", ""),
        ("if always then require_approval() and x", "and", "the end of the rule is expected", "one consequence"),
        ("if require_approval() then forbid_effect(any)", "require_approval", "no condition", "behind `then`"),
        ("if tool_is('x') then require_approval()", "'x'", "double quotes", "\"x\""),
        ("if tool_is(\"x) then require_approval()", "\"x) then require_approval()", "not closed", "missing"),
        ("if tool_is(\"a\\d\") then require_approval()", "\\d", "no escape", "\\\\"),
        ("if always then except(x9)", "x9", "no rule id", "§2"),
        ("if danger then require_approval()", "danger", "alone is no condition", "danger == …"),
        ("", "", "`if` is expected", "if … then"),
    ] {
        let errors = parse(text).expect_err(text);
        let first = &errors[0];
        assert!(first.message.contains(message), "{text}: {}", first.message);
        assert!(first.hint.as_deref().unwrap_or_default().contains(hint), "{text}: {:?}", first.hint);
        assert_eq!(first.span.of(text).unwrap_or_default(), marked, "{text}");
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    }
}

#[test]
fn every_mistake_is_reported_and_shown_in_its_line() {
    let text = "if efect_is(delete)\n   and süper = 1 or tol_is(\"x\")\n then forbid_efect(delete)";
    let errors = parse(text).unwrap_err();
    let marked: Vec<_> = errors.iter().map(|e| e.span.of(text).unwrap()).collect();
    assert_eq!(marked, ["efect_is", "=", "tol_is", "forbid_efect"]);
    assert_eq!(
        errors[1].render(text),
        "`=` is no comparison\n     and süper = 1 or tol_is(\"x\")\n               ^\n  did you mean `==`?"
    );
}

#[test]
fn depth_and_length_are_bounded() {
    let nested = |n: usize| format!("if {}always{} then require_approval()", "(".repeat(n), ")".repeat(n));
    assert!(parse(&nested(60)).is_ok());
    for text in [nested(100_000), format!("if {} always then require_approval()", "not ".repeat(100_000))] {
        let errors = parse(&text).unwrap_err();
        assert_eq!(errors.len(), 1);
        assert!(errors[0].message.contains("nested too deep"));
    }
    let wide = format!("if {} then require_approval()", vec!["a == 1"; 50_000].join(" and "));
    assert!(parse(&wide).is_ok());
    assert_eq!(parse(&format!("if {}", "x ( ".repeat(50_000))).unwrap_err().len(), 1);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_]{1,8}", "[a-zé\"\\\\ \n\t'(){}§,]{0,10}", any::<String>()]
}

fn name() -> impl Strategy<Value = String> {
    "[a-zäA-Z_][a-z0-9_]{0,6}([.-][a-z0-9_]{1,3})?".prop_filter("a word of the language", |w| {
        !["if", "then", "and", "or", "not", "always", "true", "false", "arg", "turn_of_task", "requested"]
            .contains(&w.as_str())
    })
}

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}(/\\*\\*)?",
        "(host|mail|branch):[a-z*.]{1,6}",
        "[~./]{0,1}/?[a-z*?\"]{1,5}/[{]a,b[}]\\\\*",
        "[a-c]*\\[!a-z\\]",
    ]
    .prop_filter("a pattern", |p| crate::policy::pattern::Pattern::check(p).is_ok())
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<i32>().prop_map(f64::from),
        any::<f64>().prop_filter("finite", |n| n.is_finite()),
        Just(-0.0),
        Just(f64::MIN_POSITIVE)
    ]
}

fn comparison() -> impl Strategy<Value = (Compare, Operand)> {
    let any_compare = || prop::sample::select(Compare::ALL.to_vec());
    prop_oneof![
        (any_compare(), number()).prop_map(|(c, n)| (c, Operand::Number(n))),
        (any_compare(), name()).prop_map(|(c, n)| (c, Operand::Name(n))),
        (prop::sample::select(vec![Compare::Equal, Compare::Unequal]), text())
            .prop_map(|(c, t)| (c, Operand::Text(t))),
    ]
}

fn verb() -> impl Strategy<Value = Verb> {
    prop::sample::select(Verb::ALL.to_vec())
}

fn verb_class() -> impl Strategy<Value = VerbClass> {
    prop_oneof![verb().prop_map(VerbClass::One), Just(VerbClass::Write), Just(VerbClass::Any)]
}

fn predicate() -> impl Strategy<Value = Predicate> {
    prop_oneof![
        text().prop_map(Predicate::IntentIs),
        text().prop_map(Predicate::DataScopeIs),
        text().prop_map(Predicate::ToolIs),
        (text(), comparison()).prop_map(|(name, (compare, value))| Predicate::Arg { name, compare, value }),
        (name(), comparison()).prop_map(|(name, (compare, value))| Predicate::Variable { name, compare, value }),
        (prop::sample::select(Compare::ALL.to_vec()), number())
            .prop_map(|(compare, value)| Predicate::TurnOfTask { compare, value }),
        verb_class().prop_map(Predicate::EffectIs),
        pattern().prop_map(Predicate::ResourceIn),
        pattern().prop_map(Predicate::RecipientIn),
        Just(Predicate::Reversible),
        Just(Predicate::Requested),
    ]
}

fn guard() -> impl Strategy<Value = Guard> {
    prop_oneof![1 => Just(Guard::Always), 9 => predicate().prop_map(Guard::Is)].prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|g| Guard::Not(Box::new(g))),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Guard::all),
            prop::collection::vec(inner, 0..4).prop_map(Guard::any_of),
        ]
    })
}

fn consequence() -> impl Strategy<Value = Consequence> {
    let window = prop_oneof![
        Just(Window::Call),
        Just(Window::Session),
        Just(Window::Total),
        (1..u32::MAX).prop_map(Window::RollingHours),
        (1..u32::MAX).prop_map(Window::RollingDays),
        Just(Window::CalendarDay),
        Just(Window::CalendarWeek),
    ];
    let target = prop_oneof![Just(Target::SameResource), pattern().prop_map(Target::Named)];
    let rule = (0..3, any::<u32>()).prop_map(|(o, n)| match o {
        0 => RuleId::core(n),
        1 => RuleId::said(n),
        _ => RuleId::scar(n),
    });
    prop_oneof![
        text().prop_map(Consequence::ForbidToolCall),
        (text(), text(), comparison()).prop_map(|(tool, arg, (_, value))| Consequence::ForbidToolArg {
            tool,
            arg,
            value
        }),
        text().prop_map(Consequence::ForbidEnvAction),
        verb_class().prop_map(Consequence::ForbidEffect),
        Just(Consequence::RequireApproval),
        (verb(), target).prop_map(|(verb, target)| Consequence::RequireBefore { verb, target }),
        (text(), number(), prop::option::of(text()), window)
            .prop_map(|(attr, max, unit, window)| Consequence::Limit { attr, max, unit, window }),
        rule.prop_map(Consequence::Except),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    (guard(), consequence()).prop_map(|(guard, then)| Rule { guard, then })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn round_trip(rule in rule()) {
        let text = rule.to_string();
        match parse(&text) {
            Ok(read) => prop_assert_eq!(read, rule),
            Err(errors) => prop_assert!(false, "{}", errors[0].render(&text)),
        }
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place(text in any::<String>()) {
        refused_in_place(&text)?;
    }

    /// Rules with a piece cut out, doubled or replaced.
    #[test]
    fn spoilt_rules_are_read_or_refused_with_a_place(
        rule in rule(), from in 0_usize..120, length in 0_usize..12, put in "[a-z(),\"<=!§ \\\\]{0,4}"
    ) {
        let text: Vec<char> = rule.to_string().chars().collect();
        let cut = |n: usize| n.min(text.len());
        let spoilt: String = [&text[..cut(from)], &put.chars().collect::<Vec<_>>(), &text[cut(from + length)..]].concat().iter().collect();
        refused_in_place(&spoilt)?;
    }
}

/// What is read prints and reads back; what is not has spans in the text that can be shown.
fn refused_in_place(text: &str) -> Result<(), TestCaseError> {
    match parse(text) {
        Ok(rule) => prop_assert_eq!(parse(&rule.to_string()).ok(), Some(rule)),
        Err(errors) => {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.span.start <= error.span.end);
                prop_assert!(error.span.start as usize <= text.chars().count());
                prop_assert!(error.render(text).contains('^'));
            }
        }
    }
    Ok(())
}
