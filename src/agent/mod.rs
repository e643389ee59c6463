//! The driver: the only place where inputs, log, state and commands meet.

pub mod driver;
pub mod vault;

pub use driver::{Driver, DriverError, Ended, Feed};
