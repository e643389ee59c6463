//! Constraints in force: supersession, suspension, expiry, lookup. Pure.
