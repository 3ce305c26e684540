//! What the file services are asked, and what they answer.

use std::io;

use super::Metadata;
use crate::wire::{Decoded, Encoder, Fields, Malformed};
use crate::{abi, host, Code, Error};

/// What a service is asked; each uses some of the fields.
#[derive(Default)]
pub(crate) struct Request<'a> {
    pub(crate) path: &'a str,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) after: &'a str,
    pub(crate) data: &'a [u8],
    pub(crate) append: bool,
}

impl Request<'_> {
    /// Asks a service.
    pub(super) fn ask(&self, service: u32) -> io::Result<Answer> {
        if self.data.len() > abi::MAX_SERVICE as usize {
            return Err(Error::from(Code::TooLarge).into());
        }
        let mut request = Encoder::with_capacity(64 + self.path.len() + self.after.len() + self.data.len());
        self.encode(&mut request);
        let answer = host::ask(service, request.as_bytes()).map_err(Error::from)?;
        Ok(Answer::decode(&answer)?)
    }

    fn encode(&self, request: &mut Encoder) {
        request.text(1, self.path);
        request.number(2, self.offset);
        request.number(3, self.length);
        request.text(4, self.after);
        if !self.data.is_empty() {
            request.element(5, self.data);
        }
        request.flag(6, self.append);
    }
}

/// What a service answers.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) files: Vec<Metadata>,
    pub(super) more: bool,
}

impl Answer {
    fn decode(message: &[u8]) -> Decoded<Self> {
        let mut answer = Answer::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => answer.files.push(Metadata::decode(field.bytes()?)?),
                2 => answer.more = field.flag()?,
                _ => {}
            }
        }
        Ok(answer)
    }

    /// Gives the only entry.
    pub(super) fn one(mut self) -> io::Result<Metadata> {
        match self.files.pop() {
            Some(only) if self.files.is_empty() => Ok(only),
            _ => Err(Malformed.into()),
        }
    }
}

impl From<Malformed> for io::Error {
    fn from(malformed: Malformed) -> Self {
        host::malformed(malformed).into()
    }
}
