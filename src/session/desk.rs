//! What a decision may look at besides the state: the moment, the tools that exist, the language data.

use crate::domain::{Moment, ToolSpec};

#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    pub now: Moment,
    pub tools: &'a [ToolSpec],
}

impl Desk<'_> {
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|t| t.name == name)
    }
}
