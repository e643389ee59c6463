//! The cockpit. Everything but `run` is pure: records and a cursor in, cells out; a key in, an intent out.
//!
//! What never lives here: deciding anything about a session. Keys become `session::Input`s, and only what was
//! recorded is drawn.

pub mod api;
pub mod cockpit;
pub mod composer;
pub mod keymap;
pub mod layout;
pub mod panes;
pub mod run;
pub mod tape;
pub mod theme;
pub mod ui_state;
pub mod update;
pub mod view;
pub mod widgets;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub use api::{DemoControl, DemoStatus, Endpoint, Feed, Intent, Mode, SessionLine, Settings, Start};
pub use cockpit::Cockpit;
pub use run::{TuiError, run};
