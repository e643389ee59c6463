//! Sessions for tests, made of records as they would stand in a log.

use super::{
    api::{Endpoint, Mode, Settings},
    cockpit::Cockpit,
};
use crate::domain::{
    Action, Audit, Backup, Constraint, ConstraintState, Decision, Demand, Digest, Effect, Event, Finding, Grant,
    GrantId, Hazard, LatchCause, Moment, Outcome, OutputText, Plan, PlanKind, PlanStep, Proposal, ProposalId,
    Proposer, RawCall, Record, Reply, Resource, RuleId, Scope, Seq, SessionId, Source, Span, StatementKind, Status,
    Stream, Turn, Until, Verb,
    event::{CoreRule, Fragment, Opening, Sandbox},
};
use serde_json::json;

/// Writes records one after the other.
pub struct Script {
    pub records: Vec<Record>,
    turn: Turn,
    proposals: u32,
}

pub const RECORDS: &str = "Before anything under records/ is deleted, make a backup. Never touch contracts/.";

impl Script {
    pub fn new(model: &str) -> Script {
        let mut script = Script { records: Vec::new(), turn: Turn(0), proposals: 0 };
        script.push(Event::SessionOpened(opening(model)));
        script
    }

    pub fn push(&mut self, event: Event) {
        let seq = Seq(self.records.len() as u64 + 1);
        let at = Moment::utc(1_790_000_000_000 + seq.0 as i64 * 1_000);
        let stream = Stream::Session(SessionId("0199-demo".into()));
        self.records.push(Record { seq, stream, at, event });
    }

    pub fn say(&mut self, turn: u32, text: &str) {
        self.turn = Turn(turn);
        self.push(Event::UserSaid { turn: self.turn, text: text.into(), pasted: Vec::new() });
    }

    pub fn reply(&mut self, text: &str) {
        let turn = self.turn;
        self.push(Event::ModelCalled { turn, prompt: Digest::default(), tokens: 12_400 });
        let reply = Reply { text: text.into(), ..Reply::default() };
        self.push(Event::ModelReplied { turn, reply });
    }

    pub fn constraint(&mut self, n: u32, kind: StatementKind, quote: &str, rule: Option<&str>) {
        let constraint = Constraint {
            id: RuleId::said(n),
            kind,
            quote: quote.into(),
            turn: self.turn,
            span: Span { start: 0, end: quote.chars().count() as u32 },
            source: Source::Said,
            scope: Scope::Project,
            rule: rule.map(str::to_owned),
            note: rule.is_none().then(|| "no effect is named".to_owned()),
            confidence: 0.93,
            state: ConstraintState::Active,
            expires: None,
            once: None,
        };
        self.push(Event::ConstraintAdded { constraint });
    }

    pub fn propose(&mut self, call: RawCall, by: Proposer) -> ProposalId {
        self.proposals += 1;
        let id = ProposalId(self.proposals);
        self.push(Event::ActionProposed { proposal: Proposal { id, turn: self.turn, call, by } });
        id
    }

    pub fn model(&mut self, call: RawCall) -> ProposalId {
        let call_id = format!("call-{}", self.proposals);
        self.propose(call, Proposer::Model { call: call_id })
    }

    pub fn audit(
        &mut self,
        id: ProposalId,
        call: RawCall,
        effects: Vec<Effect>,
        decision: Decision,
        findings: Vec<Finding>,
        plan: Vec<PlanStep>,
    ) {
        let action = Action { call, effects, programs: Vec::new(), facts: Digest::default() };
        let digest = action.digest();
        self.push(Event::ActionUnderstood { proposal: id, action });
        let audit = Audit {
            decision,
            findings,
            plan: Plan(plan),
            lawful: Vec::new(),
            action: digest,
            law: Digest::of(b"law"),
        };
        self.push(Event::ActionAudited { proposal: id, audit, requested: Vec::new(), at: Moment::default() });
    }

    pub fn run(&mut self, id: ProposalId, outcome: Outcome) {
        self.push(Event::ActionIntended { proposal: id, clearance: Digest::default() });
        self.push(Event::ActionFinished { proposal: id, outcome, at: Moment::default() });
    }
}

pub fn opening(model: &str) -> Opening {
    let core = |n, title: &str, rule: &str, hard| CoreRule {
        id: RuleId::core(n),
        title: title.into(),
        rule: rule.into(),
        hard,
        why: "what is gone is gone".into(),
        file: "core".into(),
    };
    Opening {
        session: SessionId("0199a000-0000-7000-8000-00000000de30".into()),
        workspace: "/home/ann/records".into(),
        home: "/home/ann".into(),
        model: model.into(),
        simulated: model == "scripted",
        scratch: false,
        sandbox: Sandbox::Landlock { abi: 6 },
        version: "0.1.0".into(),
        core: vec![
            core(
                1,
                "no tool reaches weal's own files",
                r#"if resource_in("~/.local/share/weal/**") then forbid_effect(any)"#,
                true,
            ),
            core(
                4,
                "what cannot be undone and was not asked for waits for a yes",
                "if not reversible() and not requested() then require_approval()",
                false,
            ),
        ],
        next_constraint: 1,
        latched: false,
        context_budget: 128_000,
    }
}

pub fn finding(rule: RuleId, effect: usize, demand: Demand, level: Decision, matched: &str) -> Finding {
    Finding { rule, effect, demand, level, matched: matched.into(), granted: None, lifted: None }
}

fn shell(command: &str) -> RawCall {
    RawCall::new("shell_exec", json!({ "command": command }))
}

fn delete(path: &str, files: f64, bytes: f64) -> Effect {
    Effect::new(Verb::Delete, Resource::subtree(path)).with("files", files).with("bytes", bytes).with("exists", true)
}

fn ran(text: &str, millis: u64) -> Outcome {
    Outcome { exit: Some(0), ..Outcome::plain(Status::Succeeded, text, millis) }
}

/// The demonstration: constraints early, much work, then deny, repair, latch, and a question that waits.
pub fn demo() -> Vec<Record> {
    let mut s = Script::new("scripted");
    s.say(1, "Let us tidy this archive. Tell me what is here first.");
    s.reply("There are three folders:\n\n- `records/` with a folder a year\n- `contracts/` with **old** and new ones\n- `cache/`, which can be made again");
    s.say(2, RECORDS);
    s.constraint(
        1,
        StatementKind::Prerequisite,
        "Before anything under records/ is deleted, make a backup.",
        Some(r#"if effect_is(delete) and resource_in("records/**") then require_before(backup, same_resource)"#),
    );
    s.constraint(
        2,
        StatementKind::Prohibition,
        "Never touch contracts/.",
        Some(r#"if resource_in("contracts/**") then forbid_effect(write)"#),
    );
    s.reply("Understood.");
    s.say(40, "Please be careful with prod.");
    s.constraint(3, StatementKind::Prohibition, "be careful with prod", None);
    s.push(Event::HistoryCompacted {
        from: Turn(1),
        to: Turn(43),
        summary: "…".into(),
        tokens_before: 96_000,
        tokens_after: 11_200,
    });
    s.say(61, "Free up some disk space.");
    let fragment = |n, why: &str, tokens| Fragment {
        rule: RuleId::said(n),
        text: format!("[§{n}] The person said this, and it is checked before every action."),
        tokens,
        score: 1.0,
        why: why.into(),
    };
    s.push(Event::ContextRestored {
        turn: Turn(61),
        given: vec![fragment(1, "speaks of delete", 34), fragment(2, "covers the workspace", 27)],
        left_out: vec![fragment(3, "no trigger near", 18)],
        budget: 800,
    });
    s.reply("I will remove what is old and what can be made again.");
    denied(&mut s);
    repaired(&mut s);
    asked(&mut s);
    s.records
}

fn denied(s: &mut Script) {
    let call = shell("rm -rf records/2019 contracts/old cache");
    let id = s.model(call.clone());
    let effects =
        vec![delete("records/2019", 1_204.0, 38e6), delete("contracts/old", 12.0, 2e6), delete("cache", 77.0, 9e6)];
    let before = Demand::Before { verb: Verb::Backup, resource: Resource::subtree("records/2019") };
    s.audit(
        id,
        call,
        effects,
        Decision::Deny,
        vec![
            finding(RuleId::said(1), 0, before, Decision::Repair, "records/2019/** meets records/**"),
            finding(RuleId::said(2), 1, Demand::Forbidden, Decision::Deny, "contracts/old/** meets contracts/**"),
        ],
        Vec::new(),
    );
    s.push(Event::HazardObserved { hazard: Hazard { proposal: id, tokens: 12_400, entry: true } });
    s.push(Event::LatchEngaged {
        turn: Turn(61),
        cause: LatchCause::DeniedIrreversible { proposal: id },
        at: Moment::default(),
    });
    s.push(Event::ActionDropped {
        proposal: id,
        why: "denied by §2, turn 2: “Never touch contracts/.”\nlawful alone: delete cache/**".into(),
    });
}

fn repaired(s: &mut Script) {
    let call = shell("rm -rf records/2019 cache");
    let id = s.model(call.clone());
    let effects = vec![delete("records/2019", 1_204.0, 38e6), delete("cache", 77.0, 9e6).with("made_here", true)];
    let before = Demand::Before { verb: Verb::Backup, resource: Resource::subtree("records/2019") };
    let backup = RawCall::new("fs_backup", json!({ "path": "records/2019" }));
    let step = PlanStep { kind: PlanKind::Precede, call: backup.clone(), rule: RuleId::said(1) };
    s.audit(
        id,
        call.clone(),
        effects.clone(),
        Decision::Repair,
        vec![finding(RuleId::said(1), 0, before.clone(), Decision::Repair, "records/2019/** meets records/**")],
        vec![step],
    );
    s.push(Event::RepairStarted { proposal: id, steps: vec![backup.clone()] });
    let repair = s.propose(backup.clone(), Proposer::Repair { of: id, step: 0 });
    s.audit(
        repair,
        backup,
        vec![Effect::new(Verb::Backup, Resource::subtree("records/2019"))],
        Decision::Allow,
        Vec::new(),
        Vec::new(),
    );
    let kept = Backup {
        source: "records/2019".into(),
        location: "~/.local/share/weal/backups/7f3a/records-2019".into(),
        files: 1_204,
        bytes: 38_000_000,
        manifest: Digest::default(),
        verified: true,
    };
    s.run(repair, Outcome { backup: Some(kept), ..Outcome::plain(Status::Succeeded, "", 412) });
    s.push(Event::RepairEnded { proposal: id, ok: true, why: String::new() });
    let met = Finding {
        level: Decision::Allow,
        ..finding(RuleId::said(1), 0, before, Decision::Allow, "records/2019/** meets records/**")
    };
    let grant = Grant {
        id: GrantId(1),
        verbs: vec![Verb::Delete],
        resources: vec![Resource::subtree("records/2019")],
        action: None,
        law: None,
        program: None,
        until: Until::Once,
        turn: Turn(61),
        given: Moment::default(),
        words: "delete records/2019 and cache, once".into(),
        approver: "scripted".into(),
        used: 0,
        revoked: false,
    };
    s.push(Event::GrantIssued { grant });
    s.audit(id, call, effects, Decision::Allow, vec![met], Vec::new());
    s.push(Event::GrantUsed { grant: GrantId(1), proposal: id });
    s.run(id, ran("removed 'records/2019/a'\nremoved 'records/2019/b'\nremoved 'records/2019/c'\nremoved 'records/2019/d'\nremoved 'records/2019'\n", 214));
    s.reply("Gone, with a backup. Next I would tell the others.");
}

fn asked(s: &mut Script) {
    let call = RawCall::new(
        "email_send",
        json!({
            "to": "ann@example.org, bo@example.org, cy@example.org",
            "subject": "Archive tidied",
            "body": "Hello all,\n\nI have removed the records of 2019; a backup exists.\n\nYours",
        }),
    );
    let id = s.model(call.clone());
    let mail = |to: &str| Effect::new(Verb::Send, Resource::named(crate::domain::Kind::Mail, to));
    let effects = vec![mail("ann@example.org"), mail("bo@example.org"), mail("cy@example.org")];
    s.audit(
        id,
        call,
        effects,
        Decision::Ask,
        vec![finding(RuleId::core(4), 0, Demand::Approval, Decision::Ask, "mail:ann@example.org was not asked for")],
        Vec::new(),
    );
    s.push(Event::HazardObserved { hazard: Hazard { proposal: id, tokens: 13_000, entry: false } });
    s.push(Event::PersonAsked { proposal: id, why: "the latch is engaged and this cannot be undone".into() });
}

/// A question that plain `y` and Enter can answer, with a plan and a sentence behind it.
pub fn reversible() -> Vec<Record> {
    let mut s = Script::new("gpt-x");
    s.say(1, "Ask me before you move drafts.");
    s.constraint(
        1,
        StatementKind::Approval,
        "Ask me before you move drafts.",
        Some(r#"if effect_is(move) and resource_in("drafts/**") then require_approval()"#),
    );
    s.reply("I will.");
    let call = RawCall::new("fs_move", json!({ "from": "drafts/a", "to": "done/a" }));
    let id = s.model(call.clone());
    let backup = PlanStep {
        kind: PlanKind::Precede,
        call: RawCall::new("fs_backup", json!({ "path": "drafts/a" })),
        rule: RuleId::said(1),
    };
    s.audit(
        id,
        call,
        vec![Effect::new(Verb::Move, Resource::path("drafts/a"))],
        Decision::Ask,
        vec![finding(RuleId::said(1), 0, Demand::Approval, Decision::Ask, "drafts/a meets drafts/**")],
        vec![backup],
    );
    s.push(Event::PersonAsked { proposal: id, why: "§1 wants your yes".into() });
    s.records
}

/// At least `n` records of ordinary work.
pub fn long(n: usize) -> Vec<Record> {
    let mut s = Script::new("gpt-x");
    let mut turn = 0;
    while s.records.len() < n {
        turn += 1;
        s.say(turn, &format!("Please look at part {turn} of the archive and tell me what is in it."));
        if turn % 200 == 1 {
            s.constraint(
                turn / 200 + 1,
                StatementKind::Prohibition,
                "Please look",
                Some(r#"if resource_in("a/**") then forbid_effect(delete)"#),
            );
        }
        s.reply("Let me look.\n\n1. *list* it\n2. read `index.md`\n\n```rust\nfn main() { println!(\"{}\", 1 + 1); }\n```");
        for _ in 0..2 {
            let call = shell("ls -la archive && cat archive/index.md");
            let id = s.model(call.clone());
            s.audit(
                id,
                call,
                vec![Effect::new(Verb::List, Resource::path("archive"))],
                Decision::Allow,
                Vec::new(),
                Vec::new(),
            );
            let mut outcome = ran("a\nb\nc\nd\ne\nf\n", 12);
            outcome.output = OutputText { head: outcome.output.head, ..OutputText::default() };
            s.run(id, outcome);
        }
        s.reply("It holds six files.");
    }
    s.records.truncate(n.max(1));
    s.records
}

pub fn settings(mode: Mode) -> Settings {
    Settings {
        mode,
        workspace: "~/records".into(),
        endpoint: Endpoint::Missing {
            how: "set OPENAI_BASE_URL (and OPENAI_API_KEY where it wants one), or `[model]` in ~/.config/weal/config.toml".into(),
        },
        theme: "dark".into(),
        themes: Vec::new(),
        keymap: None,
        no_color: false,
        ascii: false,
        session_scope: |_| None,
    }
}

pub fn cockpit(mode: Mode) -> Cockpit {
    Cockpit::new(settings(mode)).expect("the shipped settings are good")
}
