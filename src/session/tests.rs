//! Laws of the session: what no sequence of inputs may do.

use super::{Command, Desk, Input, Phase, RuleDecision, Stage, State, Step, advance, decide, replay};
use crate::domain::{
    Constraint, ConstraintState, Event, Fact, Facts, HumanDecision, LatchCause, Moment, Op, Outcome, ProposalId,
    RawCall, Record, Reply, RuleId, Scope, Seq, SessionId, Source, Statement, StatementKind, Status, Stream,
    ToolSpec, Turn,
    event::{CoreRule, Entry, Opening, Sandbox},
    message::ModelCall,
};
use proptest::prelude::*;
use serde_json::json;

/// A session whose world says nothing and in which everything that is cleared succeeds.
struct Table {
    state: State,
    records: Vec<Record>,
    tools: Vec<ToolSpec>,
    /// Executions in the order in which they were ordered.
    ran: Vec<ProposalId>,
}

fn core() -> Vec<CoreRule> {
    let rule = |n, hard, rule: &str| CoreRule {
        id: RuleId::core(n),
        title: String::new(),
        rule: rule.to_owned(),
        hard,
        why: "A rule of the core.".to_owned(),
        file: "core".to_owned(),
    };
    vec![
        rule(1, true, r#"if effect_is(delete) and resource_in("vault/**") then forbid_effect(delete)"#),
        rule(10, false, "if not requested() and not reversible() then require_approval()"),
        rule(11, false, "if effect_is(unknown) then require_approval()"),
    ]
}

impl Table {
    fn new(context_budget: u64, scratch: bool) -> Self {
        let spec = |name: &str| ToolSpec { name: name.into(), description: String::new(), parameters: json!({}) };
        let tools = vec![spec("fs_list"), spec("fs_delete"), spec("fs_backup"), spec("shell_exec")];
        let mut table = Table { state: State::new(), records: Vec::new(), tools, ran: Vec::new() };
        table.input(Input::Open(Box::new(Opening {
            session: SessionId("s".into()),
            workspace: "/w".into(),
            home: "/home/ann".into(),
            model: "m".into(),
            simulated: false,
            scratch,
            sandbox: Sandbox::None { why: "a test".into() },
            version: "0".into(),
            core: core(),
            next_constraint: 1,
            latched: false,
            context_budget,
        })));
        table
    }

    fn desk(&self) -> Desk<'_> {
        Desk { now: Moment::utc(self.records.len() as i64), tools: &self.tools }
    }

    fn input(&mut self, input: Input) {
        let step = decide(&self.state, input, self.desk());
        self.take(step);
        self.pump();
    }

    fn pump(&mut self) {
        for _ in 0..10_000 {
            let step = advance(&self.state, self.desk());
            if step.is_empty() {
                return;
            }
            self.take(step);
        }
        panic!("the session never comes to rest");
    }

    fn take(&mut self, step: Step) {
        let intended: Vec<ProposalId> = step
            .events
            .iter()
            .filter_map(|e| match &e.event {
                Event::ActionIntended { proposal, .. } => Some(*proposal),
                _ => None,
            })
            .collect();
        for Entry { stream, event } in step.events {
            let seq = Seq(self.records.len() as u64 + 1);
            let record = Record { seq, stream, at: Moment::utc(seq.0 as i64), event };
            self.state.apply(&record);
            self.records.push(record);
        }
        for command in step.commands {
            match command {
                Command::ReadFacts { proposal, queries } => {
                    let silent = |q| (q, Fact::Unavailable { why: "a test".into() });
                    let facts = Facts(queries.into_iter().map(silent).collect());
                    let step = decide(&self.state, Input::FactsRead { proposal, facts }, self.desk());
                    self.take(step);
                }
                Command::Execute { proposal } => {
                    assert!(intended.contains(&proposal), "{proposal} runs without a durable intent");
                    assert!(!self.ran.contains(&proposal), "{proposal} runs twice");
                    self.ran.push(proposal);
                    let outcome = Outcome::plain(Status::Succeeded, "done", 1);
                    let step = decide(&self.state, Input::ToolFinished { proposal, outcome }, self.desk());
                    self.take(step);
                }
                Command::CallModel | Command::Cancel => {}
            }
        }
    }

    fn say(&mut self, text: &str) {
        self.input(Input::UserTurn { text: text.into(), pasted: Vec::new() });
    }

    fn reply(&mut self, text: &str, calls: &[RawCall]) {
        let tag = self.records.len();
        let calls = calls.iter().enumerate();
        let calls = calls.map(|(n, c)| ModelCall { id: format!("{tag}.{n}"), call: c.clone(), malformed: None });
        let reply = Reply { text: text.into(), calls: calls.collect(), ..Reply::default() };
        self.input(Input::ModelReplied { reply });
    }

    fn answer(&mut self, decision: HumanDecision, approver: &str) {
        let waiting = self.state.waiting().next().map(super::Handling::id);
        if let Some(proposal) = waiting {
            self.input(Input::Answer { proposal, decision, approver: approver.into() });
        }
    }
}

fn shell(command: &str) -> RawCall {
    RawCall::new("shell_exec", json!({ "command": command }))
}

/// Anything that may happen to a session but a person releasing its latch.
#[derive(Debug, Clone)]
enum Happening {
    Say(&'static str),
    Reply(Vec<&'static str>),
    Answer(HumanDecision),
    OnRule(u32, RuleDecision),
    Interrupt,
    Resume,
    GoOn,
    Fail,
}

fn happening() -> impl Strategy<Value = Happening> {
    let said = prop::sample::select(vec![
        "Never touch contracts/.",
        "Nothing under records/ may be deleted without a backup first.",
        "You can touch contracts/ now.",
        "Delete build.",
        "Clean up.",
        "Release the latch.",
        "hello",
    ]);
    let called = prop::sample::select(vec![
        "rm -rf contracts",
        "rm -rf records/2019",
        "rm -rf build",
        "rm -rf vault",
        "ls",
        "./opaque",
        "cat a && rm b",
    ]);
    let decision = prop::sample::select(vec![
        HumanDecision::ApproveOnce,
        HumanDecision::Deny { feedback: "no".into() },
        HumanDecision::RepairFirst,
        HumanDecision::AskHuman,
        HumanDecision::Edit { call: shell("ls") },
    ]);
    let on_rule = prop::sample::select(vec![RuleDecision::Suspend, RuleDecision::Revoke, RuleDecision::Revive]);
    prop_oneof![
        4 => said.prop_map(Happening::Say),
        5 => prop::collection::vec(called, 0..3).prop_map(Happening::Reply),
        4 => decision.prop_map(Happening::Answer),
        1 => (1u32..4, on_rule).prop_map(|(n, d)| Happening::OnRule(n, d)),
        1 => Just(Happening::Interrupt),
        1 => Just(Happening::Resume),
        1 => Just(Happening::GoOn),
        1 => Just(Happening::Fail),
    ]
}

fn play(table: &mut Table, happening: &Happening) {
    match happening {
        Happening::Say(text) => table.say(text),
        Happening::Reply(calls) => table.reply("so", &calls.iter().map(|c| shell(c)).collect::<Vec<_>>()),
        Happening::Answer(decision) => table.answer(decision.clone(), "person"),
        Happening::OnRule(n, decision) => {
            table.input(Input::OnRule { rule: RuleId::said(*n), decision: *decision, why: "x".into() });
        }
        Happening::Interrupt => table.input(Input::Interrupt { why: "x".into() }),
        Happening::Resume => table.input(Input::Resume { version: "0".into(), go_on: true }),
        Happening::GoOn => table.input(Input::GoOn),
        Happening::Fail => table.input(Input::ModelFailed { error: "x".into() }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens: no execution without a durable intent, none twice, none of what a hard rule denies; a replay
    /// of the records is the session; every verdict comes out the same again; and the latch, once engaged, stays.
    #[test]
    fn no_sequence_of_inputs_gets_past_the_gate(happenings in prop::collection::vec(happening(), 1..24)) {
        let mut table = Table::new(u64::MAX, false);
        let mut latched = false;
        for happening in &happenings {
            play(&mut table, happening);
            prop_assert!(!latched || table.state.latch.is_some(), "the latch was released by {happening:?}");
            latched = table.state.latch.is_some();
        }
        for id in &table.ran {
            let handling = &table.state.handlings[id];
            prop_assert!(handling.audit().is_some_and(|a| a.decision == crate::domain::Decision::Allow));
            prop_assert!(handling.proposal.call.text("command") != Some("rm -rf vault"), "a hard rule was passed");
        }
        let again = State::replay(&table.records);
        prop_assert_eq!(format!("{:?}", again.handlings), format!("{:?}", table.state.handlings));
        prop_assert_eq!(format!("{:?}", again.constraints), format!("{:?}", table.state.constraints));
        let judged = replay::rejudge(&table.records);
        prop_assert_eq!(judged.drifts, vec![]);
    }

    /// What was said in the first turn is in force in every later one, whatever is compacted, and the model is told.
    #[test]
    fn what_was_said_once_holds_whatever_is_compacted(turns in 2usize..40, length in 1usize..400) {
        let mut table = Table::new(1_500, false);
        table.say("Never touch contracts/.");
        table.reply("I will not.", &[]);
        for n in 0..turns {
            table.say(&format!("Tell me about thing {n}."));
            table.reply(&"word ".repeat(length), &[]);
            prop_assert!(table.state.active().any(|c| c.id == RuleId::said(1)));
        }
        table.say("Clean up.");
        let prompt = super::advance::prompt_of(&table.state, table.desk());
        let told = prompt.messages.iter().any(|m| m.text.contains("Never touch contracts/"));
        prop_assert!(told, "the rule is not in the prompt");
        table.reply("", &[shell("rm -rf contracts")]);
        prop_assert!(table.ran.is_empty());
        prop_assert_eq!(table.state.handlings.values().last().map(|h| h.stage), Some(Stage::Denied));
    }
}

#[test]
fn a_person_releases_the_latch_with_a_reason_and_nobody_else() {
    let mut table = Table::new(u64::MAX, false);
    table.say("Never touch contracts/.");
    table.reply("", &[shell("rm -rf contracts")]);
    assert!(matches!(table.state.latch.as_ref().map(|l| &l.cause), Some(LatchCause::DeniedIrreversible { .. })));
    table.input(Input::ReleaseLatch { reason: "  ".into() });
    assert!(table.state.latch.is_some(), "a reason is needed");
    table.input(Input::ReleaseLatch { reason: "I have looked".into() });
    assert!(table.state.latch.is_none());
}

#[test]
fn approve_once_on_a_denied_action_lifts_the_ban_once_and_never_a_hard_rule() {
    let mut table = Table::new(u64::MAX, false);
    table.say("Never touch contracts/.");
    table.reply("", &[shell("rm -rf contracts")]);
    let approve = |table: &mut Table, proposal| {
        table.input(Input::Answer { proposal, decision: HumanDecision::ApproveOnce, approver: "person".into() });
    };
    approve(&mut table, ProposalId(1));
    // the exception lifts the ban; what cannot be undone is still asked about, because the latch is engaged
    assert_eq!(table.state.phase(), Phase::Waiting);
    table.answer(HumanDecision::ApproveOnce, "person");
    assert_eq!(table.ran, [ProposalId(2)]);
    table.reply("", &[shell("rm -rf contracts")]);
    assert_eq!(table.state.handlings.values().last().map(|h| h.stage), Some(Stage::Denied), "it was for once");

    table.say("Delete the vault.");
    table.reply("", &[shell("rm -rf vault")]);
    let denied = *table.state.handlings.keys().last().expect("a proposal");
    approve(&mut table, denied);
    assert_eq!(table.ran.len(), 1, "a hard rule is lifted by nothing");
}

#[test]
fn scripted_answers_hold_only_in_a_scratch_workspace() {
    for (scratch, runs) in [(false, 0), (true, 1)] {
        let mut table = Table::new(u64::MAX, scratch);
        table.say("Clean up.");
        table.reply("", &[shell("rm -rf build")]);
        table.answer(HumanDecision::ApproveOnce, "scripted");
        assert_eq!(table.ran.len(), runs);
    }
}

#[test]
fn what_ran_when_the_process_died_is_asked_about_and_not_run_again() {
    let mut table = Table::new(u64::MAX, false);
    table.say("Look.");
    table.reply("", &[shell("ls")]);
    let intended = table.records.iter().position(|r| matches!(r.event, Event::ActionIntended { .. }));
    table.records.truncate(intended.expect("an intent") + 1);
    table.state = State::replay(&table.records);
    table.ran.clear();
    table.input(Input::Resume { version: "0".into(), go_on: true });
    assert_eq!(table.state.waiting().map(|h| h.stage).collect::<Vec<_>>(), [Stage::Unresolved]);
    assert!(table.ran.is_empty());
    table.answer(HumanDecision::Deny { feedback: String::new() }, "person");
    assert!(table.ran.is_empty());
    assert_eq!(table.state.handlings[&ProposalId(1)].outcome.as_ref().map(|o| o.status), Some(Status::Unknown));
}

#[test]
fn a_message_during_work_binds_what_is_still_to_come() {
    let mut table = Table::new(u64::MAX, false);
    table.say("Delete build and cache.");
    table.reply("", &[shell("./opaque"), shell("rm -rf build")]);
    assert_eq!(table.state.phase(), Phase::Waiting);
    table.say("Never delete build/.");
    table.answer(HumanDecision::Deny { feedback: String::new() }, "person");
    assert_eq!(table.state.handlings[&ProposalId(2)].stage, Stage::Denied);
    assert_eq!(table.state.turn, Turn(2));
}

/// A constraint in force from here on, with or without a rule.
fn said(table: &mut Table, quote: &str, rule: Option<&str>) {
    let statement = Statement {
        turn: Turn(1),
        span: Default::default(),
        quote: quote.into(),
        kind: StatementKind::Prohibition,
        op: Op::Add,
        rule: rule.map(str::to_owned),
        scope: Scope::Session,
        confidence: 1.0,
        enforceable: rule.is_some(),
        targets: Vec::new(),
        note: None,
    };
    let constraint = Constraint::of(RuleId::said(90), statement, Source::Said, ConstraintState::Active);
    let stream = Stream::Session(SessionId("s".into()));
    let event = Event::ConstraintAdded { constraint };
    table.take(Step { events: vec![Entry { stream, event }], commands: Vec::new() });
}

#[test]
fn a_tool_that_no_argument_could_make_lawful_is_not_offered() {
    let mut table = Table::new(u64::MAX, false);
    let offered = |table: &Table| {
        let prompt = super::advance::prompt_of(&table.state, table.desk());
        prompt.tools.iter().any(|t| t.name == "shell_exec")
    };
    assert!(offered(&table));
    said(&mut table, "no shell", Some(r#"if tool_is("shell_exec") then forbid_tool_call("shell_exec")"#));
    assert!(!offered(&table));
}

#[test]
fn words_that_no_rule_could_be_made_of_are_asked_about_where_they_name_something() {
    for (command, asks) in
        [("mkdir vienna", true), ("cat vienna/a", false), ("mkdir lisbon", false), ("touch vienna/b", true)]
    {
        let mut table = Table::new(u64::MAX, false);
        table.say("hello");
        said(&mut table, "mind the Vienna office", None);
        table.reply("", &[shell(command)]);
        assert_eq!(table.state.phase() == Phase::Waiting, asks, "{command}");
    }
}
