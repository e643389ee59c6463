//! The event log on disk: SQLite, hash-chained, one file a workspace.
