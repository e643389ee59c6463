//! Constraints in force: supersession, suspension, expiry, lookup. Pure.

use crate::domain::{Constraint, Places, event::CoreRule};
use crate::policy::law::{Law, Unenforceable};

/// The law made of the core rules and of the active constraints that have a rule.
pub fn law<'a>(
    _core: &[CoreRule],
    _constraints: impl IntoIterator<Item = &'a Constraint>,
    places: &Places,
) -> (Law, Vec<Unenforceable>) {
    Law::compile([], places.clone(), &[])
}
