//! Which label a resource carries: globs of paths and words in names to `secret`, `internal`, `production`,
//! `personal`. Data, read once; nothing here looks at contents.

use crate::domain::{Extent, Kind, Places, Resource};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    #[error("the label table cannot be read: {0} (see `assets/labels.toml` for its form)")]
    Form(#[from] toml::de::Error),
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    label: String,
    /// Globs of canonical paths; one without a `/` means a name in any directory.
    #[serde(default)]
    paths: Vec<String>,
    /// Globs that take a path out again.
    #[serde(default)]
    not: Vec<String>,
    /// Words which, standing alone in any kind of name, give the label.
    #[serde(default)]
    words: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    labels: Vec<Entry>,
}

/// The table, and what copies and moves in this session carried along.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    table: Table,
    carried: BTreeMap<String, BTreeSet<String>>,
}

impl Labels {
    pub fn parse(text: &str) -> Result<Self, LabelError> {
        Ok(Labels { table: toml::from_str(text)?, carried: BTreeMap::new() })
    }

    /// The table that ships with weal.
    pub fn shipped() -> Self {
        // A test parses the shipped table; without it nothing would be labelled, which no rule mistakes for safe.
        Labels::parse(include_str!("../../assets/labels.toml")).unwrap_or_default()
    }

    /// From now on the canonical path `name` carries `labels` too (it was copied, moved or made from such a thing).
    pub fn carry(&mut self, name: &str, labels: &[String]) {
        if !labels.is_empty() {
            self.carried.entry(name.to_owned()).or_default().extend(labels.iter().cloned());
        }
    }

    /// All labels of a resource, sorted.
    pub fn of(&self, resource: &Resource, places: &Places) -> Vec<String> {
        let mut found = BTreeSet::new();
        for entry in &self.table.labels {
            if entry.holds(resource, places) {
                found.insert(entry.label.clone());
            }
        }
        if let (Kind::Path, Some(name)) = (resource.kind, resource.name()) {
            found.extend(self.carried.get(name).into_iter().flatten().cloned());
            if let Extent::Subtree(base) = &resource.extent {
                let below = format!("{base}/");
                let inside = self.carried.iter().filter(|(n, _)| base == "." || n.starts_with(&below));
                found.extend(inside.flat_map(|(_, labels)| labels.iter().cloned()));
            }
        }
        found.into_iter().collect()
    }
}

impl Entry {
    fn holds(&self, resource: &Resource, places: &Places) -> bool {
        let text = match &resource.extent {
            Extent::One(name) | Extent::Subtree(name) => name.clone(),
            // A stand-in that the pattern would match.
            Extent::Glob(glob) => glob.replace("**/", "").replace(['*', '?'], "x"),
            Extent::Any => return false,
        };
        if self.words.iter().any(|w| has_word(&text, w)) {
            return true;
        }
        if resource.kind != Kind::Path {
            return false;
        }
        let absolute = places.absolute(&text);
        let matched = |glob: &String| {
            let glob = anchored(glob, places);
            glob_matches(&glob, &absolute)
                || matches!(&resource.extent, Extent::Subtree(_)) && reaches_below(&glob, &absolute)
        };
        self.paths.iter().any(matched) && !self.not.iter().any(|g| glob_matches(&anchored(g, places), &absolute))
    }
}

/// `name` → in any directory; `~/…` and relative ones → absolute.
fn anchored(glob: &str, places: &Places) -> String {
    match glob.strip_prefix("~/") {
        Some(rest) => format!("{}/{rest}", places.home.trim_end_matches('/')),
        None if glob.starts_with('/') || glob.starts_with("**/") => glob.to_owned(),
        None => format!("**/{glob}"),
    }
}

/// A glob with a fixed directory in front reaches into a subtree that holds this directory, and one that ends in
/// `/**` covers a subtree with that base.
fn reaches_below(glob: &str, base: &str) -> bool {
    let fixed = glob.split(['*', '?', '[']).next().unwrap_or("");
    let held = base == "/" || fixed.strip_prefix(base).is_some_and(|rest| rest.starts_with('/'));
    held && !fixed.is_empty() || glob_matches(glob, &format!("{base}/x")) && glob.ends_with("/**")
}

/// The word stands alone: no letter or digit beside it.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|part| part.eq_ignore_ascii_case(word))
}

/// `*` and `?` within one component, `**` over components, everything else literal; case counts.
pub(super) fn glob_matches(glob: &str, path: &str) -> bool {
    let glob: Vec<&str> = glob.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    // With every `**` the earlier ones need no second try: greedy with one fall-back point is enough.
    let (mut g, mut p, mut retry) = (0, 0, None);
    while let Some(part) = path.get(p) {
        match glob.get(g) {
            Some(&"**") => {
                retry = Some((g, p));
                g += 1;
                continue;
            }
            Some(pattern) if name_matches(pattern, part) => {
                g += 1;
                p += 1;
                continue;
            }
            Some(_) | None => {}
        }
        let Some((star, from)) = retry else { return false };
        retry = Some((star, from + 1));
        g = star + 1;
        p = from + 1;
    }
    glob.get(g..).is_some_and(|rest| rest.iter().all(|part| *part == "**"))
}

/// `*` and `?` in one name.
pub(super) fn name_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut g, mut n, mut retry) = (0, 0, None);
    while let Some(c) = name.get(n) {
        match pattern.get(g) {
            Some('*') => {
                retry = Some((g, n));
                g += 1;
                continue;
            }
            Some(p) if *p == '?' || p == c => {
                g += 1;
                n += 1;
                continue;
            }
            Some(_) | None => {}
        }
        let Some((star, from)) = retry else { return false };
        retry = Some((star, from + 1));
        g = star + 1;
        n = from + 1;
    }
    pattern.get(g..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() }
    }

    #[test]
    fn the_shipped_table_labels_what_it_should() {
        let labels = Labels::parse(include_str!("../../assets/labels.toml")).unwrap();
        for (resource, want) in [
            (".env", "secret"),
            ("api/.env.local", "secret"),
            (".env.example", ""),
            ("docs/environment.md", ""),
            ("~/.ssh/id_ed25519", "secret"),
            ("~/.ssh/**", "secret"),
            ("~/**", "personal,secret"),
            ("~/.aws/**", "secret"),
            ("certs/server.pem", "secret"),
            ("*.pem", "secret"),
            ("src/keyboard.rs", ""),
            ("config/credentials.json", "secret"),
            ("deploy/prod.yaml", "production"),
            ("products/list.txt", ""),
            ("host:db.prod.example.org", "production"),
            ("branch:production", "production"),
            ("./**", ""),
            ("internal/notes.md", "internal"),
        ] {
            let got = labels.of(&resource.parse().unwrap(), &places()).join(",");
            assert_eq!(got, want, "{resource}");
        }
    }

    #[test]
    fn labels_travel_with_copies() {
        let mut labels = Labels::shipped();
        labels.carry("out/x.txt", &["secret".to_owned()]);
        assert_eq!(labels.of(&Resource::path("out/x.txt"), &places()), ["secret"]);
        assert_eq!(labels.of(&Resource::subtree("out"), &places()), ["secret"]);
        assert!(labels.of(&Resource::path("out/y.txt"), &places()).is_empty());
    }

    #[test]
    fn globs() {
        for (glob, path, want) in [
            ("**/a", "a", true),
            ("**/a", "x/y/a", true),
            ("a/**", "a", true),
            ("a/**/b", "a/x/b/y/b", true),
            ("a/*", "a/b/c", false),
            ("a?c", "abc", true),
            ("*.pem", "x.pem.txt", false),
        ] {
            assert_eq!(glob_matches(glob, path), want, "{glob} {path}");
        }
    }
}
