//! What an operation emits.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};

use crate::content::{Body, Content};
use crate::wire::Encoder;
use crate::{abi, host, Code, Error, Request, Result, Route};

/// A frame is sent when it has grown to this many bytes.
const FLUSH_AT: usize = 8 << 10;

/// Contents of up to this many bytes travel with their head.
const INLINE_MAX: usize = 4 << 10;

/// How many bytes of a content in memory are handed over at once; a multiple of three, as base64 likes.
const PIECE: usize = 768 << 10;

/// How many bytes of a stream are read at once; a multiple of three too.
const CHUNK: usize = 48 << 10;

thread_local! {
    /// Why the host wants no more of the operation that runs; none while it does.
    static STOPPED: Cell<Option<Stop>> = const { Cell::new(None) };

    /// What streams are read through. It is not allocated, so that no request makes the memory grow for it.
    static CHUNK_BUFFER: RefCell<[u8; CHUNK]> = const { RefCell::new([0; CHUNK]) };
}

/// Why the host wants no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It has all it asked for: no failure.
    Enough,
    Failed(Code),
}

impl Stop {
    /// Translates a signal; none means go on.
    fn of(signal: i32) -> Option<Stop> {
        match signal {
            abi::SIGNAL_MORE => None,
            1.. => Some(Stop::Enough),
            abi::SIGNAL_DEADLINE => Some(Stop::Failed(Code::Deadline)),
            abi::SIGNAL_TOO_LARGE => Some(Stop::Failed(Code::TooLarge)),
            abi::SIGNAL_BAD_FRAME => Some(Stop::Failed(Code::Internal)),
            _ => Some(Stop::Failed(Code::Cancelled)),
        }
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Enough => Code::Cancelled.into(),
            Stop::Failed(code) => code.into(),
        }
    }
}

/// Fails when the host wants no more.
pub(crate) fn check() -> Result<(), Stop> {
    STOPPED.with(Cell::get).map_or(Ok(()), Err)
}

/// Sends bytes with one of the host's functions, unless the host has stopped the operation already, and keeps its
/// signal.
pub(crate) fn send(function: fn(&[u8]) -> i32, bytes: &[u8]) -> Result<(), Stop> {
    check()?;
    STOPPED.with(|stopped| stopped.set(Stop::of(function(bytes))));
    check()
}

/// Collects what an operation emits. Any error of its methods means that the operation is over.
pub(crate) struct Out {
    pub(crate) reply: Encoder,
}

impl Out {
    /// Begins an operation.
    pub(crate) fn new() -> Self {
        STOPPED.with(|stopped| stopped.set(None));
        Out { reply: Encoder::with_capacity(FLUSH_AT + INLINE_MAX) }
    }

    /// Sends what is collected.
    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        check()?;
        if self.reply.as_bytes().is_empty() {
            return Ok(());
        }
        let sent = send(host::emit, self.reply.as_bytes());
        self.reply.clear();
        sent
    }

    /// Sends what is collected if it has grown enough.
    pub(crate) fn flush_if_full(&mut self) -> Result<(), Stop> {
        if self.reply.as_bytes().len() < FLUSH_AT {
            return Ok(());
        }
        self.flush()
    }

    /// Sends one content, head and bytes.
    pub(crate) fn content(&mut self, content: &mut Content, request: &Request, route: &Route) -> Result<()> {
        content.measure()?;
        if let (true, Some(range)) = (route.ranges, request.range()) {
            content.cut(range)?;
        }
        self.put(content, request, &route.entry.mime)
    }

    /// Sends one content as it is. `mime` is the type of the route; empty for none.
    pub(crate) fn put(&mut self, content: &mut Content, request: &Request, mime: &str) -> Result<()> {
        let wanted = !matches!(content.body, Body::Unmodified);
        if wanted && request.max_bytes().map_or(false, |max| content.length() > max) {
            return Err(Code::TooLarge.into());
        }
        let inline = matches!(&content.body, Body::Memory(bytes) if bytes.len() <= INLINE_MAX);
        content.encode(&mut self.reply, request, mime, inline);
        if inline || !wanted {
            return Ok(self.flush_if_full()?);
        }
        self.flush()?;
        match &mut content.body {
            Body::Unmodified => Ok(()),
            Body::Memory(bytes) => bytes.chunks(PIECE).try_for_each(|piece| Ok(send(host::body, piece)?)),
            Body::Stream(reader) => stream(reader),
            Body::Seekable(reader) => stream(reader),
        }
    }

    /// Sends what is left, or the error, and gives the code the operation ends with. What the host has signalled
    /// counts, whatever the handler made of it.
    pub(crate) fn finish(mut self, result: Result<()>) -> u32 {
        let mut result = result.and_then(|()| Ok(self.flush()?));
        match check() {
            Err(Stop::Enough) => result = self.flush_last(),
            Err(Stop::Failed(code)) => return code.number(),
            Ok(()) => {}
        }
        match result {
            Ok(()) => abi::CODE_OK,
            Err(error) => self.fail(&error),
        }
    }

    /// Sends what was added after the host had enough, as the next cursor.
    fn flush_last(&mut self) -> Result<()> {
        STOPPED.with(|stopped| stopped.set(None));
        match self.flush() {
            Ok(()) | Err(Stop::Enough) => Ok(()),
            Err(stop) => Err(stop.into()),
        }
    }

    fn fail(&mut self, error: &Error) -> u32 {
        error.log();
        self.reply.clear();
        error.encode(&mut self.reply);
        let _ = self.flush(); // the operation has failed either way
        error.code().number()
    }
}

/// Sends what a reader gives, in whole chunks.
fn stream(reader: &mut dyn Read) -> Result<()> {
    CHUNK_BUFFER.with(|buffer| {
        let mut chunk = buffer.borrow_mut();
        loop {
            let filled = fill(reader, &mut chunk[..])?;
            if filled > 0 {
                send(host::body, &chunk[..filled])?;
            }
            if filled < CHUNK {
                return Ok(());
            }
        }
    })
}

/// Reads until `chunk` is full or `reader` has come to its end.
fn fill(reader: &mut dyn Read, chunk: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match reader.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
