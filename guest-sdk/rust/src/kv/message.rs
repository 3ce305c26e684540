//! What the key-value services are asked, and what they answer.

use super::{Conflict, Entry};
use crate::wire::{Decoded, Encoder, Fields, Malformed};
use crate::{abi, host, Code, Result};

/// What a service is asked; each uses some of the fields.
#[derive(Default)]
pub(crate) struct Request<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: &'a [u8],
    pub(crate) ttl_ms: u64,
    pub(crate) if_version: u64,
    pub(crate) if_absent: bool,
    pub(crate) prefix: &'a str,
    pub(crate) after: &'a str,
    pub(crate) limit: u64,
}

impl Request<'_> {
    /// Asks a service.
    pub(super) fn ask(&self, service: u32) -> Result<Answer> {
        if self.value.len() > abi::MAX_SERVICE as usize {
            return Err(Code::TooLarge.into());
        }
        let texts = self.key.len() + self.prefix.len() + self.after.len();
        let mut request = Encoder::with_capacity(64 + texts + self.value.len());
        self.encode(&mut request);
        let answer = host::ask(service, request.as_bytes())?;
        Answer::decode(&answer).map_err(host::malformed)
    }

    pub(crate) fn encode(&self, request: &mut Encoder) {
        request.text(1, self.key);
        if !self.value.is_empty() {
            request.element(2, self.value);
        }
        request.number(3, self.ttl_ms);
        request.number(4, self.if_version);
        request.flag(5, self.if_absent);
        request.text(6, self.prefix);
        request.text(7, self.after);
        request.number(8, self.limit);
    }
}

/// What a service answers.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) entries: Vec<Entry>,
    pub(super) more: bool,
    conflict: bool,
}

impl Answer {
    fn decode(message: &[u8]) -> Decoded<Self> {
        let mut answer = Answer::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => answer.entries.push(Entry::decode(field.bytes()?)?),
                2 => answer.more = field.flag()?,
                3 => answer.conflict = field.flag()?,
                _ => {}
            }
        }
        Ok(answer)
    }

    /// Gives the only entry, if there is one.
    pub(super) fn entry(mut self) -> Result<Option<Entry>> {
        if self.entries.len() > 1 {
            return Err(host::malformed(Malformed));
        }
        Ok(self.entries.pop())
    }

    /// Gives the entry of what is there after a change, or instead of it.
    pub(super) fn change(self) -> Result<Result<Option<Entry>, Conflict>> {
        let conflict = self.conflict;
        let entry = self.entry()?;
        Ok(if conflict { Err(Conflict { entry }) } else { Ok(entry) })
    }
}
