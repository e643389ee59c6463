//! Which paths a glob means, as a shell with its default options expands it: `*`, `?`, `[…]`; a leading dot is
//! matched by a dot only. `**` goes deeper than a shell would, so that a guard never sees less than what runs.
//! Braces are no part of it: they are expanded before.

use super::{Caps, unavailable};
use crate::domain::Fact;
use regex::Regex;
use std::{
    path::{Path, PathBuf},
    str::Chars,
    time::Instant,
};

/// The paths that `pattern` matches, sorted; relative to the workspace where the pattern is.
pub(super) fn expand(workspace: &Path, pattern: &str, caps: &Caps) -> Fact {
    let mut walk = Walk { caps, started: Instant::now(), found: Vec::new(), capped: false, odd: false };
    let root = if pattern.starts_with('/') { PathBuf::from("/") } else { workspace.to_owned() };
    let segments: Vec<&str> = pattern.split('/').filter(|s| !s.is_empty() && *s != ".").collect();
    let shown = if pattern.starts_with('/') { "/" } else { "" };
    walk.step(&root, shown, &segments, pattern.ends_with('/'));
    if walk.odd {
        return unavailable("a name that could match is not UTF-8");
    }
    walk.found.sort();
    walk.found.dedup();
    Fact::Glob { paths: walk.found, capped: walk.capped }
}

struct Walk<'a> {
    caps: &'a Caps,
    started: Instant,
    found: Vec<String>,
    capped: bool,
    /// Met a name that has no text form.
    odd: bool,
}

impl Walk<'_> {
    fn step(&mut self, dir: &Path, shown: &str, segments: &[&str], only_dirs: bool) {
        let Some((first, rest)) = segments.split_first() else {
            return self.arrive(dir, shown, only_dirs);
        };
        let Some(matcher) = matcher(first) else {
            let name = plain(first);
            return self.step(&dir.join(&name), &format!("{shown}{name}/"), rest, only_dirs);
        };
        let deep = *first == "**";
        if deep {
            self.step(dir, shown, rest, only_dirs);
        }
        let Ok(entries) = std::fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            if self.found.len() >= self.caps.matches || self.started.elapsed() > self.caps.time {
                self.capped = true;
                return;
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                self.odd = true;
                continue;
            };
            let hidden = name.starts_with('.') && !first.trim_start_matches('\\').starts_with('.');
            if hidden || !matcher.is_match(name) {
                continue;
            }
            // Links are followed by a wildcard, as a shell does, and not by the depth of `**`.
            let deeper = deep && entry.file_type().is_ok_and(|t| t.is_dir());
            let next = if deeper { segments } else { rest };
            self.step(&entry.path(), &format!("{shown}{name}/"), next, only_dirs);
        }
    }

    fn arrive(&mut self, at: &Path, shown: &str, only_dirs: bool) {
        let there = if only_dirs { at.is_dir() } else { at.symlink_metadata().is_ok() };
        if there && !shown.is_empty() {
            let name = shown.trim_end_matches('/');
            self.found.push(if name.is_empty() { "/" } else { name }.to_owned());
        }
    }
}

/// A matcher for one segment, or `None` where it has no wildcard.
fn matcher(segment: &str) -> Option<Regex> {
    let mut regex = String::from("(?s)^");
    let mut wild = false;
    let mut chars = segment.chars();
    while let Some(c) = chars.next() {
        let part = match c {
            '*' => ".*".to_owned(),
            '?' => ".".to_owned(),
            '[' => class(&mut chars).unwrap_or_else(|| "\\[".to_owned()),
            '\\' => escaped(chars.next().unwrap_or('\\')),
            c => escaped(c),
        };
        wild |= matches!(c, '*' | '?') || part.starts_with('[');
        regex.push_str(&part);
    }
    regex.push('$');
    if wild { Regex::new(&regex).ok() } else { None }
}

/// The rest of a bracket expression as a regex class; `None`, and nothing taken, where it does not close.
fn class(chars: &mut Chars<'_>) -> Option<String> {
    let mut at = chars.clone();
    let negated = at.as_str().starts_with(['!', '^']);
    if negated {
        at.next();
    }
    let mut set = String::new();
    let mut first = true;
    loop {
        let c = at.next()?;
        if c == ']' && !first {
            break;
        }
        first = false;
        let from = match c {
            '[' if at.as_str().starts_with(':') => {
                let (name, after) = at.as_str().get(1..)?.split_once(":]")?;
                set.push_str(&format!("[:{name}:]"));
                at = after.chars();
                continue;
            }
            '\\' => at.next()?,
            c => c,
        };
        let to = range_end(&mut at).unwrap_or(from);
        if from <= to {
            set.push_str(&format!("{}-{}", escaped(from), escaped(to)));
        }
    }
    *chars = at;
    // Reversed ranges alone leave a set without members.
    Some(match (set.is_empty(), negated) {
        (true, false) => "[^\\s\\S]".to_owned(),
        (true, true) => "[\\s\\S]".to_owned(),
        (false, false) => format!("[{set}]"),
        (false, true) => format!("[^{set}]"),
    })
}

/// Takes `-x` where it makes a range; a `-` before the closing bracket is a member.
fn range_end(at: &mut Chars<'_>) -> Option<char> {
    let mut ahead = at.clone();
    let end = (ahead.next() == Some('-')).then(|| ahead.next()).flatten().filter(|c| *c != ']')?;
    let end = if end == '\\' { ahead.next()? } else { end };
    *at = ahead;
    Some(end)
}

fn escaped(c: char) -> String {
    if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() }
}

fn plain(segment: &str) -> String {
    let mut name = String::new();
    let mut chars = segment.chars();
    while let Some(c) = chars.next() {
        name.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn globs_mean_what_a_shell_makes_of_them() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("d/e")).unwrap();
        fs::create_dir_all(root.join(".h")).unwrap();
        for name in ["a.log", "b.log", "c.txt", "[x]", ".env", "d/a.log", "d/e/a.log", ".h/a.log", "*"] {
            fs::write(root.join(name), "").unwrap();
        }
        symlink("d/e", root.join("l")).unwrap();
        for (pattern, want) in [
            ("*.log", vec!["a.log", "b.log"]),
            ("[!a].log", vec!["b.log"]),
            ("[a-b].log", vec!["a.log", "b.log"]),
            ("[[:alpha:]].txt", vec!["c.txt"]),
            ("[[]x[]]", vec!["[x]"]),
            ("[x", vec![]),
            ("?.log", vec!["a.log", "b.log"]),
            (".*", vec![".env", ".h"]),
            ("*/a.log", vec!["d/a.log", "l/a.log"]),
            ("**/a.log", vec!["a.log", "d/a.log", "d/e/a.log", "l/a.log"]),
            ("d/**", vec!["d", "d/a.log", "d/e", "d/e/a.log"]),
            ("*/", vec!["d", "l"]),
            ("./d/*", vec!["d/a.log", "d/e"]),
            ("\\*", vec!["*"]),
            ("nothing*", vec![]),
        ] {
            let got = expand(root, pattern, &Caps::default());
            let paths = want.into_iter().map(str::to_owned).collect();
            assert_eq!(got, Fact::Glob { paths, capped: false }, "{pattern}");
        }
        let absolute = format!("{}/a.*", root.display());
        let paths = vec![format!("{}/a.log", root.display())];
        assert_eq!(expand(root, &absolute, &Caps::default()), Fact::Glob { paths, capped: false });
    }
}
