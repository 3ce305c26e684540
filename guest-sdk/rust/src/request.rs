//! What a handler is asked.

use std::cell::Cell;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use crate::out;
use crate::wire::{Decoded, Encoder, Fields};
use crate::{abi, host, Code, Error, Result};

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn set_seed(seed: u64) {
    SEED.with(|cell| cell.set(seed));
}

/// What a handler is asked.
#[derive(Debug, Default)]
pub struct Request<'a> {
    uri: &'a str,
    pub(crate) route: u32,
    vars: Vec<(&'a str, &'a str)>,
    pub(crate) cursor: &'a str,
    pub(crate) limit: u32,
    offset: u64,
    length: u64,
    if_none_match: &'a str,
    max_bytes: u64,
    pub(crate) argument: &'a str,
    pub(crate) prefix: &'a str,
    principal: Option<Principal<'a>>,
    meta: &'a str,
}

/// A part of a resource, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first byte.
    pub offset: u64,
    /// How many bytes, at most; none for all from the first on.
    pub length: Option<u64>,
}

/// The authenticated asker. wasmres knows none yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Principal<'a> {
    /// Who it is.
    pub subject: &'a str,
    /// Whom they belong to; empty for nobody.
    pub tenant: &'a str,
    /// What they may do.
    pub scopes: Vec<&'a str>,
    /// What else is known, a JSON object; empty for nothing.
    pub claims: &'a str,
}

impl<'a> Request<'a> {
    /// Gives what is read or watched, as the client wrote it; empty for lists, and the template for completions.
    pub fn uri(&self) -> &'a str {
        self.uri
    }

    /// Gives the decoded value of a template variable; empty when it is absent.
    pub fn var(&self, name: &str) -> &'a str {
        self.vars(name).next().unwrap_or("")
    }

    /// Gives all values of a template variable that was exploded to a list, as in `{/path*}`; none when it is absent.
    pub fn vars<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'a str> + 'r {
        self.vars.iter().filter(move |var| var.0 == name).map(|var| var.1)
    }

    /// Gives a template variable as a number, or whatever else can be made of a text. What cannot be parsed is invalid,
    /// with a message that names the variable.
    ///
    /// ```
    /// use wasmres::{Request, Result};
    ///
    /// fn square(r: &Request) -> Result<String> {
    ///     let side: f64 = r.parse("side")?;
    ///     Ok((side * side).to_string())
    /// }
    /// ```
    pub fn parse<T: FromStr>(&self, name: &str) -> Result<T> {
        let value = self.var(name);
        value.parse().map_err(|_| Error::invalid([name, " cannot be \"", value, "\""].concat()))
    }

    /// Gives the part that is wanted; none for all of it. It is asked for only where the [`Route`](crate::Route) says
    /// `ranges`. Bytes in memory and [`Content::seekable`](crate::Content::seekable) are cut without you: use this to
    /// make no more than the part, and say so with [`Content::range_of`](crate::Content::range_of).
    pub fn range(&self) -> Option<Range> {
        if self.offset == 0 && self.length == 0 {
            return None;
        }
        let length = if self.length == 0 { None } else { Some(self.length) };
        Some(Range { offset: self.offset, length })
    }

    /// Gives the etag the asker has; empty for none. wasmres sends it when it polls what is watched, and when a client
    /// that has downloaded the resource asks whether it has changed.
    pub fn if_none_match(&self) -> &'a str {
        self.if_none_match
    }

    /// Gives how many bytes the answer may have; none when unknown. wasmres does not tell yet.
    pub fn max_bytes(&self) -> Option<u64> {
        if self.max_bytes == 0 {
            return None;
        }
        Some(self.max_bytes)
    }

    /// Gives who asks; none when nobody had to say.
    pub fn principal(&self) -> Option<&Principal<'a>> {
        self.principal.as_ref()
    }

    /// Gives the request's `_meta`, a JSON object; empty for none.
    pub fn meta(&self) -> &'a str {
        self.meta
    }

    /// Gives a value the operator configured; none when there is none, or none is granted.
    pub fn config(&self, key: &str) -> Option<String> {
        let mut request = Encoder::default();
        request.text(1, key);
        let response = host::ask(abi::SERVICE_CONFIG, request.as_bytes()).ok()?;
        let mut value = "";
        for field in Fields::of(&response) {
            let field = field.ok()?;
            if field.number == 1 {
                value = field.text().ok()?;
            }
        }
        Some(value.to_owned())
    }

    /// Gives a variable of the environment that wasmres runs in; none when it is not set, or not granted. It needs the
    /// power `env`: see [`Capability`](crate::Capability).
    pub fn env(&self, name: &str) -> Option<String> {
        self.config(&["env:", name].concat())
    }

    /// Tells the asker how far a long read has come. `total` is 0 when unknown; the message is one line or empty.
    pub fn progress(&self, done: f64, total: f64, message: &str) {
        let mut report = Encoder::default();
        report.message(15, |progress| {
            progress.double(1, done);
            progress.double(2, total);
            progress.text(3, message);
        });
        let _ = out::send(host::emit, report.as_bytes()); // a signal is kept, and ends the call
    }

    /// Gives the time. `SystemTime::now` panics in WebAssembly without WASI.
    pub fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(host::info(abi::INFO_WALL_TIME)).unwrap_or(0))
    }

    /// Gives the time since an arbitrary start, by a clock that never goes back: to measure with.
    pub fn monotonic(&self) -> Duration {
        Duration::from_nanos(u64::try_from(host::info(abi::INFO_MONOTONIC)).unwrap_or(0))
    }

    /// Gives how long this call may still run.
    pub fn time_left(&self) -> Duration {
        Duration::from_nanos(u64::try_from(host::info(abi::INFO_DEADLINE)).unwrap_or(0))
    }

    /// Gives a number that nobody can foresee, another one for each request: to seed a generator of random numbers
    /// with.
    pub fn seed(&self) -> u64 {
        SEED.with(Cell::get)
    }

    /// Fails when nobody waits for the answer any longer, or the time is over. Long loops should ask now and then.
    pub fn check(&self) -> Result<()> {
        out::check()?;
        if self.time_left() == Duration::ZERO {
            return Err(Code::Deadline.into());
        }
        Ok(())
    }

    pub(crate) fn decode(message: &'a [u8]) -> Decoded<Self> {
        let mut request = Request::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => request.uri = field.text()?,
                2 => request.route = field.u32()?,
                3 => request.vars.push(decode_var(field.bytes()?)?),
                4 => request.cursor = field.text()?,
                5 => request.limit = field.u32()?,
                6 => request.offset = field.u64()?,
                7 => request.length = field.u64()?,
                8 => request.if_none_match = field.text()?,
                9 => request.max_bytes = field.u64()?,
                10 => request.argument = field.text()?,
                11 => request.prefix = field.text()?,
                12 => request.principal = Some(Principal::decode(field.bytes()?)?),
                13 => request.meta = field.text()?,
                _ => {}
            }
        }
        Ok(request)
    }
}

fn decode_var(message: &[u8]) -> Decoded<(&str, &str)> {
    let mut var = ("", "");
    for field in Fields::of(message) {
        let field = field?;
        match field.number {
            1 => var.0 = field.text()?,
            2 => var.1 = field.text()?,
            _ => {}
        }
    }
    Ok(var)
}

impl<'a> Principal<'a> {
    fn decode(message: &'a [u8]) -> Decoded<Self> {
        let mut principal = Principal::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => principal.subject = field.text()?,
                2 => principal.tenant = field.text()?,
                3 => principal.scopes.push(field.text()?),
                4 => principal.claims = field.text()?,
                _ => {}
            }
        }
        Ok(principal)
    }
}
