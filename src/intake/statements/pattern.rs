//! The little language in which cues are written as data: words in a row, `a|b` for a choice, `@class` for a
//! word class, `_` for any one word, `?` after an element that may be missing, `*` for up to four of it.

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
enum What {
    AnyWord,
    OneOf(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
struct Element {
    what: What,
    least: u8,
    most: u8,
}

/// Words in a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pattern(Vec<Element>);

pub(crate) type Classes = BTreeMap<String, Vec<String>>;

impl Pattern {
    /// Reads `text`; an unknown class or an empty pattern is `None`.
    pub(crate) fn read(text: &str, classes: &Classes) -> Option<Pattern> {
        let elements: Option<Vec<_>> = text.split_whitespace().map(|word| Element::read(word, classes)).collect();
        elements.filter(|e| e.iter().any(|e| e.least > 0 && e.what != What::AnyWord)).map(Pattern)
    }

    /// Words in a row and nothing else.
    pub(crate) fn literal(words: &str) -> Pattern {
        let one = |w: &str| Element { what: What::OneOf(vec![w.to_owned()]), least: 1, most: 1 };
        Pattern(words.split_whitespace().map(one).collect())
    }

    /// The words with which a match can begin.
    pub(crate) fn firsts(&self) -> Vec<&str> {
        let mut firsts = Vec::new();
        for element in &self.0 {
            if let What::OneOf(words) = &element.what {
                firsts.extend(words.iter().map(String::as_str));
            }
            if element.least > 0 {
                break;
            }
        }
        firsts
    }

    /// How many of `words` the longest match at their beginning takes.
    pub(crate) fn longest<'a>(&self, words: &impl Fn(usize) -> Option<&'a str>, at: usize) -> Option<usize> {
        run(&self.0, words, at).map(|end| end - at).filter(|taken| *taken > 0)
    }
}

fn run<'a>(elements: &[Element], words: &impl Fn(usize) -> Option<&'a str>, at: usize) -> Option<usize> {
    let Some((element, rest)) = elements.split_first() else {
        return Some(at);
    };
    let mut best = if element.least == 0 { run(rest, words, at) } else { None };
    let mut next = at;
    for _ in 0..element.most {
        if !words(next).is_some_and(|word| element.fits(word)) {
            break;
        }
        next += 1;
        best = best.max(run(rest, words, next));
    }
    best
}

impl Element {
    fn read(word: &str, classes: &Classes) -> Option<Element> {
        let (body, least, most) = match word.strip_suffix('?') {
            Some(body) => (body, 0, 1),
            None => match word.strip_suffix('*') {
                Some(body) => (body, 0, 4),
                None => (word, 1, 1),
            },
        };
        if body == "_" {
            return Some(Element { what: What::AnyWord, least, most });
        }
        let mut words = Vec::new();
        for part in body.split('|') {
            match part.strip_prefix('@') {
                Some(class) => words.extend(classes.get(class)?.iter().cloned()),
                None => words.push(part.to_owned()),
            }
        }
        Some(Element { what: What::OneOf(words), least, most })
    }

    fn fits(&self, word: &str) -> bool {
        match &self.what {
            What::AnyWord => word.chars().any(char::is_alphanumeric),
            What::OneOf(words) => words.iter().any(|w| w == word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_match_counts() {
        let classes = Classes::from([("ok".to_owned(), vec!["ok".to_owned(), "approval".to_owned()])]);
        for (pattern, text, taken) in [
            ("do not", "do not push", Some(2)),
            ("do not", "do push", None),
            ("my explicit? @ok", "my explicit approval first", Some(3)),
            ("my explicit? @ok", "my approval", Some(2)),
            ("no|never very* more", "no very very more", Some(4)),
            ("i said _ twice", "i said it twice", Some(4)),
            ("please* stop", "stop now", Some(1)),
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            let pattern = Pattern::read(pattern, &classes).unwrap();
            assert_eq!(pattern.longest(&|i| words.get(i).copied(), 0), taken, "{text}");
        }
        assert!(Pattern::read("my @nothing", &classes).is_none());
        assert!(Pattern::read("_ _?", &classes).is_none());
    }
}
