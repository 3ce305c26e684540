//! What can go wrong, and what the client learns of it.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::time::millis;
use crate::wire::{Encoder, Malformed};
use crate::{abi, host};

/// What most functions of the SDK, and all handlers, answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The class of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Code {
    /// There is no such resource.
    NotFound = abi::CODE_NOT_FOUND,
    /// The request makes no sense.
    InvalidParams = abi::CODE_INVALID_PARAMS,
    /// The asker, or the provider, may not do this.
    Denied = abi::CODE_DENIED,
    /// It may work later.
    Unavailable = abi::CODE_UNAVAILABLE,
    /// Nobody waits for the answer.
    Cancelled = abi::CODE_CANCELLED,
    /// The time is over.
    Deadline = abi::CODE_DEADLINE,
    /// The answer has more bytes than it may have.
    TooLarge = abi::CODE_TOO_LARGE,
    /// The provider does not do this.
    Unsupported = abi::CODE_UNSUPPORTED,
    /// The provider failed.
    Internal = abi::CODE_INTERNAL,
}

impl Code {
    /// Gives the code with a number of the ABI; none when it is no failure a provider may answer.
    pub fn from_number(number: u32) -> Option<Code> {
        Some(match number {
            abi::CODE_NOT_FOUND => Code::NotFound,
            abi::CODE_INVALID_PARAMS => Code::InvalidParams,
            abi::CODE_DENIED => Code::Denied,
            abi::CODE_UNAVAILABLE => Code::Unavailable,
            abi::CODE_CANCELLED => Code::Cancelled,
            abi::CODE_DEADLINE => Code::Deadline,
            abi::CODE_TOO_LARGE => Code::TooLarge,
            abi::CODE_UNSUPPORTED => Code::Unsupported,
            abi::CODE_INTERNAL => Code::Internal,
            _ => return None,
        })
    }

    /// Gives the number the ABI has for this code.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// Gives the stable name of a code, as in `not_found`.
    pub fn name(self) -> &'static str {
        match self {
            Code::NotFound => "not_found",
            Code::InvalidParams => "invalid_params",
            Code::Denied => "denied",
            Code::Unavailable => "unavailable",
            Code::Cancelled => "cancelled",
            Code::Deadline => "deadline",
            Code::TooLarge => "too_large",
            Code::Unsupported => "unsupported",
            Code::Internal => "internal",
        }
    }
}

/// A failure. The client may read its message and data; put no secrets there.
///
/// Errors of the standard library become one with `?`:
///
/// | | becomes | the client reads |
/// |---|---|---|
/// | [`io::Error`] | not found, denied or invalid by its kind, else internal | nothing |
/// | what `str::parse` answers for numbers and `bool` | invalid | what was wrong |
/// | `Box<dyn Error>`, and what is told to [`Error::internal`] | internal | nothing; the log has it |
///
/// ```
/// use wasmres::{Error, Request, Result};
///
/// fn page(r: &Request) -> Result<String> {
///     let number: usize = r.var("number").parse()?;
///     if number == 0 {
///         return Err(Error::not_found("pages begin with 1"));
///     }
///     std::fs::read_to_string("book").map_err(Error::internal)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Error {
    code: Code,
    message: Cow<'static, str>,
    data: String,
    retry_after: Duration,
    cause: String,
}

impl Error {
    /// Makes an error of a class. With an empty message the client reads the host's own words.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Error { code, message: message.into(), data: String::new(), retry_after: Duration::ZERO, cause: String::new() }
    }

    /// Says that there is no such resource.
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Code::NotFound, message)
    }

    /// Says that the request makes no sense, as with a number that is none.
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Code::InvalidParams, message)
    }

    /// Says that the asker may not have this.
    pub fn denied(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Code::Denied, message)
    }

    /// Says that it may work later: after `retry_after`, or zero when unknown.
    pub fn unavailable(message: impl Into<Cow<'static, str>>, retry_after: Duration) -> Self {
        Error { retry_after, ..Error::new(Code::Unavailable, message) }
    }

    /// Says that the provider failed. The cause goes to the log; the client learns no more than that.
    pub fn internal(cause: impl fmt::Display) -> Self {
        Error::from(Code::Internal).because(cause)
    }

    /// Sets the cause, which goes to the log only.
    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.cause = cause.to_string();
        self
    }

    /// Sets a JSON object for programs among the clients to read.
    #[must_use]
    pub fn data(mut self, json: impl Into<String>) -> Self {
        self.data = json.into();
        self
    }

    /// Sets the time after which it may work.
    pub(crate) fn after(self, retry_after: Duration) -> Self {
        Error { retry_after, ..self }
    }

    /// Gives the class.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Gives the message; empty for none.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Gives the time after which it may work; zero when unknown.
    pub fn retry_after(&self) -> Duration {
        self.retry_after
    }

    /// Writes what is not for the client to the log.
    pub(crate) fn log(&self) {
        if self.cause.is_empty() {
            return;
        }
        let level = if self.code == Code::Internal { abi::LOG_ERROR } else { abi::LOG_WARN };
        host::log(level, &self.cause);
    }

    /// Adds the message, or nothing when there is none to add.
    pub(crate) fn encode(&self, reply: &mut Encoder) {
        let retry_after = millis(self.retry_after);
        if self.message.is_empty() && self.data.is_empty() && retry_after == 0 {
            return;
        }
        reply.message(5, |error| {
            error.text(1, &self.message);
            error.text(2, &self.data);
            error.number(3, retry_after);
        });
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.name())?;
        for part in [&*self.message, &*self.cause] {
            if !part.is_empty() {
                f.write_str(": ")?;
                f.write_str(part)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<Code> for Error {
    fn from(code: Code) -> Self {
        Error::new(code, "")
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        if let Some(own) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
            return own.clone();
        }
        let code = match error.kind() {
            io::ErrorKind::NotFound => Code::NotFound,
            io::ErrorKind::PermissionDenied => Code::Denied,
            io::ErrorKind::InvalidInput => Code::InvalidParams,
            _ => return Error::internal(error),
        };
        code.into()
    }
}

impl From<Error> for io::Error {
    /// Keeps the error as what the other one wraps, so that it can be had back.
    fn from(error: Error) -> Self {
        let kind = match error.code {
            Code::NotFound => io::ErrorKind::NotFound,
            Code::Denied => io::ErrorKind::PermissionDenied,
            Code::InvalidParams => io::ErrorKind::InvalidInput,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

impl From<Box<dyn std::error::Error>> for Error {
    fn from(error: Box<dyn std::error::Error>) -> Self {
        match error.downcast::<Error>() {
            Ok(own) => *own,
            Err(other) => Error::internal(other),
        }
    }
}

impl From<Malformed> for Error {
    fn from(_: Malformed) -> Self {
        Error::invalid("malformed request")
    }
}

macro_rules! invalid {
    ($($error:ty),*) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Error::invalid(error.to_string())
            }
        }
    )*};
}

invalid!(std::num::ParseIntError, std::num::ParseFloatError, std::str::ParseBoolError);
