//! Small texts with holes, from which a session file makes many different files the same way every time.
//!
//! `{n}` and `{n:04}` are the file's number, `{10..99}` some number of that range, `{ann|bo|cy}` one of these words;
//! `{{` and `}}` are braces. Which number or word it is depends on the file's path alone.
//!
//! What never lives here: randomness, and arithmetic.

use crate::domain::Digest;

#[derive(Debug, Clone, PartialEq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Number { width: usize },
    Range { low: u64, high: u64 },
    Choice(Vec<String>),
}

/// What is wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("`{{` without its `}}` (write `{{{{` for a brace)")]
    Open,
    #[error("`}}` without its `{{` (write `}}}}` for a brace)")]
    Stray,
    #[error("`{{{0}}}` is no hole (try `{{n}}`, `{{n:04}}`, `{{10..99}}` or `{{this|that}}`)")]
    Hole(String),
}

impl Template {
    pub fn parse(source: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = source;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            text.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                text.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                text.push('}');
                rest = after;
            } else if let Some(after) = from.strip_prefix('{') {
                let (hole, after) = after.split_once('}').ok_or(TemplateError::Open)?;
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::parse(hole)?);
                rest = after;
            } else {
                return Err(TemplateError::Stray);
            }
        }
        text.push_str(rest);
        parts.push(Part::Text(text));
        Ok(Template(parts))
    }

    /// The text of file number `n`; `key` (its path) picks numbers and words.
    pub fn fill(&self, n: u64, key: &str) -> String {
        let mut out = String::new();
        for (hole, part) in self.0.iter().enumerate() {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Number { width } => out.push_str(&format!("{n:0width$}")),
                Part::Range { low, high } => {
                    let span = (high - low).saturating_add(1);
                    out.push_str(&(low + draw(key, hole) % span).to_string());
                }
                Part::Choice(words) => {
                    let at = draw(key, hole) % (words.len() as u64).max(1);
                    out.push_str(words.get(at as usize).map_or("", String::as_str));
                }
            }
        }
        out
    }
}

impl Part {
    fn parse(hole: &str) -> Result<Part, TemplateError> {
        let bad = || TemplateError::Hole(hole.to_owned());
        if hole == "n" {
            return Ok(Part::Number { width: 0 });
        }
        if let Some(width) = hole.strip_prefix("n:0") {
            return width.parse().ok().filter(|w| *w <= 20).map(|width| Part::Number { width }).ok_or_else(bad);
        }
        if hole.contains('|') {
            return Ok(Part::Choice(hole.split('|').map(str::to_owned).collect()));
        }
        let (low, high) = hole.split_once("..").ok_or_else(bad)?;
        match (low.parse(), high.parse()) {
            (Ok(low), Ok(high)) if low <= high => Ok(Part::Range { low, high }),
            _ => Err(bad()),
        }
    }
}

fn draw(key: &str, hole: usize) -> u64 {
    let Digest([a, b, c, d, e, f, g, h, ..]) = Digest::of_parts([key.as_bytes(), &(hole as u64).to_le_bytes()]);
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(source: &str, n: u64) -> String {
        Template::parse(source).unwrap().fill(n, &format!("file {n}"))
    }

    #[test]
    fn holes_are_filled_and_braces_kept() {
        assert_eq!(fill("r/{n:04}.txt", 7), "r/0007.txt");
        assert_eq!(fill("no {n} {{x}} é", 12), "no 12 {x} é");
        let drawn: Vec<u64> = (0..200).map(|n| fill("{10..19}", n).parse().unwrap()).collect();
        assert!((10..=19).all(|want| drawn.contains(&want)) && drawn.iter().all(|d| (10..=19).contains(d)));
        let words: Vec<String> = (0..50).map(|n| fill("{ann|bo}", n)).collect();
        assert!(words.iter().all(|w| w == "ann" || w == "bo") && words.iter().any(|w| *w != words[0]));
        assert_eq!(fill("{1..9} {1..9} {a|b|c}", 3), fill("{1..9} {1..9} {a|b|c}", 3));
        assert!(fill("{0..18446744073709551615}", 3).parse::<u64>().is_ok());
    }

    #[test]
    fn what_is_no_template_is_told() {
        for (source, want) in [
            ("{n", TemplateError::Open),
            ("n}", TemplateError::Stray),
            ("{m}", TemplateError::Hole("m".into())),
            ("{9..1}", TemplateError::Hole("9..1".into())),
            ("{n:4}", TemplateError::Hole("n:4".into())),
            ("{n:0999}", TemplateError::Hole("n:0999".into())),
        ] {
            assert_eq!(Template::parse(source), Err(want), "{source}");
        }
    }
}
