//! Bytes as UTF-8 text, whatever they are.

use std::io::{self, Read};
use std::str;

/// How many bytes are read at a time.
const ROOM: usize = 48 << 10;

/// Stands in the place of bytes that are no text.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Gives what a reader gives, with U+FFFD in the place of each run of bytes that is no UTF-8.
pub struct Lossy<R> {
    reader: R,
    read: Vec<u8>, // and not looked at yet: the beginning of a character
    ready: Vec<u8>,
    given: usize, // bytes of ready
    replaced: u64,
}

impl<R: Read> Lossy<R> {
    pub fn new(reader: R) -> Self {
        Lossy { reader, read: Vec::new(), ready: Vec::new(), given: 0, replaced: 0 }
    }

    /// Reads to the end, and gives how many runs of bytes are replaced.
    pub fn count(mut self) -> io::Result<u64> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(self.replaced)
    }

    /// Makes more bytes ready; none at the end.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.given = 0;
        while self.ready.is_empty() {
            let kept = self.read.len();
            self.read.resize(kept + ROOM, 0);
            let size = self.reader.read(&mut self.read[kept..])?;
            self.read.truncate(kept + size);
            self.convert(size == 0);
            if size == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Makes ready what was read, but for the beginning of a character whose rest may still come.
    fn convert(&mut self, ended: bool) {
        let mut rest = &self.read[..];
        loop {
            let error = match str::from_utf8(rest) {
                Ok(_) => {
                    self.ready.extend_from_slice(rest);
                    rest = &[];
                    break;
                }
                Err(error) => error,
            };
            let (text, other) = rest.split_at(error.valid_up_to());
            self.ready.extend_from_slice(text);
            rest = other;
            match error.error_len() {
                Some(size) => rest = &rest[size..],
                None if ended => rest = &[],
                None => break,
            }
            self.ready.extend_from_slice(REPLACEMENT);
            self.replaced += 1;
        }
        let kept = rest.to_vec();
        self.read = kept;
    }
}

impl<R: Read> Read for Lossy<R> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = buffer.len().min(1);
            self.0.read(&mut buffer[..size])
        }
    }

    #[test]
    fn bytes_become_text() {
        for (bytes, replaced) in [
            (&b""[..], 0),
            (b"plain", 0),
            ("größe 日本 🙂".as_bytes(), 0),
            (b"a\xffb", 1),
            (b"\xff\xfe", 2),
            (b"caf\xe9", 1),
            (b"\xf0\x9f\x99", 1),
            (b"\xf0\x9f\x99x\xe6\x97", 2),
            (b"\xed\xa0\x80", 3),
            (b"\0", 0),
        ] {
            let want = String::from_utf8_lossy(bytes);
            let mut got = String::new();
            Lossy::new(bytes).read_to_string(&mut got).unwrap();
            assert_eq!(got, want);
            let mut slow = String::new();
            Lossy::new(Trickle(bytes)).read_to_string(&mut slow).unwrap();
            assert_eq!(slow, want, "one byte at a time");
            assert_eq!(Lossy::new(Trickle(bytes)).count().unwrap(), replaced, "{bytes:x?}");
        }
        let long = [&b"\xc3\xbc".repeat(ROOM)[..], b"\xff", &b"x".repeat(ROOM)].concat();
        let mut got = String::new();
        Lossy::new(&long[1..]).read_to_string(&mut got).unwrap();
        assert!(got == String::from_utf8_lossy(&long[1..]));
    }
}
