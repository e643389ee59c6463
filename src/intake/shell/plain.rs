//! Lines that are only a list of plain commands, as the words they are written with: what can be written again with
//! one word changed. Says nothing about what they do.

use super::parse;
use brush_parser::ast;

/// One plain command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::intake) struct Member {
    /// As written, quotes included.
    pub words: Vec<String>,
    /// What stands between it and the one before: `&&`, `||` or `;`.
    pub joint: &'static str,
}

/// The commands of `line`, when it has no pipes, loops, redirections or background jobs.
pub(in crate::intake) fn members(line: &str) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    for ast::CompoundListItem(list, separator) in
        parse::program(line).ok()?.complete_commands.iter().flat_map(|l| &l.0)
    {
        if matches!(separator, ast::SeparatorOperator::Async) {
            return None;
        }
        members.push(Member { words: words(&list.first)?, joint: ";" });
        for next in &list.additional {
            let (pipeline, joint) = match next {
                ast::AndOr::And(pipeline) => (pipeline, "&&"),
                ast::AndOr::Or(pipeline) => (pipeline, "||"),
            };
            members.push(Member { words: words(pipeline)?, joint });
        }
    }
    (!members.is_empty()).then_some(members)
}

fn words(pipeline: &ast::Pipeline) -> Option<Vec<String>> {
    let [ast::Command::Simple(command)] = pipeline.seq.as_slice() else { return None };
    if pipeline.bang || pipeline.timed.is_some() {
        return None;
    }
    let before = command.prefix.iter().flat_map(|p| &p.0);
    let after = command.suffix.iter().flat_map(|s| &s.0);
    let mut words = before.map(word).collect::<Option<Vec<_>>>()?;
    words.push(command.word_or_name.as_ref()?.value.clone());
    words.extend(after.map(word).collect::<Option<Vec<_>>>()?);
    Some(words)
}

fn word(item: &ast::CommandPrefixOrSuffixItem) -> Option<String> {
    use ast::CommandPrefixOrSuffixItem as I;
    match item {
        I::Word(word) | I::AssignmentWord(_, word) => Some(word.value.clone()),
        I::IoRedirect(_) | I::ProcessSubstitution(..) => None,
    }
}

/// The line that `members` make.
pub(in crate::intake) fn line(members: &[Member]) -> String {
    let mut line = String::new();
    for (at, member) in members.iter().enumerate() {
        match (at, member.joint) {
            (0, _) => {}
            (_, ";") => line.push_str("; "),
            (_, joint) => line.extend([" ", joint, " "]),
        }
        line.push_str(&member.words.join(" "));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lists_are_written_again_as_they_were() {
        for text in ["git push -f 'my remote'", "cd a && rm -r \"$B\"; ls || true", "A=1 make x"] {
            assert_eq!(members(text).map(|m| line(&m)).as_deref(), Some(text));
        }
        for text in ["a | b", "a > b", "a & b", "for f in x; do a; done", "! a", "(a)", ""] {
            assert_eq!(members(text), None, "{text}");
        }
    }
}
