//! Brace expansion of a raw word: `{a,b}/{1..3}`. Quotes and substitutions are left as they stand.

/// More words than this are given up.
const MAX_WORDS: usize = 256;
const MAX_DEPTH: usize = 16;

/// All words that `word` stands for, or `None` for too many.
pub(super) fn expand(word: &str) -> Option<Vec<String>> {
    if !word.contains('{') {
        return Some(vec![word.to_owned()]);
    }
    let mut budget = MAX_WORDS;
    expand_at(word, 0, &mut budget)
}

fn expand_at(word: &str, depth: usize, budget: &mut usize) -> Option<Vec<String>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut from = 0;
    for _ in 0..MAX_DEPTH {
        let Some(group) = next_group(word, from) else { break };
        let inner = word.get(group.open + 1..group.close)?;
        let members = if group.commas.is_empty() { sequence(inner) } else { Some(split(word, &group)) };
        let Some(members) = members else {
            from = group.open + 1;
            continue;
        };
        let (before, after) = (word.get(..group.open)?, word.get(group.close + 1..)?);
        let rests = expand_at(after, depth + 1, budget)?;
        let mut out = Vec::new();
        for member in members {
            for middle in expand_at(&member, depth + 1, budget)? {
                for rest in &rests {
                    *budget = budget.checked_sub(1)?;
                    out.push(format!("{before}{middle}{rest}"));
                }
            }
        }
        return Some(out);
    }
    Some(vec![word.to_owned()])
}

struct Group {
    open: usize,
    close: usize,
    commas: Vec<usize>,
}

/// The first balanced `{ … }` at or after `from` that is neither quoted nor part of `${ … }`.
fn next_group(word: &str, from: usize) -> Option<Group> {
    let mut stack: Vec<Group> = Vec::new();
    let mut found: Option<Group> = None;
    let (mut quote, mut escaped, mut parens, mut dollar) = (None, false, 0_usize, false);
    let mut parameter = 0_usize;
    for (at, c) in word.char_indices() {
        let after_dollar = std::mem::replace(&mut dollar, c == '$');
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (quote, c) {
            (_, '\\') if quote != Some('\'') => escaped = true,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '(') => parens += 1,
            (None, ')') => parens = parens.saturating_sub(1),
            (None, _) if parens > 0 => {}
            (None, '{') if after_dollar || parameter > 0 => parameter += 1,
            (None, '}') if parameter > 0 => parameter -= 1,
            (None, '{') if at >= from => stack.push(Group { open: at, close: 0, commas: Vec::new() }),
            (None, ',') => {
                if let Some(group) = stack.last_mut() {
                    group.commas.push(at);
                }
            }
            (None, '}') => {
                if let Some(group) = stack.pop() {
                    let group = Group { close: at, ..group };
                    // The outermost, leftmost one that means something.
                    let outer = found.as_ref().is_none_or(|f| group.open < f.open);
                    let means =
                        !group.commas.is_empty() || word.get(group.open..at).is_some_and(|t| t.contains(".."));
                    if outer && means {
                        found = Some(group);
                    }
                    if stack.is_empty() && found.is_some() {
                        return found;
                    }
                }
            }
            (None, _) => {}
        }
    }
    found
}

fn split(word: &str, group: &Group) -> Vec<String> {
    let mut from = group.open + 1;
    let mut out = Vec::new();
    for end in group.commas.iter().copied().chain([group.close]) {
        out.push(word.get(from..end).unwrap_or_default().to_owned());
        from = end + 1;
    }
    out
}

/// `1..5`, `a..e`, `1..9..2`; a list too long is cut one past the limit, where the caller gives up.
fn sequence(inner: &str) -> Option<Vec<String>> {
    let mut parts = inner.split("..");
    let (from, to, step) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let step = usize::try_from(step.map_or(Some(1), |s| s.parse::<i64>().ok())?.unsigned_abs()).ok()?.max(1);
    let letter = |s: &str| {
        let mut chars = s.chars();
        let c = chars.next()?;
        (chars.next().is_none() && c.is_ascii_alphabetic()).then_some(i64::from(u32::from(c)))
    };
    let (low, high, letters) = match (from.parse::<i64>(), to.parse::<i64>()) {
        (Ok(a), Ok(b)) => (a, b, false),
        _ => (letter(from)?, letter(to)?, true),
    };
    let show = |n: i64| {
        if letters { u32::try_from(n).ok().and_then(char::from_u32).map(String::from) } else { Some(n.to_string()) }
    };
    let range: Vec<i64> = if low <= high {
        (low..=high).step_by(step).take(MAX_WORDS + 1).collect()
    } else {
        (high..=low).rev().step_by(step).take(MAX_WORDS + 1).collect()
    };
    range.into_iter().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expands_as_bash_does() {
        for (word, want) in [
            ("a", "a"),
            ("{a,b}/{c..e}", "a/c a/d a/e b/c b/d b/e"),
            ("x{1..3}y", "x1y x2y x3y"),
            ("{a}", "{a}"),
            ("${a,b}", "${a,b}"),
            ("'{a,b}'", "'{a,b}'"),
            ("\\{a,b}", "\\{a,b}"),
            ("{a,{b,c}}d", "ad bd cd"),
            ("{}", "{}"),
            ("{,x}y", "y xy"),
            ("$(echo {a,b})", "$(echo {a,b})"),
            ("{9..5..2}", "9 7 5"),
            ("{1..99999999999999999999}", "{1..99999999999999999999}"),
        ] {
            assert_eq!(expand(word).unwrap().join(" "), want, "{word}");
        }
        assert_eq!(expand("{1..9999}"), None);
    }
}
