//! The arrows between rooms, held: a `crate::` path or a vendor crate outside the table fails with its place.

// Said aloud although always so: clippy lets helpers in test modules unwrap, and knows them by this.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "the source is read as text")]

use std::{fs, path::Path};

/// Each room with the rooms it may speak of. Every room may speak of itself.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("policy", &["domain"]),
    ("intake", &["domain"]),
    ("library", &["domain", "policy"]),
    ("restore", &["domain", "library"]),
    ("hazard", &["domain"]),
    ("session", &["domain", "policy", "intake", "library", "restore", "hazard"]),
    ("ports", &["domain", "policy"]),
    ("store", &["domain", "ports"]),
    ("model", &["domain", "ports"]),
    ("tools", &["domain", "policy", "ports"]),
    ("agent", &["domain", "policy", "intake", "library", "restore", "hazard", "session", "ports"]),
    ("tui", &["domain", "policy", "hazard", "session", "ports"]),
    (
        "app",
        &[
            "domain", "policy", "intake", "library", "restore", "hazard", "session", "ports", "store", "model",
            "tools", "agent", "tui",
        ],
    ),
];

/// Vendor crates with the rooms that own them.
const OWNERS: &[(&str, &[&str])] = &[
    ("ratatui", &["tui"]),
    ("ratatui_textarea", &["tui"]),
    ("crossterm", &["tui"]),
    ("syntect", &["tui"]),
    ("pulldown_cmark", &["tui"]),
    ("rusqlite", &["store"]),
    ("hmac", &["store"]),
    ("async_openai", &["model"]),
    ("rustls", &["model"]),
    ("brush_parser", &["intake"]),
    ("cap_std", &["tools"]),
    // the log's own tests lock a child out of its directory
    ("landlock", &["tools", "store"]),
    ("statrs", &["hazard"]),
    ("clap", &["app"]),
    ("anyhow", &["app"]),
    ("tracing_subscriber", &["app"]),
    ("tracing_appender", &["app"]),
    ("tokio", &["app", "agent", "ports", "store", "model", "tools", "tui"]),
];

struct Line<'a> {
    place: String,
    room: &'a str,
    text: &'a str,
}

fn each_line(visit: &mut dyn FnMut(Line<'_>)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("src can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let inside = path.strip_prefix(&root).expect("below src").to_string_lossy().into_owned();
                let room = inside.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
                let text = fs::read_to_string(&path).expect("a source file");
                for (n, line) in text.lines().enumerate() {
                    let code = line.split("//").next().unwrap_or_default();
                    visit(Line { place: format!("src/{inside}:{}", n + 1), room: &room, text: code });
                }
            }
        }
    }
}

/// The words that follow `before` in `text` (`crate::` → room names).
fn words_after<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    let rest = text.split(before).skip(1);
    rest.map(|r| r.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()).collect()
}

#[test]
fn rooms_speak_only_of_rooms_below_them() {
    let mut broken = Vec::new();
    each_line(&mut |line| {
        let Some((_, allowed)) = ARROWS.iter().find(|(room, _)| *room == line.room) else { return };
        for target in words_after(line.text, "crate::") {
            let known = ARROWS.iter().any(|(room, _)| *room == target);
            if known && target != line.room && !allowed.contains(&target) {
                broken.push(format!("{} {} -> {target}", line.place, line.room));
            }
        }
    });
    assert!(broken.is_empty(), "arrows outside the table:\n{}", broken.join("\n"));
}

#[test]
fn vendor_crates_stay_in_their_rooms() {
    let mut broken = Vec::new();
    each_line(&mut |line| {
        for (vendor, owners) in OWNERS {
            let path = format!("{vendor}::");
            let at = line.text.find(&path);
            let whole_word =
                at.is_some_and(|i| !line.text[..i].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'));
            if whole_word && !owners.contains(&line.room) && line.room != "main" {
                broken.push(format!("{} {} -> {vendor}", line.place, line.room));
            }
        }
    });
    assert!(broken.is_empty(), "vendor crates outside their rooms:\n{}", broken.join("\n"));
}

#[test]
fn every_room_is_in_the_table() {
    let mut unknown = Vec::new();
    each_line(&mut |line| {
        if !matches!(line.room, "lib" | "main") && !ARROWS.iter().any(|(room, _)| *room == line.room) {
            unknown.push(line.place);
        }
    });
    assert!(unknown.is_empty(), "files outside of every room: {unknown:?}");
}

#[test]
fn every_file_says_what_lives_in_it() {
    let mut silent = Vec::new();
    let mut seen = String::new();
    each_line(&mut |line| {
        let file = line.place.split(':').next().unwrap_or_default().to_owned();
        if file != seen {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
            if !fs::read_to_string(path).is_ok_and(|t| t.starts_with("//!")) {
                silent.push(file.clone());
            }
            seen = file;
        }
    });
    assert!(silent.is_empty(), "files that do not open with //!: {silent:?}");
}
