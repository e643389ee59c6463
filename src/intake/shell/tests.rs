//! Tables of lines with their effects, and laws over any text at all.
#![expect(clippy::disallowed_methods, reason = "tests read tables beside the repository and time themselves")]

use super::table::{SHIPPED, TOOLS, Tools};
use crate::{
    domain::{Action, Certainty, Effect, Facts, Places, RawCall},
    intake::{
        actions::{Surroundings, understand_blind},
        labels::Labels,
    },
};
use proptest::prelude::*;
use std::{fmt::Write as _, fs, path::Path, time::Instant};

fn around() -> Surroundings {
    let places = Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() };
    Surroundings { places, labels: Labels::shipped() }
}

fn blind(line: &str) -> Action {
    let call = RawCall::new("shell_exec", serde_json::json!({ "command": line }));
    understand_blind(&call, &Facts::default(), &around())
}

/// Effects without the stand-in for a line that does nothing.
fn effects(line: &str) -> Vec<Effect> {
    blind(line).effects.into_iter().filter(|e| e.to_string() != "execute tool:shell_exec").collect()
}

#[test]
fn every_tool_is_described_and_its_examples_hold() {
    let tools = Tools::parse(&SHIPPED).map_err(|e| e.to_string()).expect("readable");
    assert!(tools.examples.len() > 60);
    let mut wrong = String::new();
    for (line, want) in &TOOLS.examples {
        let got: Vec<String> = effects(line).iter().map(Effect::to_string).collect();
        if got != *want {
            let _ = writeln!(wrong, "{line}\n  want {want:?}\n  got  {got:?}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// `verb resource`, with `?` in front of what is only possible and `*` in front of what is opaque.
fn shown(effect: &Effect) -> String {
    let sign = match effect.certainty {
        Certainty::Certain => "",
        Certainty::Possible => "?",
        Certainty::Opaque if effect.verb == crate::domain::Verb::Unknown => "",
        Certainty::Opaque => "*",
    };
    format!("{sign}{effect}")
}

/// `cases.tsv`: a line (`⏎` for a newline), a tab, its effects joined by `; `. Nothing is known of the world.
#[test]
fn lines_have_the_effects_of_the_table() {
    let mut wrong = String::new();
    let mut count = 0;
    for row in include_str!("cases.tsv").lines().filter(|r| !r.is_empty() && !r.starts_with('#')) {
        let (line, want) = row.split_once('\t').expect("a tab");
        let got = effects(&line.replace('⏎', "\n")).iter().map(shown).collect::<Vec<_>>().join("; ");
        count += 1;
        if got != want.trim() {
            let _ = writeln!(wrong, "{line}\n  want {want}\n  got  {got}");
        }
    }
    assert!(count >= 150, "only {count} rows");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Rows from outside, where they are: dangerous ones are seen, harmless ones are left alone.
#[test]
fn tricky_lines_are_seen_through() {
    use crate::domain::Verb;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/tricky_shell.tsv");
    let Ok(table) = fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return;
    };
    let stops = [Verb::Delete, Verb::Overwrite, Verb::Publish, Verb::Request, Verb::Escalate, Verb::Unknown];
    let mut wrong = String::new();
    for row in table.lines().skip(1) {
        let mut columns = row.split('\t');
        let (Some(line), Some(_), Some(verdict)) = (columns.next(), columns.next(), columns.next()) else { continue };
        let effects = effects(line);
        let seen = match verdict {
            "D" => effects.iter().any(|e| stops.contains(&e.verb)),
            "A" => !effects.iter().any(|e| e.is_critical() || e.is_opaque()),
            _ => true,
        };
        let listed = effects.iter().map(shown).collect::<Vec<_>>().join("; ");
        println!("{verdict} {line}\n    {listed}");
        if !seen {
            let _ = writeln!(wrong, "{verdict} {line}: {listed}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Commands of real agents, where they are: none may panic; how many stay opaque is printed.
#[test]
fn real_lines_are_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bench/odcv_bash_calls.jsonl");
    let Ok(table) = fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return;
    };
    let (mut all, mut opaque, mut unreadable) = (0, 0, 0);
    let mut whys = std::collections::BTreeMap::<String, usize>::new();
    let start = Instant::now();
    for row in table.lines() {
        let Ok(row) = serde_json::from_str::<serde_json::Value>(row) else { continue };
        let Some(line) = row["command"].as_str() else { continue };
        all += 1;
        let effects = effects(line);
        let hidden: Vec<&Effect> = effects.iter().filter(|e| e.is_opaque()).collect();
        opaque += usize::from(!hidden.is_empty());
        for effect in &hidden {
            let why = effect.attributes.get("why").map(ToString::to_string).unwrap_or_default();
            unreadable += usize::from(why.contains("not valid shell"));
            *whys.entry(format!("{effect}: {why}")).or_default() += 1;
        }
    }
    println!("{all} lines, {opaque} with an opaque effect, {unreadable} unreadable, {:?}", start.elapsed());
    let mut whys: Vec<_> = whys.into_iter().collect();
    whys.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for (why, n) in whys.iter().take(40) {
        println!("{n:6} {why}");
    }
    assert!(unreadable * 100 < all.max(1), "{unreadable} of {all} lines are unreadable");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    /// Any text is understood as something: no panic, never without an effect, the same twice.
    #[test]
    fn any_text_has_effects(text in any::<String>()) {
        let action = blind(&text);
        prop_assert!(!action.effects.is_empty());
        prop_assert!(action.effects.len() <= 1_001);
        prop_assert_eq!(action, blind(&text));
    }

    /// The same for text made of what shells are made of.
    #[test]
    fn any_shell_soup_has_effects(parts in prop::collection::vec(prop::sample::select(SOUP), 0..40)) {
        let action = blind(&parts.concat());
        prop_assert!(!action.effects.is_empty());
    }

    /// A harmless command in front, behind or around hides nothing.
    #[test]
    fn company_hides_nothing(
        before in prop::sample::select(&["", "ls; ", "true && ", "echo x | cat; ", "cat <<E\nhi\nE\n", "if true; then ", "( ", "{ "][..]),
        deed in prop::sample::select(&["rm -rf dist", "'r'm -r dist", "sudo rm -r ./dist/", "sh -c 'rm -r dist'", "X=dist; rm -r $X"][..]),
    ) {
        let after = match before { "if true; then " => "; fi", "( " => " )", "{ " => "; }", _ => " && ls" };
        let line = format!("{before}{deed}{after}");
        let found = effects(&line).iter().any(|e| e.to_string() == "delete dist/**");
        prop_assert!(found, "{}", line);
    }

    /// Quoted text given to a command that only prints it does nothing.
    #[test]
    fn printed_text_does_nothing(text in "[ -~&&[^']]{0,60}") {
        let line = format!("echo '{text}'");
        prop_assert!(effects(&line).is_empty(), "{}", line);
    }
}

const SOUP: &[&str] = &[
    "rm ",
    "-rf ",
    "a",
    "/",
    "..",
    "~",
    "$X",
    "${X:-",
    "}",
    "$(",
    ")",
    "`",
    "'",
    "\"",
    "\\",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "(",
    "{ ",
    "if ",
    "then ",
    "fi ",
    "for i in ",
    "do ",
    "done ",
    "case x in ",
    "esac",
    "<<E\n",
    "E\n",
    ">",
    "<",
    "<(",
    ">(",
    "$((",
    "))",
    "[[ ",
    " ]]",
    "{a,b}",
    "{1..9}",
    "*",
    "?",
    "[a-z]",
    "eval ",
    "bash -c ",
    "xargs ",
    "find . ",
    "-exec ",
    "f() ",
    "f ",
    "X=",
    "X=$X$X ",
    "git push ",
    "sudo ",
    "cd ",
    "trap ",
    "$'\\x41'",
    "${x@P}",
    "!",
    "#",
    " ",
    "time ",
    "coproc ",
    "function ",
    "while ",
    "a=(",
    "$@",
    "é",
    "\u{202e}",
    "\0",
];

/// Hostile text costs little.
#[test]
fn hostile_text_is_cheap() {
    let doubled = format!("x=aaaaaaaa; {}rm $x", "x=$x$x; ".repeat(60));
    let calls = (0..30).map(|i| format!("f{i}() {{ f{}; f{}; }}; ", i + 1, i + 1)).collect::<String>() + "f0";
    let loops = format!("{}rm a{}", "for i in {1..9}; do ".repeat(12), "; done".repeat(12));
    let noise: String =
        (0_u32..1_000_000).map(|i| char::from(32 + (i.wrapping_mul(2_654_435_761) >> 20) as u8 % 95)).collect();
    for (name, line) in [
        ("parentheses", "(".repeat(5_000)),
        ("broken parentheses", format!("{}a |{}", "(".repeat(60), ")".repeat(60))),
        ("cases", "case x in a) (".repeat(40)),
        ("groups", "{ ".repeat(20_000)),
        ("ifs", format!("{}true{}", "if ".repeat(1_000), "; then :; fi".repeat(1_000))),
        ("substitutions", format!("echo {}x{}", "$(echo ".repeat(500), ")".repeat(500))),
        ("open substitutions", "$(".repeat(3_000)),
        ("defaults", format!("echo {}x{}", "${a:-".repeat(900), "}".repeat(900))),
        ("backticks", "`".repeat(9_999)),
        ("braces", "{a,b}".repeat(2_000)),
        ("half braces", "{a..".repeat(9_000)),
        ("lists", "a && ".repeat(20_000)),
        ("globs", format!("rm {}", "*".repeat(60_000))),
        ("evals", format!("{}rm a", "eval ".repeat(200))),
        ("doubled", doubled),
        ("calls", calls),
        ("loops", loops),
        ("here-document", format!("cat <<E\n{}\nE", "$( ".repeat(30))),
        ("quoted parentheses", format!("cat <<E\n{}\nE", "$( ')' ".repeat(30))),
        ("quoted closers", format!("echo {}{}", "$(echo ')' ".repeat(24), ")".repeat(24))),
        ("case in substitutions", format!("echo {}{}", "$(case x in x) echo ".repeat(10), ";; esac)".repeat(10))),
        ("nested defaults", format!("echo \"{}{}\"", "${a:-$(echo ".repeat(12), ")}".repeat(12))),
        ("open defaults", format!("cat <<E\n{}\nE", "${a:-$(".repeat(15))),
        ("noise", noise),
        ("one word", "a".repeat(120_000)),
    ] {
        let start = Instant::now();
        let action = blind(&line);
        println!("{name}: {:?}, {} effects", start.elapsed(), action.effects.len());
        assert!(!action.effects.is_empty(), "{name}");
        assert!(start.elapsed().as_secs() < 20, "{name}");
    }
}
