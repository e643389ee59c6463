//! Written names: what looks like one, and the resource it stands for.

use super::items::Object;
use crate::domain::{Kind, Resource};

/// `20`, `$20`, `20€`, `1,000`, `24h`, `5MB`.
pub(crate) fn is_number(text: &str) -> bool {
    let inner = text.trim_start_matches(['$', '€', '£', '<', '>', '~', '+']);
    let digits = inner.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '_' | ',')).count();
    let rest: String = inner.chars().skip(digits).collect();
    inner.starts_with(|c: char| c.is_ascii_digit())
        && (rest.is_empty()
            || matches!(rest.as_str(), "$" | "€" | "£" | "%" | "h" | "d" | "m" | "k")
            || is_size(&rest))
}

fn is_size(unit: &str) -> bool {
    matches!(unit.to_lowercase().as_str(), "kb" | "mb" | "gb" | "tb")
}

/// Looks like the name of a file, a folder, a host or a person, not like a word.
pub(crate) fn is_name(text: &str) -> bool {
    if text.contains("://") || text.contains('*') {
        return true;
    }
    if text.starts_with('-') || !text.chars().any(char::is_alphanumeric) {
        return false;
    }
    if text.contains('/') || text.starts_with('~') || text.contains('\\') {
        return true;
    }
    if text.starts_with('@') {
        return false;
    }
    if text.contains('@') {
        return text.rsplit('@').next().is_some_and(|host| host.contains('.'));
    }
    if let Some(rest) = text.strip_prefix('.') {
        return rest.starts_with(char::is_alphanumeric);
    }
    match text.rsplit_once('.') {
        Some((stem, ext)) => {
            let short = (1..=8).contains(&ext.chars().count());
            short
                && ext.chars().all(char::is_alphanumeric)
                && ext.chars().any(char::is_alphabetic)
                && stem.chars().any(char::is_alphanumeric)
                && !matches!(text.to_lowercase().as_str(), "e.g." | "i.e." | "etc." | "vs." | "a.m." | "p.m.")
        }
        None => text.contains('_') && text.chars().all(|c| c.is_alphanumeric() || c == '_'),
    }
}

pub(crate) fn branch(name: &str) -> Object {
    Object::Resources(vec![Resource::named(Kind::Branch, name).to_string()])
}

/// A name with the noun beside it that says what it is.
pub(crate) fn headed(head: &str, name: &str) -> Object {
    let resource = match Kind::from_word(head) {
        Some(kind) => Resource::named(kind, name.to_owned()),
        None => Resource::subtree(folder(name)),
    };
    Object::Resources(vec![resource.to_string()])
}

/// A folder's name as the rule language has it: no `./` in front, no slash behind.
fn folder(name: &str) -> String {
    let name = name.strip_prefix("./").unwrap_or(name);
    let cut = name.trim_end_matches('/');
    match (name, cut) {
        ("", _) => ".".to_owned(),
        (_, "") => "/".to_owned(),
        (_, cut) => cut.to_owned(),
    }
}

const HOSTS: [&str; 14] =
    ["com", "org", "net", "io", "dev", "app", "example", "invalid", "local", "eu", "de", "uk", "cloud", "ai"];

/// The resource that a written name stands for.
pub(crate) fn from_name(text: &str) -> Object {
    if let Some((_, rest)) = text.split_once("://") {
        let host = rest.split(['/', '?', '#', ':']).next().unwrap_or(rest);
        return Object::Resources(vec![Resource::named(Kind::Host, host).to_string()]);
    }
    if text.contains('@') && !text.contains('/') {
        return Object::Address(Resource::named(Kind::Contact, text).to_string());
    }
    let inner = text.strip_prefix("./").unwrap_or(text);
    if inner.contains(['*', '?', '[', '{']) {
        let glob = match inner.strip_suffix("/*") {
            Some(base) if !base.contains(['*', '?', '[', '{']) => format!("{base}/**"),
            _ if inner.contains('/') => inner.to_owned(),
            _ => format!("**/{inner}"),
        };
        return Object::Resources(vec![glob]);
    }
    if let Some((remote, name)) = inner.split_once('/')
        && matches!(remote, "origin" | "upstream")
        && !name.is_empty()
    {
        return branch(name);
    }
    let last = inner.trim_end_matches('/').rsplit('/').next().unwrap_or(inner);
    let extension = last.rsplit_once('.').map(|(stem, ext)| (stem, ext.to_lowercase()));
    let resource = match extension {
        _ if inner.ends_with('/') => Resource::subtree(folder(inner)),
        Some((stem, ext)) if !inner.contains('/') && !stem.is_empty() && HOSTS.contains(&ext.as_str()) => {
            Resource::named(Kind::Host, inner)
        }
        Some((stem, _)) if !stem.is_empty() => Resource::path(inner),
        Some((_, ext)) if ext.ends_with("rc") || ext.ends_with("ignore") || ext == "env" => Resource::path(inner),
        _ if inner.contains('/') || inner.starts_with(['.', '~']) => Resource::subtree(folder(inner)),
        _ => return Object::Unknown(text.to_owned()),
    };
    Object::Resources(vec![resource.to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_resources() {
        for (name, want) in [
            ("records/", "records/**"),
            ("./records", "records"),
            ("records/2019", "records/2019/**"),
            ("src/a.rs", "src/a.rs"),
            ("notes.txt", "notes.txt"),
            (".github/", ".github/**"),
            (".claude", ".claude/**"),
            (".gitignore", ".gitignore"),
            (".env", ".env"),
            ("~/old", "~/old/**"),
            ("/etc/hosts", "/etc/hosts/**"),
            ("*.log", "**/*.log"),
            ("tmp/*", "tmp/**"),
            ("data/*.csv", "data/*.csv"),
            ("https://api.shop.example/v1?x", "host:api.shop.example"),
            ("mirror.org", "host:mirror.org"),
            ("origin/main", "branch:main"),
            ("a[1]/", "a[1]/"),
        ] {
            match from_name(name) {
                Object::Resources(got) => assert_eq!(got, [want], "{name}"),
                Object::Unknown(_) if name == "./records" => {}
                other => panic!("{name}: {other:?}"),
            }
        }
        assert_eq!(from_name("ann@shop.example"), Object::Address("contact:ann@shop.example".into()));
    }
}
