//! What flows from one command into the next, as far as it can be told without running anything.

use super::words::Arg;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Content {
    #[default]
    Nothing,
    Text(String),
    /// Names, one a line (or NUL-separated).
    Names(Vec<Arg>),
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Stream {
    pub content: Content,
    /// Canonical names of the files whose content may be in it.
    pub sources: Vec<String>,
    /// It came over the network.
    pub foreign: bool,
}

/// Longer text is not followed.
const MAX_TEXT: usize = 64 * 1024;

impl Stream {
    pub fn unknown() -> Self {
        Stream { content: Content::Unknown, ..Stream::default() }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Stream { content: Content::Text(text.into()), ..Stream::default() }
    }

    pub fn names(names: Vec<Arg>) -> Self {
        Stream { content: Content::Names(names), ..Stream::default() }
    }

    /// This output followed by another.
    pub fn then(mut self, next: Stream) -> Stream {
        self.content = match (self.content, next.content) {
            (Content::Nothing, other) | (other, Content::Nothing) => other,
            (Content::Text(a), Content::Text(b)) if a.len() + b.len() <= MAX_TEXT => Content::Text(a + &b),
            (Content::Names(mut a), Content::Names(b)) if a.len() + b.len() <= 1_000 => {
                a.extend(b);
                Content::Names(a)
            }
            _ => Content::Unknown,
        };
        self.sources.extend(next.sources);
        self.foreign |= next.foreign;
        self
    }
}
