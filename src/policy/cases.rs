//! The audit by example: rules as they are written, effects as they are shown, what must come of it.

use super::{
    Case, Law, LawRule, audit,
    grant::{Approval, one_shot, one_shot_exceptions, session_scope},
    lang::parse,
    latch::{Denied, LATCH, Occasion, engage},
    receipt::{Citation, receipt},
    schema,
};
use crate::domain::{
    Action, Audit, Certainty, Decision, Demand, Digest, Done, Effect, Grant, GrantId, Kind, LatchCause, LatchState,
    Moment, Places, Program, ProposalId, RawCall, Resource, Reversibility, RuleId, Seq, Turn, Verb,
};
use serde_json::json;
use std::collections::BTreeMap;

const NOW: Moment = Moment::utc(20_000 * 86_400_000 + 12 * 3_600_000);

fn places() -> Places {
    Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() }
}

/// `§1 hard: if … then …`; the number counts from 1 if left out.
fn rules(texts: &[&str]) -> Vec<LawRule> {
    let rule = |(n, text): (u32, &&str)| {
        let (head, text) = text
            .split_once(": ")
            .filter(|(head, _)| !head.contains(' ') || head.ends_with("hard"))
            .unwrap_or(("", text));
        let id = head.trim_end_matches("hard").trim();
        let id = if id.is_empty() { RuleId::said(n) } else { id.parse().unwrap() };
        let rule = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        LawRule { id, hard: head.ends_with("hard"), rule, once: None }
    };
    (1..).zip(texts).map(rule).collect()
}

fn law(texts: &[&str]) -> Law {
    Law::compile(rules(texts), places(), &["step"]).0
}

/// `delete records/**`; a `?` in front makes it opaque, a `!` irreversible, a `~` reversible.
fn effect(text: &str) -> Effect {
    let plain = text.trim_start_matches(['?', '!', '~']);
    let (verb, resource) = plain.split_once(' ').unwrap();
    let mut effect = Effect::new(verb.parse().unwrap(), resource.parse().unwrap());
    match text.chars().next() {
        Some('?') => effect.certainty = Certainty::Opaque,
        Some('!') => effect.reversibility = Reversibility::Irreversible,
        Some('~') => effect.reversibility = Reversibility::Reversible,
        _ => {}
    }
    effect
}

fn action(effects: &[&str]) -> Action {
    let effects = effects.iter().map(|e| effect(e)).collect();
    Action { call: RawCall::new("shell_exec", json!({})), effects, programs: Vec::new(), facts: Digest::default() }
}

fn done(effect: Effect) -> Done {
    let at = Moment::utc(NOW.millis - 3_600_000);
    Done { proposal: ProposalId(1), turn: Turn(1), seq: Seq(1), at, tool: "x".into(), effect, verified: true }
}

fn backed_up(path: &str) -> Done {
    done(Effect::new(Verb::Backup, path.parse().unwrap()).with("location", "/var/lib/weal/backups/1"))
}

static NONE: BTreeMap<String, crate::domain::Scalar> = BTreeMap::new();

fn case(action: &Action) -> Case<'_> {
    Case {
        action,
        requested: &[],
        intents: &[],
        offers: &[],
        model_intents: &[],
        variables: &NONE,
        done: &[],
        grants: &[],
        latch: None,
        task_turn: 1,
        now: NOW,
    }
}

/// Backups, listings and readings of what a path names and everything below it.
fn understand(call: &RawCall) -> Option<Action> {
    let verb = call.tool.strip_prefix("fs_").and_then(Verb::from_word)?;
    let effects = vec![Effect::new(verb, Resource::subtree(call.text("path")?))];
    Some(Action { call: call.clone(), effects, programs: Vec::new(), facts: Digest::default() })
}

fn verdict(law: &Law, case: &Case<'_>) -> Audit {
    audit(law, case, &understand)
}

fn decide(texts: &[&str], effects: &[&str]) -> Decision {
    verdict(&law(texts), &case(&action(effects))).decision
}

const ALLOW: Decision = Decision::Allow;
const REPAIR: Decision = Decision::Repair;
const ASK: Decision = Decision::Ask;
const DENY: Decision = Decision::Deny;

const NO_CONTRACTS: &str = r#"if resource_in("contracts/**") then forbid_effect(write)"#;
const BACKUP_FIRST: &str =
    r#"if effect_is(delete) and resource_in("records/**") then require_before(backup, same_resource)"#;
const ASK_DELETE: &str = "if effect_is(delete) then require_approval()";
const ASK_OPAQUE: &str = "if effect_is(unknown) then require_approval()";

#[test]
fn guards_are_wide_in_restrictions_and_narrow_in_exceptions() {
    let outside = r#"if not resource_in("./**") then forbid_effect(write)"#;
    let lifted = r#"if resource_in("contracts/drafts/**") then except(§1)"#;
    let not_old = r#"if not resource_in("contracts/old/**") then except(§1)"#;
    for (law, effects, want) in [
        (&[NO_CONTRACTS][..], &["delete ./**"][..], DENY),
        (&[NO_CONTRACTS], &["delete contracts/a"], DENY),
        (&[NO_CONTRACTS], &["read contracts/a"], ALLOW),
        (&[NO_CONTRACTS], &["delete contracts2/a"], ALLOW),
        (&[NO_CONTRACTS], &["delete src", "modify contracts/a"], DENY),
        (&[NO_CONTRACTS], &["delete path:*"], ASK),
        (&[NO_CONTRACTS], &["delete host:contracts"], ALLOW),
        (&[outside], &["create a/b"], ALLOW),
        (&[outside], &["create /etc/x"], DENY),
        (&[outside], &["create ../**"], DENY),
        (&[outside], &["create /**/x"], DENY),
        (&[NO_CONTRACTS, lifted], &["modify contracts/drafts/a"], ALLOW),
        (&[NO_CONTRACTS, lifted], &["modify contracts/a"], DENY),
        (&[NO_CONTRACTS, lifted], &["delete contracts/**"], DENY),
        (&[NO_CONTRACTS, not_old], &["modify contracts/a"], ALLOW),
        (&[NO_CONTRACTS, not_old], &["modify contracts/old/a"], DENY),
        (&[NO_CONTRACTS, not_old], &["delete contracts/**"], DENY),
    ] {
        assert_eq!(decide(law, effects), want, "{law:?} {effects:?}");
    }
}

#[test]
fn what_cannot_be_told_is_asked() {
    let mode = r#"if arg(mode) == "hard" then forbid_effect(any)"#;
    let many = "if arg(n) > 3 then forbid_effect(any)";
    let step = "if step > 3 then forbid_effect(any)";
    let undeclared = "if nobody > 3 then forbid_effect(any)";
    for (text, args, want) in [
        (mode, json!({"mode": "hard"}), DENY),
        (mode, json!({"mode": "soft"}), ALLOW),
        (mode, json!({}), ALLOW),
        (mode, json!({"mode": 7}), ASK),
        (mode, json!({"mode": ["hard"]}), ASK),
        (many, json!({"n": 4}), DENY),
        (many, json!({"n": "4"}), ASK),
        (many, json!({}), ALLOW),
        (step, json!({}), ASK),
        (undeclared, json!({}), ASK),
        ("if not arg(mode) == \"hard\" then forbid_effect(any)", json!({}), DENY),
        ("if always then forbid_tool_arg(\"shell_exec\", \"mode\", \"hard\")", json!({"mode": "hard"}), DENY),
        ("if always then forbid_tool_arg(\"shell_exec\", \"mode\", \"hard\")", json!({"mode": "soft"}), ALLOW),
        ("if always then forbid_tool_arg(\"fs_delete\", \"mode\", \"hard\")", json!({"mode": "hard"}), ALLOW),
        ("if always then forbid_tool_call(\"shell.exec\")", json!({}), DENY),
        ("if always then forbid_tool_call(\"fs_delete\")", json!({}), ALLOW),
        ("if always then forbid_env_action(\"harvest\")", json!({"action": "harvest"}), ALLOW),
    ] {
        let action = Action { call: RawCall::new("shell_exec", args), ..action(&["modify a"]) };
        assert_eq!(verdict(&law(&[text]), &case(&action)).decision, want, "{text} {}", action.call.args);
    }
    let harvest = Action { call: RawCall::new("env.act", json!({"action": "harvest"})), ..action(&["set thing:x"]) };
    assert_eq!(verdict(&law(&["if always then forbid_env_action(\"harvest\")"]), &case(&harvest)).decision, DENY);
    let (_, unenforceable) = Law::compile(rules(&[undeclared, step]), places(), &["step"]);
    assert_eq!(unenforceable.iter().map(|u| u.id).collect::<Vec<_>>(), [RuleId::said(1)]);
}

#[test]
fn labels_that_a_model_proposes_only_tighten() {
    let proposed = ["export".to_owned()];
    let action = action(&["send mail:bob@x.org"]);
    for (texts, want) in [
        (&["if intent_is(\"export\") then forbid_effect(send)"][..], DENY),
        (&["if not intent_is(\"export\") then forbid_effect(send)"], DENY),
        (&["if always then forbid_effect(send)", "if intent_is(\"export\") then except(§1)"], DENY),
        (&["if always then forbid_effect(send)", "if not intent_is(\"export\") then except(§1)"], DENY),
        (&["if always then forbid_effect(send)", "if not intent_is(\"tidy\") then except(§1)"], ALLOW),
    ] {
        let case = Case { model_intents: &proposed, ..case(&action) };
        assert_eq!(verdict(&law(texts), &case).decision, want, "{texts:?}");
    }
}

#[test]
fn a_program_that_cannot_be_understood_asks_once_and_not_ten_thousand_times() {
    let many: Vec<String> =
        (0..1_000).map(|n| format!(r#"if resource_in("area{n}/**") then forbid_effect(delete)"#)).collect();
    let texts: Vec<&str> = [ASK_OPAQUE].into_iter().chain(many.iter().map(String::as_str)).collect();
    let law = law(&texts);
    let make = Program { path: "/usr/bin/make".into(), digest: Some(Digest([1; 32])) };
    let action =
        Action { programs: vec![make.clone()], ..action(&["execute program:/usr/bin/make", "unknown path:*"]) };
    let asked = verdict(&law, &case(&action));
    assert_eq!(asked.decision, ASK);
    assert_eq!(asked.findings.len(), 1 + super::audit::MOST_DOUBTS);
    assert_eq!(asked.lawful, [0]);

    let approval = Approval { id: GrantId(1), turn: Turn(1), given: NOW, approver: "person" };
    let scope = session_scope(&action, &asked, false).unwrap();
    assert!(scope.words.starts_with("running /usr/bin/make with exactly its present content"), "{}", scope.words);
    assert_eq!(session_scope(&action, &asked, true), None);
    let grants = [scope.grant(approval)];
    let granted = |action: &Action, latch: Option<&LatchState>| {
        verdict(&law, &Case { grants: &grants, latch, ..case(action) }).decision
    };
    let changed = Program { digest: Some(Digest([2; 32])), ..make.clone() };
    assert_eq!(granted(&action, None), ALLOW);
    assert_eq!(granted(&Action { programs: vec![changed.clone()], ..action.clone() }, None), ASK);
    assert_eq!(granted(&Action { programs: vec![make.clone(), changed], ..action.clone() }, None), ASK);
    assert_eq!(granted(&Action { programs: Vec::new(), ..action.clone() }, None), ASK);
    assert_eq!(granted(&action, Some(&latched())), ASK);
    let mut two = action;
    two.effects.push(effect("unknown path:*"));
    assert_eq!(granted(&two, None), ASK);
}

fn latched() -> LatchState {
    LatchState { cause: LatchCause::Inherited, turn: Turn(2), since: Seq(9), at: NOW }
}

#[test]
fn prerequisites_are_met_by_what_was_really_done() {
    let delete = &["delete records/2019/**"][..];
    let mut in_reach = backed_up("records/**");
    in_reach.effect = in_reach.effect.with("location", "/home/ann/work/records/2019/backup");
    let mut nowhere = backed_up("records/**");
    nowhere.effect.attributes.clear();
    let unverified = Done { verified: false, ..backed_up("records/**") };
    let possible = |mut d: Done| {
        d.effect.certainty = Certainty::Possible;
        d
    };
    for (what, done, effects, want) in [
        ("nothing done", vec![], delete, REPAIR),
        ("covered", vec![backed_up("records/**")], delete, ALLOW),
        ("exactly covered", vec![backed_up("records/2019/**")], delete, ALLOW),
        ("partly covered", vec![backed_up("records/2019/a")], delete, REPAIR),
        ("another place", vec![backed_up("records/2018/**")], delete, REPAIR),
        ("not verified", vec![unverified], delete, REPAIR),
        ("perhaps done", vec![possible(backed_up("records/**"))], delete, REPAIR),
        ("lies in what is deleted", vec![in_reach], delete, REPAIR),
        ("lies nobody knows where", vec![nowhere], delete, REPAIR),
        ("older than a change", vec![backed_up("records/**"), done(effect("modify records/2019/a"))], delete, REPAIR),
        (
            "older than what cannot be told",
            vec![backed_up("records/**"), done(effect("unknown path:*"))],
            delete,
            REPAIR,
        ),
        ("a change elsewhere", vec![backed_up("records/**"), done(effect("modify records/2018/a"))], delete, ALLOW),
        ("a look since", vec![backed_up("records/**"), done(effect("read records/2019/a"))], delete, ALLOW),
        ("again since", vec![done(effect("modify records/2019/a")), backed_up("records/**")], delete, ALLOW),
        ("spoilt by the action", vec![backed_up("records/**")], &["create records/2019/x", delete[0]], DENY),
        ("perhaps spoilt", vec![backed_up("records/**")], &["unknown path:*", delete[0]], ASK),
        ("two of one place", vec![backed_up("records/**")], &["delete records/2019/a", delete[0]], ALLOW),
        ("unresolved", vec![backed_up("records/**")], &["delete path:*"], ASK),
        ("a copy is no backup", vec![done(effect("copy records/**"))], delete, REPAIR),
    ] {
        let action = action(effects);
        let case = Case { done: &done, ..case(&action) };
        assert_eq!(verdict(&law(&[BACKUP_FIRST]), &case).decision, want, "{what}");
    }
}

#[test]
fn a_chain_may_meet_its_own_prerequisite_but_not_with_a_backup() {
    let look = r#"if effect_is(delete) then require_before(list, same_resource)"#;
    let chained = |texts: [&str; 2], chains: [u16; 2], certainty: Certainty| {
        let mut action = action(&texts);
        for (effect, chain) in action.effects.iter_mut().zip(chains) {
            effect.chain = chain;
        }
        action.effects[0].certainty = certainty;
        action
    };
    let sure = Certainty::Certain;
    for (rule, action, want) in [
        (look, chained(["list a/**", "delete a/**"], [1, 1], sure), ALLOW),
        (look, chained(["list a/**", "delete a/**"], [1, 1], Certainty::Possible), REPAIR),
        (look, chained(["list a/**", "delete a/**"], [0, 0], sure), REPAIR),
        (look, chained(["list a/**", "delete a/**"], [1, 2], sure), REPAIR),
        (look, chained(["list a/b", "delete a/**"], [1, 1], sure), REPAIR),
        (BACKUP_FIRST, chained(["backup records/**", "delete records/**"], [1, 1], sure), REPAIR),
    ] {
        assert_eq!(verdict(&law(&[rule]), &case(&action)).decision, want, "{:?}", action.effects);
    }
}

#[test]
fn a_plan_is_audited_like_any_action() {
    let no_backup = "if effect_is(backup) then forbid_effect(backup)";
    let ask_backup = "if effect_is(backup) then require_approval()";
    let list_first = "if effect_is(backup) then require_before(list, same_resource)";
    let read_first = "if effect_is(list) then require_before(read, same_resource)";
    let back_again = "if effect_is(read) then require_before(backup, same_resource)";
    let by_mail = r#"if effect_is(delete) then require_before(send, "mail:boss@x.org")"#;
    let delete = action(&["delete records/2019/**"]);
    for (texts, want, steps) in [
        (&[BACKUP_FIRST][..], REPAIR, &["fs_backup"][..]),
        (&[BACKUP_FIRST, no_backup], DENY, &[]),
        (&[BACKUP_FIRST, ask_backup], ASK, &["fs_backup"]),
        (&[BACKUP_FIRST, ASK_DELETE], ASK, &["fs_backup"]),
        (&[BACKUP_FIRST, list_first], REPAIR, &["fs_list", "fs_backup"]),
        (&[BACKUP_FIRST, list_first, read_first], REPAIR, &["fs_read", "fs_list", "fs_backup"]),
        (&[BACKUP_FIRST, list_first, read_first, back_again], DENY, &[]),
        (&[by_mail], DENY, &[]),
    ] {
        let audit = verdict(&law(texts), &case(&delete));
        let calls: Vec<&str> = audit.plan.preceding().map(|s| s.call.tool.as_str()).collect();
        assert_eq!((audit.decision, calls.as_slice()), (want, steps), "{texts:?}");
    }
    let audit = verdict(&law(&[BACKUP_FIRST]), &case(&delete));
    assert_eq!(audit.plan.0[0].call.args, json!({"path": "records/2019"}));
    assert_eq!(super::audit(&law(&[BACKUP_FIRST]), &case(&delete), &|_| None).decision, DENY);
    let mailed = [done(effect("send mail:boss@x.org"))];
    assert_eq!(verdict(&law(&[by_mail]), &Case { done: &mailed, ..case(&delete) }).decision, ALLOW);
}

fn paid(hours_ago: i64, amount: f64, currency: &str) -> Done {
    let effect = effect("pay account:shop").with("amount", amount).with("currency", currency);
    Done { at: Moment::utc(NOW.millis - hours_ago * 3_600_000), ..done(effect) }
}

#[test]
fn limits_add_up_what_was_executed_and_what_would_be() {
    let day = "if effect_is(pay) then limit(amount, 50 EUR, per calendar day)";
    let rolling = "if effect_is(pay) then limit(amount, 50 EUR, per rolling 24 h)";
    let week = "if effect_is(pay) then limit(amount, 50 EUR, per calendar week)";
    let call = "if effect_is(pay) then limit(amount, 50 EUR, per call)";
    let times = "if effect_is(pay) then limit(count, 2, per session)";
    for (rule, done, amounts, want) in [
        (day, vec![], &[50.0][..], ALLOW),
        (day, vec![], &[50.1], DENY),
        (day, vec![], &[16.7, 16.7, 16.6], ALLOW),
        (day, vec![], &[30.0, 30.0], DENY),
        (day, vec![paid(2, 20.0, "eur")], &[30.0], ALLOW),
        (day, vec![paid(2, 20.0, "EUR")], &[31.0], DENY),
        (day, vec![paid(13, 20.0, "EUR")], &[31.0], ALLOW),
        (rolling, vec![paid(13, 20.0, "EUR")], &[31.0], DENY),
        (rolling, vec![paid(24, 20.0, "EUR")], &[31.0], ALLOW),
        (week, vec![paid(50, 20.0, "EUR")], &[31.0], DENY),
        (week, vec![paid(24 * 7, 20.0, "EUR")], &[31.0], ALLOW),
        (call, vec![paid(0, 50.0, "EUR")], &[50.0], ALLOW),
        (day, vec![paid(1, 5.0, "USD")], &[1.0], ASK),
        (day, vec![paid(1, -100.0, "EUR")], &[51.0], DENY),
        (times, vec![paid(1, 1.0, "EUR")], &[1.0], ALLOW),
        (times, vec![paid(1, 1.0, "EUR"), paid(1, 1.0, "EUR")], &[1.0], DENY),
        (times, vec![], &[1.0, 1.0, 1.0], DENY),
    ] {
        let mut action = action(&[]);
        for amount in amounts {
            action.effects.push(effect("pay account:shop").with("amount", *amount).with("currency", "EUR"));
        }
        let audit = verdict(&law(&[rule]), &Case { done: &done, ..case(&action) });
        assert_eq!(audit.decision, want, "{rule} {done:?} {amounts:?}");
        if amounts == [30.0, 30.0] {
            assert_eq!(audit.lawful, [0]);
            let over = Demand::Limit { attr: "amount".into(), max: 50.0, would_be: 60.0, unit: Some("EUR".into()) };
            assert_eq!(audit.open().map(|f| f.demand.clone()).collect::<Vec<_>>(), [over]);
        }
    }
    for unclear in [
        effect("pay account:shop"),
        effect("pay account:shop").with("amount", 5.0),
        effect("pay account:shop").with("amount", 5.0).with("currency", "USD"),
        effect("pay account:shop").with("amount", "five").with("currency", "EUR"),
    ] {
        let action = Action { effects: vec![unclear], ..action(&[]) };
        assert_eq!(verdict(&law(&[day]), &case(&action)).decision, ASK, "{action:?}");
    }
}

#[test]
fn grants_answer_what_they_were_given_for_and_nothing_more() {
    let law = law(&[ASK_DELETE]);
    let approve = |action: &Action| {
        let asked = verdict(&law, &case(action));
        one_shot(action, &asked, Approval { id: GrantId(1), turn: Turn(1), given: NOW, approver: "person" })
    };
    let decided = |law: &Law, action: &Action, grant: &Grant, latch: Option<&LatchState>| {
        verdict(law, &Case { grants: std::slice::from_ref(grant), latch, ..case(action) }).decision
    };
    let first = action(&["delete a", "delete b"]);
    let once = approve(&first);
    assert_eq!(decided(&law, &first, &once, None), ALLOW);
    assert_eq!(decided(&law, &first, &once, Some(&latched())), ALLOW);
    let earlier = Grant { given: Moment::utc(NOW.millis - 1), ..once.clone() };
    assert_eq!(decided(&law, &first, &earlier, Some(&latched())), ASK);
    assert_eq!(decided(&law, &first, &Grant { used: 1, ..once.clone() }, None), ASK);
    assert_eq!(decided(&law, &first, &Grant { revoked: true, ..once.clone() }, None), ASK);
    assert_eq!(decided(&law, &action(&["delete a"]), &once, None), ASK);
    let drifted = Action { facts: Digest([1; 32]), ..first.clone() };
    assert_eq!(decided(&law, &drifted, &once, None), ASK);
    let stricter = self::law(&[ASK_DELETE, NO_CONTRACTS]);
    assert_eq!(decided(&stricter, &first, &once, None), ASK);

    let lasting = |resource: &str| Grant {
        action: None,
        law: None,
        until: crate::domain::Until::Session,
        resources: vec![resource.parse().unwrap()],
        ..once.clone()
    };
    assert_eq!(decided(&law, &action(&["~delete build/a"]), &lasting("build/**"), None), ALLOW);
    assert_eq!(decided(&law, &action(&["~delete build/**"]), &lasting("build/*"), None), ASK);
    assert_eq!(decided(&law, &action(&["~delete src/a"]), &lasting("build/**"), None), ASK);
    assert_eq!(decided(&law, &action(&["!delete build/a"]), &lasting("build/**"), None), ASK);
    let ends = Grant { until: crate::domain::Until::Moment { at: NOW }, ..lasting("build/**") };
    assert_eq!(decided(&law, &action(&["~delete build/a"]), &ends, None), ASK);
}

#[test]
fn a_lasting_yes_is_offered_in_words_and_only_where_it_may_last() {
    let ask_all = law(&["if always then require_approval()"]);
    for (effects, words) in [
        (&["read src/lib/a"][..], Some("reading and listing anything under src/lib/")),
        (&["read a"], Some("reading and listing a")),
        (&["read ~/.ssh/id"], Some("reading and listing ~/.ssh/id")),
        (&["modify src/a", "create src/b"], Some("creating and modifying anything under src/")),
        (&["request host:x.org"], Some("requests to host:x.org")),
        (&["publish branch:topic"], Some("publishing to branch:topic")),
        (&["~delete build/**"], Some("deleting anything under build/")),
        (&["!delete build/**"], None),
        (&["send mail:bob@x.org"], None),
        (&["pay account:shop"], None),
        (&["escalate process:x"], None),
        (&["read src/a", "modify src/a"], None),
        (&["unknown path:*"], None),
    ] {
        let action = action(effects);
        let asked = verdict(&ask_all, &case(&action));
        let scope = session_scope(&action, &asked, false);
        assert_eq!(scope.as_ref().map(|s| s.words.as_str()), words, "{effects:?}");
        let Some(scope) = scope else { continue };
        let grants = [scope.grant(Approval { id: GrantId(1), turn: Turn(1), given: NOW, approver: "person" })];
        assert_eq!(verdict(&ask_all, &Case { grants: &grants, ..case(&action) }).decision, ALLOW, "{effects:?}");
    }
    let mut main = action(&["publish branch:main"]);
    main.effects[0].labels.push("protected".into());
    assert_eq!(session_scope(&main, &verdict(&ask_all, &case(&main)), false), None);
}

#[test]
fn approving_a_denied_action_makes_narrow_exceptions_or_none() {
    let texts = [NO_CONTRACTS, "if always then limit(count, 1, per call)"];
    let law = law(&texts);
    let denied = action(&["delete contracts/a", "delete src/b"]);
    let audit = verdict(&law, &case(&denied));
    let made = one_shot_exceptions(&denied, &audit, &law).unwrap();
    let shown: Vec<String> = made.iter().map(|r| r.rule.to_string()).collect();
    assert_eq!(
        shown,
        [
            r#"if effect_is(delete) and resource_in("contracts/a") then except(§1)"#,
            r#"if effect_is(delete) and resource_in("src/b") then except(§2)"#,
        ]
    );
    assert!(made.iter().all(|r| r.once == denied.digest()));
    let hard = self::law(&[&format!("c1 hard: {NO_CONTRACTS}"), texts[1]]);
    assert_eq!(one_shot_exceptions(&denied, &verdict(&hard, &case(&denied)), &hard), None);
}

#[test]
fn the_latch_asks_and_engages() {
    let nothing = law(&[]);
    let state = latched();
    for (effects, want) in
        [(&["!delete a"][..], ASK), (&["install package:x"], ASK), (&["modify a"], ALLOW), (&["unknown path:*"], ASK)]
    {
        let action = action(effects);
        let audit = verdict(&nothing, &Case { latch: Some(&state), ..case(&action) });
        assert_eq!(audit.decision, want, "{effects:?}");
        assert!(audit.findings.iter().all(|f| f.rule == LATCH));
    }

    let law = law(&[NO_CONTRACTS]);
    let places = places();
    let cause = |effects: &[&str], denied: &[Denied], hazard: Option<f64>, words: &str| {
        let action = action(effects);
        let audit = verdict(&law, &case(&action));
        let unenforceable = [(RuleId::said(7), words)];
        let proposal = ProposalId(2);
        engage(&Occasion {
            proposal,
            action: &action,
            audit: &audit,
            denied,
            hazard,
            unenforceable: &unenforceable,
            places: &places,
        })
    };
    let proposal = ProposalId(2);
    let tried = action(&["modify contracts/a", "modify src/b"]);
    let before = [Denied::of(ProposalId(1), &tried, &verdict(&law, &case(&tried))).unwrap()];
    assert_eq!(before[0].effects, [effect("modify contracts/a")]);
    let round = Some(LatchCause::OtherRoute { proposal, denied: ProposalId(1) });
    let named = Some(LatchCause::Unenforceable { rule: RuleId::said(7), proposal });
    assert_eq!(cause(&["!delete contracts/a"], &[], None, ""), Some(LatchCause::DeniedIrreversible { proposal }));
    assert_eq!(cause(&["~modify contracts/a"], &[], None, ""), None);
    assert_eq!(cause(&["modify contracts/**"], &before, None, ""), round);
    assert_eq!(cause(&["modify src/b"], &before, None, ""), None);
    assert_eq!(cause(&["read contracts/a"], &before, None, ""), None);
    assert_eq!(cause(&["modify src/b"], &[], Some(0.2), ""), None);
    assert_eq!(cause(&["modify src/b"], &[], Some(0.21), ""), Some(LatchCause::Hazard { lower: 0.21 }));
    assert_eq!(cause(&["!delete src/b"], &[], None, "be gentle when removing things"), named);
    assert_eq!(cause(&["!send mail:kim@x.org"], &[], None, "Kim is on holiday"), named);
    assert_eq!(cause(&["!delete src/b"], &[], None, "keep the tone friendly"), None);
    assert_eq!(cause(&["read src/b"], &[], None, "be gentle when reading"), None);
}

#[test]
fn a_receipt_says_whose_words_stand_against_what_and_what_remains() {
    let law = law(&[BACKUP_FIRST, NO_CONTRACTS]);
    let all = action(&["delete contracts/**", "delete records/**", "delete tmp/**"]);
    let cite = |id: RuleId| {
        (id == RuleId::said(2)).then(|| Citation {
            quote: "never touch contracts".into(),
            turn: Some(Turn(2)),
            text: NO_CONTRACTS.into(),
        })
    };
    let audit = verdict(&law, &case(&all));
    assert_eq!(
        receipt(&audit, &all, &cite),
        "denied: nothing of this shell_exec was run\n\
         §2, turn 2: \"never touch contracts\" (if resource_in(\"contracts/**\") then forbid_effect(write))\n  \
         expected: no delete of this; got: delete contracts/** (contracts/** meets contracts/**)\n\
         §1\n  \
         expected: backup of records/** before, newer than its last change; got: delete records/** (records/** meets records/**)\n\
         could be proposed alone: delete tmp/**\n\
         could be proposed alone and would be repaired first: delete records/**"
    );
    let rest = action(&["delete records/**", "delete tmp/**"]);
    let audit = verdict(&law, &case(&rest));
    assert_eq!(audit.decision, REPAIR);
    assert!(receipt(&audit, &rest, &cite).contains("\nwould meet §1: fs_backup {\"path\":\"records\"}"));
}

#[test]
fn the_core_schema_is_enforceable_and_holds_the_latch_rule() {
    let core = schema::read(schema::CORE, schema::CORE_FILE).unwrap();
    assert!(core.iter().any(|r| r.id == LATCH && r.text.contains("latched") && r.hard));
    let rules = core.into_iter().map(|r| LawRule { id: r.id, hard: r.hard, rule: r.rule, once: None });
    let (law, unenforceable) = Law::compile(rules, places(), &[]);
    assert_eq!(unenforceable, []);
    let state = latched();
    let delete = action(&["!delete a"]);
    let requested = Case { requested: &[true], ..case(&delete) };
    assert_eq!(verdict(&law, &requested).decision, ALLOW);
    let audit = verdict(&law, &Case { latch: Some(&state), ..requested });
    assert_eq!(audit.findings.iter().filter(|f| f.rule == LATCH).count(), 1);
    for (effects, want) in [
        (&["delete ./**"][..], DENY),
        (&["delete ~/**"], DENY),
        (&["modify ~/.config/weal/x"], DENY),
        (&["unknown program:/usr/bin/make"], ASK),
        (&["create /srv/x"], ASK),
        (&["read src/a"], ALLOW),
    ] {
        assert_eq!(verdict(&law, &case(&action(effects))).decision, want, "{effects:?}");
    }
    let named = Action { effects: vec![Effect::new(Verb::Read, Resource::named(Kind::Thing, "x"))], ..delete };
    assert_eq!(verdict(&law, &case(&named)).decision, ALLOW);
}
