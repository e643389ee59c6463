//! The world: facts read from it, and the execution of what was cleared.
