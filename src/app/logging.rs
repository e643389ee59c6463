//! Diagnostics for developers: a daily file in the state directory, nothing on the terminal, no user data at info.

use super::dirs::Dirs;
use tracing_appender::{non_blocking::WorkerGuard, rolling};
use tracing_subscriber::EnvFilter;

/// Starts writing, where a place for it can be had; the guard flushes when it is dropped. `WEAL_LOG` sets the level.
pub fn begin() -> Option<WorkerGuard> {
    let dirs = Dirs::from_env().ok()?;
    let place = dirs.state.join("diagnostics");
    std::fs::create_dir_all(&place).ok()?;
    let files = rolling::Builder::new()
        .rotation(rolling::Rotation::DAILY)
        .filename_prefix("diagnostics")
        .max_log_files(7)
        .build(place)
        .ok()?;
    let (writer, guard) = tracing_appender::non_blocking(files);
    let filter = EnvFilter::try_from_env("WEAL_LOG").unwrap_or_else(|_| EnvFilter::new("info,async_openai=off"));
    tracing_subscriber::fmt().with_writer(writer).with_env_filter(filter).with_ansi(false).try_init().ok()?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "started");
    Some(guard)
}
