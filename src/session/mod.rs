//! Decide, record, apply: what an input means in a session's state. Pure.
