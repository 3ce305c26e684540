//! Keeps secrets out of what a provider shows: [`MARK`] stands in the place of what is a secret by the name of a setting
//! or by its shape.
//!
//! It finds user information of URLs and of data source names, values of pairs as `Password=…` and `token: …`, bearer and
//! basic credentials, private keys in PEM, password hashes, and tokens of common services. It cannot find a password that
//! stands alone, and is no reason to serve a file of secrets.
//!
//! ```
//! use wasmres::redact;
//!
//! assert_eq!(redact::value("db.password", "hunter2"), "[redacted]");
//! assert_eq!(redact::text("login failed: password=hunter2 user=ada"), "login failed: password=[redacted] user=ada");
//! ```

mod address;
mod ascii;
mod name;
mod pair;
mod pem;
mod reader;
mod token;

use std::borrow::Cow;

pub use name::is_secret;
pub use reader::Reader;

/// Stands in the place of a secret.
pub const MARK: &str = "[redacted]";

/// Gives the value of a setting as clients may see it: only [`MARK`] if its name says that it is a secret, and otherwise
/// as [`text`] has it. The name may have several parts, as in `database.password` or `DB_PASSWORD`.
pub fn value<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret(name, value) {
        return Cow::Borrowed(MARK);
    }
    text(value)
}

/// Gives a text, of one line or many, with [`MARK`] in the place of each secret in it. The time it takes grows as the length
/// of the text does. A private key without an end hides the rest of the text.
pub fn text(text: &str) -> Cow<'_, str> {
    match marked(text.as_bytes()) {
        None => Cow::Borrowed(text),
        Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Gives a text with its marks; none if it has no secret.
fn marked(text: &[u8]) -> Option<Vec<u8>> {
    let mut scanner = Scanner { text, secret: Vec::new() };
    scanner.pem();
    scanner.pairs();
    scanner.addresses();
    scanner.credentials();
    scanner.tokens();
    scanner.marked()
}

/// How many bytes after a place are looked at for what decides about it. It keeps the time for a hostile text linear.
const WINDOW: usize = 1 << 10;

const SPACES: &[u8] = b" \t\r\n";
const QUOTES: &[u8] = b"\"'`";

/// What ends a word: [`SPACES`], [`QUOTES`] and brackets.
const WORD_ENDS: &[u8] = b" \t\r\n\"'`<>";

/// Finds secrets in a text.
struct Scanner<'a> {
    text: &'a [u8],
    secret: Vec<bool>, // of each byte; empty while there is none
}

impl<'a> Scanner<'a> {
    /// Makes bytes secret, but for an empty range.
    fn hide(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        self.secret.resize(self.text.len(), false);
        self.secret[from..to].fill(true);
    }

    /// Gives the text with a mark for each run of secret bytes.
    fn marked(&self) -> Option<Vec<u8>> {
        if self.secret.is_empty() {
            return None;
        }
        let mut marked = Vec::with_capacity(self.text.len());
        for (i, &byte) in self.text.iter().enumerate() {
            if !self.secret[i] {
                marked.push(byte);
            } else if i == 0 || !self.secret[i - 1] {
                marked.extend_from_slice(MARK.as_bytes());
            }
        }
        Some(marked)
    }

    /// Gives the text from a place on.
    fn rest(&self, from: usize) -> &'a [u8] {
        self.text.get(from..).unwrap_or_default()
    }

    /// Gives at most so many bytes from a place on.
    fn part(&self, from: usize, most: usize) -> &'a [u8] {
        let rest = self.rest(from);
        &rest[..rest.len().min(most)]
    }

    /// Gives where a run of bytes ends that begins at a place: at the first byte of `stops`, or at the end.
    fn end(&self, from: usize, stops: &[u8]) -> usize {
        self.end_in(from, stops, usize::MAX)
    }

    /// Gives the same, within so many bytes.
    fn end_in(&self, from: usize, stops: &[u8], most: usize) -> usize {
        let part = self.part(from, most);
        from + part.iter().position(|byte| stops.contains(byte)).unwrap_or(part.len())
    }

    /// Gives the first place from one on without spaces and tabs.
    fn skip(&self, from: usize) -> usize {
        from + self.rest(from).iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count()
    }

    /// Gives the last byte before a place that is no space; the first one of the text if all are spaces.
    fn last_before(&self, at: usize) -> Option<u8> {
        let before = &self.text[..at];
        before.iter().rev().find(|&&byte| byte != b' ' && byte != b'\t').or(before.first()).copied()
    }
}
