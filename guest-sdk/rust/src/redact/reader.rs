//! Redaction of a text while it is read.

use std::io::{self, Read};
use std::mem;

use super::{marked, pem, MARK};

/// How many bytes are read at a time.
const ROOM: usize = 16 << 10;

/// How many bytes of a line are held at most.
const MAX_LINE: usize = 64 << 10;

/// How many bytes a private key hides at most, if it has no end.
const MAX_BLOCK: usize = 64 << 10;

/// How many bytes of a line that is too long are looked at again with those that follow: the marks of PEM are shorter.
const OVERLAP: usize = 16;

/// Gives the text of a reader with [`MARK`] in the place of each secret in it, line by line, as [`text`](super::text) does.
///
/// It holds at most 64 KiB of a line: of a longer one it gives the words up to there, and one mark for all others. A private
/// key without an end hides 64 KiB. Bytes that are no UTF-8 pass as they are.
///
/// ```
/// use std::io::Read;
/// use wasmres::redact;
///
/// let log = &b"GET /\nlogin failed: password=hunter2\n"[..];
/// let mut shown = String::new();
/// redact::Reader::new(log).read_to_string(&mut shown).unwrap();
/// assert_eq!(shown, "GET /\nlogin failed: password=[redacted]\n");
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    reader: R,
    read: Vec<u8>,
    looked: usize, // bytes of read that have no end of a line
    ready: Vec<u8>,
    given: usize,   // bytes of ready
    block: usize,   // bytes that a private key that has begun may still hide; 0 for none
    too_long: bool, // the line that is being read
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Redacts what a reader gives.
    pub fn new(reader: R) -> Self {
        let (read, ready) = (Vec::new(), Vec::new());
        Reader { reader, read, looked: 0, ready, given: 0, block: 0, too_long: false, ended: false }
    }

    /// Makes more bytes ready; none at the end.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.given = 0;
        while self.ready.is_empty() && !self.ended {
            let held = self.read.len();
            self.read.resize(held + ROOM, 0);
            let size = self.reader.read(&mut self.read[held..]);
            self.read.truncate(held + *size.as_ref().unwrap_or(&0));
            self.ended = size? == 0;
            self.lines();
        }
        Ok(())
    }

    /// Makes the lines ready that were read, and at the end also what follows the last one.
    fn lines(&mut self) {
        let mut read = mem::take(&mut self.read);
        let (mut from, mut looked) = (0, self.looked);
        while let Some(size) = read[from + looked..].iter().position(|&byte| byte == b'\n') {
            let to = from + looked + size + 1;
            self.line(&read[from..to]);
            from = to;
            looked = 0;
        }
        if self.ended {
            self.line(&read[from..]);
            from = read.len();
        } else if read.len() - from > MAX_LINE {
            self.begin_too_long(&read[from..]);
            from = read.len() - OVERLAP;
        }
        read.drain(..from);
        self.looked = read.len();
        self.read = read;
    }

    /// Makes a line ready, or what is left of one that is too long.
    fn line(&mut self, line: &[u8]) {
        if self.too_long {
            self.too_long = false;
            self.follow(line);
        } else if self.block == 0 {
            self.show(line);
            return;
        } else if let Some(end) = pem::end(line) {
            self.block = 0;
            self.show(&line[end..]);
            return;
        } else {
            self.follow(line);
        }
        if self.block == 0 && line.ends_with(b"\n") {
            self.ready.push(b'\n');
        }
    }

    /// Makes the beginning of a line ready that is too long, with a mark for the rest.
    fn begin_too_long(&mut self, line: &[u8]) {
        if !self.too_long && self.block == 0 {
            let words = line.iter().rposition(|byte| b" \t".contains(byte)).map_or(0, |space| space + 1);
            self.put(&line[..words]);
            if !self.ready.ends_with(MARK.as_bytes()) {
                self.ready.extend_from_slice(MARK.as_bytes());
            }
        }
        self.too_long = true;
        self.follow(line);
    }

    fn show(&mut self, text: &[u8]) {
        self.put(text);
        self.follow(text);
    }

    fn put(&mut self, text: &[u8]) {
        match marked(text) {
            Some(marked) => self.ready.extend_from_slice(&marked),
            None => self.ready.extend_from_slice(text),
        }
    }

    /// Notes whether a private key begins or ends in a part of the text.
    fn follow(&mut self, text: &[u8]) {
        let mut from = 0;
        loop {
            let rest = &text[from..];
            let found = if self.block > 0 { pem::end(rest) } else { pem::begin(rest).map(|at| at + pem::BEGIN.len()) };
            from += match found {
                Some(size) => size,
                None => break,
            };
            self.block = if self.block > 0 { 0 } else { MAX_BLOCK };
        }
        self.block = self.block.saturating_sub(text.len());
    }
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() {
            self.fill()?;
        }
        let rest = &self.ready[self.given..];
        let size = rest.len().min(buffer.len());
        buffer[..size].copy_from_slice(&rest[..size]);
        self.given += size;
        Ok(size)
    }
}
