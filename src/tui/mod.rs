//! The cockpit. Everything but `run` is pure: state and cursor in, cells out.
