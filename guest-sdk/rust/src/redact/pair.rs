//! Values of secret names within a text.

use super::ascii::{class, is, starts_with};
use super::name::{is_secret_name, is_secret_pair};
use super::{Scanner, QUOTES, SPACES, WINDOW};

/// What ends a value.
enum Stop {
    Quote(u8),
    Bytes(&'static [u8]),
}

/// Values of two words, of which the second is the credential.
const SCHEMES: [&str; 7] = ["bearer ", "basic ", "digest ", "token ", "apikey ", "negotiate ", "aws4-hmac-sha256 "];

impl Scanner<'_> {
    /// Hides the values of secret names, as in `Password=…`, `"token": "…"`, `<secret>…</secret>` and `--password …`.
    pub fn pairs(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            if !is(self.text[at], class::NAME) {
                at += 1;
                continue;
            }
            let from = at;
            while at < self.text.len() && is(self.text[at], class::NAME) {
                at += 1;
            }
            at = self.pair(from, at).unwrap_or(at);
        }
    }

    /// Hides the value of a name, if it is a secret, and gives where it ends.
    fn pair(&mut self, from: usize, to: usize) -> Option<usize> {
        let (value, separator) = self.separated(from, to)?;
        let name = &self.text[from..to];
        if !is_secret_name(name) {
            return None;
        }
        let (value, stop) = self.value(from, value, separator);
        let beginning = &self.text[value.min(self.text.len())..self.stop(value, &stop, WINDOW)];
        if !is_secret_pair(name, beginning) {
            return None;
        }
        let end = self.stop(value, &stop, usize::MAX);
        self.hide(value, end);
        Some(end)
    }

    /// Gives where the value of a name begins, and what stands before it: `=`, `:`, `>` or a space.
    fn separated(&self, from: usize, to: usize) -> Option<(usize, u8)> {
        let mut at = to;
        if QUOTES.contains(self.text.get(at)?) {
            at += 1;
        }
        if self.rest(at).first() == Some(&b']') {
            at += 1;
        }
        at = self.skip(at);
        match *self.text.get(at)? {
            b':' if self.rest(at).starts_with(b"://") => None,
            c @ (b'=' | b':') => {
                if matches!(self.rest(at + 1).first(), Some(b'=' | b'>')) {
                    at += 1; // := and =>
                }
                Some((self.skip(at + 1), c))
            }
            b'>' if at == to && from > 0 && matches!(self.text[from - 1], b'<' | b':') => Some((at + 1, b'>')),
            _ if at > to && self.text[from..].starts_with(b"--") => Some((at, b' ')),
            _ => None,
        }
    }

    /// Gives where a value begins, without its quote, and what ends it.
    fn value(&self, name: usize, at: usize, separator: u8) -> (usize, Stop) {
        if separator == b'>' {
            return (at, Stop::Bytes(b"<"));
        }
        match self.text.get(at) {
            Some(&quote) if QUOTES.contains(&quote) => return (at + 1, Stop::Quote(quote)),
            _ => {}
        }
        let line = &self.text[at.min(self.text.len())..self.end_in(at, b"\r\n", WINDOW)];
        let stops = if separator == b' ' {
            SPACES
        } else if line.contains(&b';') {
            b";\r\n"
        } else if separator == b'=' && line.contains(&b'&') {
            b"& \t\r\n"
        } else if self.is_first(name)
            || self.last_before(name) == Some(b';')
            || SCHEMES.iter().any(|scheme| starts_with(line, scheme))
        {
            b"\r\n"
        } else {
            SPACES
        };
        (at, Stop::Bytes(stops))
    }

    /// Gives where a value ends, within so many bytes.
    fn stop(&self, from: usize, stop: &Stop, most: usize) -> usize {
        match *stop {
            Stop::Bytes(stops) => self.end_in(from, stops, most),
            Stop::Quote(quote) => self.quoted(from, quote, most),
        }
    }

    /// Gives where a quoted text ends. One without an end goes to that of the line.
    fn quoted(&self, from: usize, quote: u8, most: usize) -> usize {
        let text = self.part(from, most);
        let mut i = 0;
        while i < text.len() {
            match text[i] {
                c if c == quote || c == b'\n' => return from + i,
                b'\\' if text.get(i + 1) != Some(&b'\n') => i += 2,
                _ => i += 1,
            }
        }
        from + text.len()
    }

    /// Reports whether nothing stands before a name in its line but what a list or a comment begins with.
    fn is_first(&self, name: usize) -> bool {
        self.text[..name].iter().rev().take_while(|&&byte| byte != b'\n').all(|byte| b" \t-#*\"'[".contains(byte))
    }
}
