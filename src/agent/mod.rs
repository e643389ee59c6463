//! The driver: the only place where inputs, log, state and commands meet.
