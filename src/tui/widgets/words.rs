//! Numbers, sizes and effects in words.

use crate::domain::{Certainty, Effect, RawCall, Scalar};
use std::fmt::Write as _;

/// `12,345`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

/// `12.4k`, `128k`, `812`.
pub fn short(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..100_000 if !n.is_multiple_of(1_000) => format!("{:.1}k", n as f64 / 1e3),
        1_000..1_000_000 => format!("{}k", n / 1_000),
        _ => format!("{:.1}M", n as f64 / 1e6),
    }
}

/// `38 MB`.
pub fn bytes(n: f64) -> String {
    let mut size = n.max(0.0);
    for unit in ["B", "kB", "MB", "GB"] {
        if size < 1000.0 {
            return if unit == "B" || size >= 10.0 {
                format!("{size:.0} {unit}")
            } else {
                format!("{size:.1} {unit}")
            };
        }
        size /= 1000.0;
    }
    format!("{size:.1} TB")
}

/// `0.4s`.
pub fn seconds(millis: u64) -> String {
    format!("{:.1}s", millis as f64 / 1e3)
}

/// `1 file`, `3 files`.
pub fn count(n: u64, one: &str) -> String {
    format!("{} {one}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// What is known of an effect besides verb and resource.
pub fn attributes(effect: &Effect) -> String {
    let mut parts = Vec::new();
    if let Some(files) = effect.number("files") {
        parts.push(count(files.max(0.0) as u64, "file"));
    }
    if let Some(size) = effect.number("bytes") {
        parts.push(bytes(size));
    }
    let made_here = effect.attributes.get("made_here") == Some(&Scalar::Bool(true));
    match effect.attributes.get("exists") {
        _ if made_here => parts.push("made in this session".to_owned()),
        Some(Scalar::Bool(true)) => parts.push("existed before this session".to_owned()),
        Some(Scalar::Bool(false)) => parts.push("does not exist".to_owned()),
        Some(Scalar::Number(_) | Scalar::Text(_)) | None => {}
    }
    for (name, value) in &effect.attributes {
        match (name.as_str(), value) {
            ("files" | "bytes" | "exists" | "made_here", _) | (_, Scalar::Bool(false)) => {}
            (name, Scalar::Bool(true)) => parts.push(name.replace('_', " ")),
            (name, value) => parts.push(format!("{} {value}", name.replace('_', " "))),
        }
    }
    if !effect.labels.is_empty() {
        parts.push(format!("labelled {}", effect.labels.join(", ")));
    }
    match effect.certainty {
        Certainty::Certain => {}
        Certainty::Possible => parts.push("possibly".to_owned()),
        Certainty::Opaque => parts.push("what happens inside cannot be told".to_owned()),
    }
    parts.join(", ")
}

/// A call the way a person reads it: the command, the one argument, or `name=value` for each.
pub fn call(call: &RawCall) -> String {
    if let Some(command) = call.text("command") {
        return command.to_owned();
    }
    let Some(args) = call.args.as_object() else { return call.args.to_string() };
    let value = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    if let (1, Some(only)) = (args.len(), args.values().next()) {
        return value(only);
    }
    let mut text = String::new();
    for (name, v) in args {
        let gap = if text.is_empty() { "" } else { "  " };
        let _ = write!(text, "{gap}{name}={}", value(v));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Resource, Verb};

    #[test]
    fn numbers_read_like_numbers() {
        assert_eq!(thousands(1_204), "1,204");
        assert_eq!(thousands(12), "12");
        assert_eq!(
            ["812", "12.4k", "128k", "2.5M"],
            [812, 12_400, 128_000, 2_500_000].map(short).map(|s| s).each_ref().map(String::as_str)
        );
        assert_eq!(["0 B", "1.5 kB", "38 MB"], [0.0, 1_500.0, 38e6].map(bytes).each_ref().map(String::as_str));
        assert_eq!(count(1, "file"), "1 file");
    }

    #[test]
    fn an_effect_tells_what_is_known() {
        let effect =
            Effect::new(Verb::Delete, Resource::path("a")).with("files", 2.0).with("bytes", 2e6).with("exists", true);
        assert_eq!(attributes(&effect), "2 files, 2.0 MB, existed before this session");
        assert_eq!(attributes(&effect.with("made_here", true)), "2 files, 2.0 MB, made in this session");
    }
}
