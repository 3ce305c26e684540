//! Values that last from one request to the next. They need the power `kv`: see [`Capability`](crate::Capability).
//!
//! They belong to this provider alone; several instances of it, in several processes, may use them at once.
//!
//! Keys are texts of 1 to 1024 bytes without control characters, values any bytes, close to 1 MiB at most. There is a
//! quota, by default of 10,000 keys and 16 MiB: what is over it is [`Code::TooLarge`]. Other errors are
//! [`Code::InvalidParams`] for a key that is none, [`Code::Denied`] when the power is not granted, or only for reading,
//! and [`Code::Unavailable`] when it may work later.
//!
//! ```
//! use wasmres::{kv, Request, Result};
//!
//! fn visits(_: &Request) -> Result<String> {
//!     let mut visits = 0;
//!     kv::update("visits", |old| {
//!         visits = old.and_then(|old| String::from_utf8(old).ok()?.parse().ok()).unwrap_or(0) + 1;
//!         Ok(visits.to_string())
//!     })?;
//!     Ok(format!("You are visitor {visits}."))
//! }
//! ```
//!
//! In native tests [`Host::kv`](crate::testing::Host::kv) keeps them.

mod message;

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::time::{from_millis, millis};
use crate::wire::{Decoded, Fields, Malformed};
use crate::{abi, host, Code, Error, Result};

pub(crate) use message::Request;

/// How many entries one service call lists.
const PAGE: u64 = 256;

/// How often [`update`] tries.
const UPDATES: usize = 16;

/// Gives a value; none when there is none.
pub fn get(key: &str) -> Result<Option<Vec<u8>>> {
    Ok(get_entry(key)?.map(|(value, _)| value))
}

/// Gives a value and what describes it; none when there is none.
pub fn get_entry(key: &str) -> Result<Option<(Vec<u8>, Entry)>> {
    let request = Request { key, ..Request::default() };
    let answer = match request.ask(abi::SERVICE_KV_GET) {
        Err(error) if error.code() == Code::NotFound => return Ok(None),
        answer => answer?,
    };
    let entry = answer.entry()?.ok_or(Malformed).map_err(host::malformed)?;
    if entry.size > host::ANSWER_MAX.into() {
        return Err(host::malformed(Malformed));
    }
    let value = host::fetch(abi::CHANNEL_BODY, entry.size as u32 + 1); // one more to see that there are none
    if value.len() as u64 != entry.size {
        return Err(host::malformed(Malformed));
    }
    Ok(Some((value, entry)))
}

/// Puts a value to stay, in place of the one that may be there, and describes it. [`Put`] has more to say.
pub fn put(key: &str, value: impl AsRef<[u8]>) -> Result<Entry> {
    Ok(Put::new(key, value.as_ref()).send()??)
}

/// Puts what `change` makes of a value, `None` when there is none, whoever else does so at the same time: when the
/// value has changed meanwhile, `change` is called again. An error of `change` ends it. When others are quicker again
/// and again, the error is [`Code::Unavailable`].
pub fn update<V: AsRef<[u8]>>(key: &str, change: impl FnMut(Option<Vec<u8>>) -> Result<V>) -> Result<Entry> {
    update_put(key, change, |put| put)
}

/// Is [`update`] for a value that goes after some time, which is counted anew with each put.
pub fn update_with_ttl<V: AsRef<[u8]>>(
    key: &str,
    ttl: Duration,
    change: impl FnMut(Option<Vec<u8>>) -> Result<V>,
) -> Result<Entry> {
    update_put(key, change, |put| put.ttl(ttl))
}

fn update_put<V: AsRef<[u8]>>(
    key: &str,
    mut change: impl FnMut(Option<Vec<u8>>) -> Result<V>,
    options: impl Fn(Put) -> Put,
) -> Result<Entry> {
    for _ in 0..UPDATES {
        let (old, version) = match get_entry(key)? {
            Some((value, entry)) => (Some(value), Some(entry.version)),
            None => (None, None),
        };
        let value = change(old)?;
        let put = Put { if_version: version, if_absent: version.is_none(), ..Put::new(key, value.as_ref()) };
        if let Ok(entry) = options(put).send()? {
            return Ok(entry);
        }
    }
    Err(Code::Unavailable.into())
}

/// Deletes a value if there is one.
pub fn delete(key: &str) -> Result<()> {
    let request = Request { key, ..Request::default() };
    request.ask(abi::SERVICE_KV_DELETE)?;
    Ok(())
}

/// Deletes a value if it has a version, or says what is there instead. [`Code::InvalidParams`] is for version 0, which
/// none has.
pub fn delete_version(key: &str, version: u64) -> Result<Result<(), Conflict>> {
    if version == 0 {
        return Err(Error::invalid("no value has version 0: use delete for any"));
    }
    let request = Request { key, if_version: version, ..Request::default() };
    Ok(request.ask(abi::SERVICE_KV_DELETE)?.change()?.map(drop))
}

/// Goes over the values whose keys begin with `prefix`, in the order of their bytes, page by page as they are needed.
/// Values that come or go meanwhile are met or not. It ends with the first error.
///
/// ```
/// use wasmres::{kv, Request, Result};
///
/// fn notes(_: &Request) -> Result<String> {
///     let mut text = String::new();
///     for entry in kv::keys("notes/") {
///         text += &entry?.key;
///         text += "\n";
///     }
///     Ok(text)
/// }
/// ```
pub fn keys(prefix: impl Into<String>) -> Keys {
    keys_after(prefix, "")
}

/// Is [`keys`] from the first key after `after` on, as from the cursor of a [`Page`](crate::Page).
pub fn keys_after(prefix: impl Into<String>, after: impl Into<String>) -> Keys {
    Keys { prefix: prefix.into(), after: after.into(), page: Vec::new().into_iter(), more: true }
}

/// What describes a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The key.
    pub key: String,
    /// How many bytes the value has.
    pub size: u64,
    /// The version: another one after each put, never one that this or any other key had before; never 0.
    pub version: u64,
    /// When the value goes; none when it stays.
    pub expires: Option<SystemTime>,
}

impl Entry {
    fn decode(message: &[u8]) -> Decoded<Self> {
        let mut entry = Entry::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => entry.key = field.text()?.to_owned(),
                2 => entry.size = field.u64()?,
                3 => entry.expires = Some(field.u64()? as i64).filter(|&ms| ms != 0).map(from_millis),
                4 => entry.version = field.u64()?,
                _ => {}
            }
        }
        if entry.key.is_empty() || entry.version == 0 {
            return Err(Malformed);
        }
        Ok(entry)
    }
}

/// A value has another version than was asked for, or is there although it should not be: nothing was done.
///
/// In a handler `?` makes an error of it, [`Code::Unavailable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// What is there; none when nothing is.
    pub entry: Option<Entry>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value is not the expected one")
    }
}

impl std::error::Error for Conflict {}

impl From<Conflict> for Error {
    fn from(conflict: Conflict) -> Self {
        Error::from(Code::Unavailable).because(conflict)
    }
}

/// A value to be put, with what there is to say about it. Its methods give it back changed, so that they chain.
///
/// ```
/// use std::time::Duration;
/// use wasmres::{kv, Result};
///
/// /// Answers whether it is the first to take the turn, which is free again in a minute.
/// fn take_turn() -> Result<bool> {
///     let put = kv::Put::new("turn", b"taken").ttl(Duration::from_secs(60)).if_absent().send()?;
///     Ok(put.is_ok())
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is put before it is sent"]
pub struct Put<'a> {
    key: &'a str,
    value: &'a [u8],
    ttl: Option<Duration>,
    if_version: Option<u64>,
    if_absent: bool,
}

impl<'a> Put<'a> {
    /// Makes a put of a value, in place of any that may be there, to stay.
    pub fn new(key: &'a str, value: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Put { key, value: value.as_ref(), ttl: None, if_version: None, if_absent: false }
    }

    /// Makes the value go after some time, which is more than none and at most 100 years.
    pub fn ttl(mut self, time: Duration) -> Self {
        self.ttl = Some(time);
        self
    }

    /// Puts only when the value that is there has this version.
    pub fn if_version(mut self, version: u64) -> Self {
        self.if_version = Some(version);
        self
    }

    /// Puts only when no value is there.
    pub fn if_absent(mut self) -> Self {
        self.if_absent = true;
        self
    }

    /// Puts the value, and describes it, or says what is there instead when a condition does not hold. So
    /// `put.send()??` is for a put without conditions, or where a conflict is a failure.
    ///
    /// # Errors
    ///
    /// [`Code::InvalidParams`] also for a time of zero, for version 0, which no value has, and for two conditions.
    pub fn send(self) -> Result<Result<Entry, Conflict>> {
        if self.ttl == Some(Duration::ZERO) {
            return Err(Error::invalid("a value must last for some time, or, without ttl, for good"));
        }
        if self.if_version == Some(0) {
            return Err(Error::invalid("no value has version 0: use if_absent to put where there is none"));
        }
        match self.request().ask(abi::SERVICE_KV_PUT)?.change()? {
            Ok(Some(entry)) => Ok(Ok(entry)),
            Ok(None) => Err(host::malformed(Malformed)),
            Err(conflict) => Ok(Err(conflict)),
        }
    }

    pub(crate) fn request(&self) -> Request<'a> {
        Request {
            key: self.key,
            value: self.value,
            ttl_ms: millis(self.ttl.unwrap_or(Duration::ZERO)),
            if_version: self.if_version.unwrap_or(0),
            if_absent: self.if_absent,
            ..Request::default()
        }
    }
}

/// The entries of a listing: see [`keys`].
#[derive(Debug)]
pub struct Keys {
    prefix: String,
    after: String,
    page: std::vec::IntoIter<Entry>,
    more: bool,
}

impl Keys {
    /// Fetches the next page.
    fn fetch(&mut self) -> Result<()> {
        self.more = false; // unless there is a next page, which is no error
        let request = Request { prefix: &self.prefix, after: &self.after, limit: PAGE, ..Request::default() };
        let answer = request.ask(abi::SERVICE_KV_LIST)?;
        let last = answer.entries.last().map(|entry| entry.key.clone());
        if answer.more && last.as_ref().map_or(true, |last| *last <= self.after) {
            return Err(host::malformed(Malformed)); // it would go on for ever
        }
        self.after = last.unwrap_or_default();
        self.page = answer.entries.into_iter();
        self.more = answer.more;
        Ok(())
    }
}

impl Iterator for Keys {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.page.next() {
                return Some(Ok(entry));
            }
            if !self.more {
                return None;
            }
            if let Err(error) = self.fetch() {
                return Some(Err(error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::script::answering;

    /// The entry of a key of one letter, of version 1; its value has two bytes.
    fn entry(key: u8) -> Vec<u8> {
        vec![0x0a, 7, 0x0a, 1, key, 0x10, 2, 0x20, 1]
    }

    const MORE: &[u8] = b"\x10\x01";

    #[test]
    fn values_are_as_large_as_their_entries_say() {
        for (value, right) in [(&b"ab"[..], true), (b"a", false), (b"abc", false), (b"", false)] {
            let got = answering(&[(0, &entry(b'k'), value)], || get("k"));
            match got {
                Ok(got) => assert!(right && got.as_deref() == Some(value)),
                Err(error) => assert!(!right && error.code() == Code::Internal),
            }
        }
        let huge = b"\x0a\x10\x0a\x01k\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x20\x01";
        assert_eq!(answering(&[(0, huge, b"ab")], || get("k")).unwrap_err().code(), Code::Internal);
    }

    #[test]
    fn answers_that_make_no_sense_are_refused() {
        let two = entry(b'k').repeat(2);
        for message in [&b""[..], b"\x0a", b"\x0a\x00", b"\x0a\x03\x0a\x01k", b"\x0a\x02\x20\x01", b"\x08\x01", &two] {
            let fails = |f: fn() -> Result<()>| answering(&[(0, message, b"")], f).unwrap_err().code();
            assert_eq!(fails(|| get("k").map(drop)), Code::Internal, "get: {:x?}", message);
            assert_eq!(fails(|| put("k", "").map(drop)), Code::Internal, "put: {:x?}", message);
        }
    }

    #[test]
    fn listings_end() {
        let (ab, b) = ([entry(b'a'), entry(b'b'), MORE.to_vec()].concat(), [entry(b'b'), MORE.to_vec()].concat());
        for (answers, want) in [
            (vec![(0, &ab[..], &b""[..]), (0, &b, b"")], "ab!"), // it goes back
            (vec![(0, &b, b""), (0, MORE, b"")], "b!"),          // there is more after nothing
            (vec![(0, &b, b""), (0, b"\x0a", b"")], "b!"),
            (vec![(0, &b, b""), (4, b"", b"")], "b!"),
            (vec![(0, &b, b""), (0, b"", b"")], "b"),
        ] {
            let keys = answering(&answers, || {
                keys("").map(|entry| entry.map_or("!".to_owned(), |entry| entry.key)).collect::<String>()
            });
            assert_eq!(keys, want);
        }
    }
}
