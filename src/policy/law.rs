//! The law: all rules in force, compiled.
use crate::domain::{Digest, Places, RuleId};
use crate::policy::lang::ast;
#[derive(Debug, Clone)]
pub struct LawRule {
    pub id: RuleId,
    pub hard: bool,
    pub rule: ast::Rule,
    pub once: Option<Digest>,
}
#[derive(Debug, Clone)]
pub struct Unenforceable {
    pub id: RuleId,
    pub why: String,
}
#[derive(Debug, Clone, Default)]
pub struct Law {
    rules: Vec<LawRule>,
}
impl Law {
    pub fn compile(
        rules: impl IntoIterator<Item = LawRule>,
        _places: Places,
        _variables: &[&str],
    ) -> (Law, Vec<Unenforceable>) {
        (Law { rules: rules.into_iter().collect() }, Vec::new())
    }
    pub fn rules(&self) -> &[LawRule] {
        &self.rules
    }
}
