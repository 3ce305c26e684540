//! The lines of level ERROR of a log, while it is read.

use std::io::{self, BufRead, BufReader, Read};

/// How an entry of level ERROR begins, where 0 stands for any digit.
const HEAD: &[u8] = b"0000-00-00T00:00:00Z ERROR ";

/// How many bytes of the log are held at a time.
const ROOM: usize = 48 << 10;

/// Gives the lines of a log that are of level ERROR, and reads no more of it than is asked for. Lines may be of any
/// length: none is held as a whole.
pub struct Errors<R> {
    log: BufReader<R>,
    line: Line,
    held: Held,
}

/// What is known of the line that is being read.
#[derive(Clone, Copy)]
enum Line {
    /// So many bytes of it are as those of [`HEAD`].
    Head(usize),
    Error,
    Other,
}

/// The beginning of a line that may be of level ERROR, and what of it has been given already.
struct Held {
    bytes: [u8; HEAD.len()],
    given: usize,
}

impl<R: Read> Errors<R> {
    pub fn new(log: R) -> Self {
        let held = Held { bytes: [0; HEAD.len()], given: HEAD.len() };
        Errors { log: BufReader::with_capacity(ROOM, log), line: Line::Head(0), held }
    }

    /// Reads on in the beginning of a line.
    fn head(&mut self, known: usize) -> io::Result<()> {
        let byte = self.log.fill_buf()?[0];
        if !fits(HEAD[known], byte) {
            self.line = Line::Other;
            return Ok(());
        }
        self.log.consume(1);
        self.held.bytes[known] = byte;
        self.line = Line::Head(known + 1);
        if known + 1 == HEAD.len() {
            self.line = Line::Error;
            self.held.given = 0;
        }
        Ok(())
    }

    /// Reads over the rest of a line.
    fn skip(&mut self) -> io::Result<()> {
        let bytes = self.log.fill_buf()?;
        let (size, ended) = line(bytes);
        self.log.consume(size);
        if ended {
            self.line = Line::Head(0);
        }
        Ok(())
    }

    /// Gives bytes of a line of level ERROR.
    fn give(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let held = &self.held.bytes[self.held.given..];
        if !held.is_empty() {
            let size = held.len().min(buffer.len());
            buffer[..size].copy_from_slice(&held[..size]);
            self.held.given += size;
            return Ok(size);
        }
        let bytes = self.log.fill_buf()?;
        let bytes = &bytes[..bytes.len().min(buffer.len())];
        let (size, ended) = line(bytes);
        buffer[..size].copy_from_slice(&bytes[..size]);
        self.log.consume(size);
        if ended {
            self.line = Line::Head(0);
        }
        Ok(size)
    }
}

impl<R: Read> Read for Errors<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Line::Error = self.line {
                return self.give(buffer);
            }
            if self.log.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match self.line {
                Line::Head(known) => self.head(known)?,
                _ => self.skip()?,
            }
        }
    }
}

/// Gives how many bytes belong to the line that goes on in `bytes`, and whether it ends there.
fn line(bytes: &[u8]) -> (usize, bool) {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(end) => (end + 1, true),
        None => (bytes.len(), false),
    }
}

fn fits(pattern: u8, byte: u8) -> bool {
    if pattern == b'0' {
        return byte.is_ascii_digit();
    }
    pattern == byte
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most so many bytes at a time.
    struct Trickle<R>(R, usize);

    impl<R: Read> Read for Trickle<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = buffer.len().min(self.1);
            self.0.read(&mut buffer[..size])
        }
    }

    fn errors(log: &str) -> String {
        let mut errors = String::new();
        Errors::new(log.as_bytes()).read_to_string(&mut errors).unwrap();
        for size in [1, 2, 7, 26, 27, 28] {
            let mut slow = String::new();
            let mut log = Trickle(Errors::new(Trickle(log.as_bytes(), size)), size);
            log.read_to_string(&mut slow).unwrap();
            assert_eq!(slow, errors, "{size} bytes at a time");
        }
        errors
    }

    #[test]
    fn lines_of_level_error_are_given() {
        let log = "2026-11-22T09:00:00Z INFO up\n2026-11-22T09:00:01Z ERROR disk full\n\n\
                   2026-11-22T09:00:02Z ERROR größer\n2026-11-22T09:00:03Z WARN ERROR\n2026-11-22T09:00:04Z ERROR \n";
        let want =
            "2026-11-22T09:00:01Z ERROR disk full\n2026-11-22T09:00:02Z ERROR größer\n2026-11-22T09:00:04Z ERROR \n";
        assert_eq!(errors(log), want);
    }

    #[test]
    fn other_lines_are_not() {
        for line in [
            "",
            "\n",
            "\r\n",
            "2",
            "2026-11-22T09:00:00Z ERROR",
            "2026-11-22T09:00:00Z ERROR\n",
            "2026-11-22T09:00:00Z ERRORS x",
            "2026-11-22 09:00:00 ERROR x",
            " 2026-11-22T09:00:00Z ERROR x",
            "x2026-11-22T09:00:00Z ERROR x",
            "2026-11-22T09:00:00Z error x",
            "ERROR x",
            "2026-11-22T09:00:0ZZ ERROR x",
        ] {
            assert_eq!(errors(line), "", "{line:?}");
            let error = "2026-11-22T09:00:00Z ERROR x";
            assert_eq!(errors(&[line, "\n", error].concat()), error, "after {line:?}");
        }
    }

    #[test]
    fn lines_may_be_longer_than_what_is_held() {
        let long = "x".repeat(3 * ROOM);
        let error = ["2026-11-22T09:00:00Z ERROR ", &long, "\n"].concat();
        let log = [&long, "\n", &error, "2026-11-22T09:00:00Z INFO ", &long, "\n", &error].concat();
        let mut got = String::new();
        Errors::new(log.as_bytes()).read_to_string(&mut got).unwrap();
        assert!(got == error.repeat(2));
    }
}
