//! Lines for the operator.

use std::fmt;

use crate::{abi, host};

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For who looks for a fault.
    Debug,
    /// For who wants to see what happens.
    Info,
    /// Something is not as it should be.
    Warn,
    /// Something failed.
    Error,
}

/// Writes a line to the host's log, as the macros [`debug!`](crate::debug), [`info!`](crate::info),
/// [`warn!`](crate::warn) and [`error!`](crate::error) do. Clients never see it. The host cuts lines at 1 KiB, and
/// bounds what one call may log.
pub fn log(level: Level, line: fmt::Arguments<'_>) {
    let level = match level {
        Level::Debug => abi::LOG_DEBUG,
        Level::Info => abi::LOG_INFO,
        Level::Warn => abi::LOG_WARN,
        Level::Error => abi::LOG_ERROR,
    };
    match line.as_str() {
        Some(line) => host::log(level, line),
        None => host::log(level, &line.to_string()),
    }
}

/// Writes a line of level debug to the host's log; the parameters are those of [`format!`].
#[macro_export]
macro_rules! debug {
    ($($line:tt)+) => { $crate::log($crate::Level::Debug, ::std::format_args!($($line)+)) };
}

/// Writes a line of level info to the host's log; the parameters are those of [`format!`].
///
/// ```
/// let notes = ["a", "b"];
/// wasmres::info!("{} notes", notes.len());
/// ```
#[macro_export]
macro_rules! info {
    ($($line:tt)+) => { $crate::log($crate::Level::Info, ::std::format_args!($($line)+)) };
}

/// Writes a line of level warning to the host's log; the parameters are those of [`format!`].
#[macro_export]
macro_rules! warn {
    ($($line:tt)+) => { $crate::log($crate::Level::Warn, ::std::format_args!($($line)+)) };
}

/// Writes a line of level error to the host's log; the parameters are those of [`format!`].
#[macro_export]
macro_rules! error {
    ($($line:tt)+) => { $crate::log($crate::Level::Error, ::std::format_args!($($line)+)) };
}
