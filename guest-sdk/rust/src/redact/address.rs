//! Credentials in addresses, and in the header fields of HTTP.

use super::ascii::{class, ends_with, is, lists, starts_with};
use super::{Scanner, QUOTES, WINDOW, WORD_ENDS};

/// What stands before a colon where an `@` follows and no password is between.
const ACCOUNTS: &[&str] =
    &["mailto", "sip", "sips", "acct", "xmpp", "im", "npm", "pkg", "github", "git", "workspace", "file", "tel"];

/// What stands before the slash of an address whose path is a secret, and after it.
const HOOKS: [(&str, &str); 3] = [("hooks.slack.com", "/services/"), ("", "/api/webhooks/"), ("", "/webhookb2/")];

impl Scanner<'_> {
    /// Hides the user information of URLs, as in `postgres://user:secret@host`, and of data source names, as in
    /// `user:secret@tcp(host)`. Of a web address it is a secret as a whole, since a token may stand for the user.
    pub fn addresses(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            match self.text[at] {
                b':' if self.rest(at).starts_with(b"://") => self.url(at),
                b':' => self.account(at),
                b'/' => at = self.slash(at),
                _ => {}
            }
            at += 1;
        }
    }

    /// Hides what follows a slash in the address of a hook, or a database; gives the last place that needs no further look.
    fn slash(&mut self, at: usize) -> usize {
        for (host, path) in HOOKS {
            if starts_with(self.rest(at), path) && ends_with(&self.text[..at], host) {
                let from = at + path.len();
                let to = self.end(from, WORD_ENDS);
                self.hide(from, to);
                return to.max(from) - 1;
            }
        }
        if starts_with(self.before(at, 64), "jdbc:oracle:") {
            self.hide(at + 1, self.last_at(at + 1));
        }
        at
    }

    /// Gives the run of bytes before a place, at most so many.
    fn before(&self, at: usize, most: usize) -> &[u8] {
        let run = self.text[..at].iter().rev().take(most);
        let size = run.take_while(|byte| !b" \t\r\n\"'`=<>(".contains(byte)).count();
        &self.text[at - size..at]
    }

    /// Gives what follows a place up to a byte of a class, or to the end of the window.
    fn run(&self, from: usize, ends: u8) -> &[u8] {
        let part = self.part(from, WINDOW);
        &part[..part.iter().position(|&byte| is(byte, ends)).unwrap_or(part.len())]
    }

    /// Gives the place of the last `@` in the run of bytes from one on, or that one if there is none.
    fn last_at(&self, from: usize) -> usize {
        let run = self.run(from, class::WORD_END);
        from + run.iter().rposition(|&byte| byte == b'@').unwrap_or(0)
    }

    /// Hides the user information of the URL whose `://` is at a place.
    fn url(&mut self, at: usize) {
        let from = at + "://".len();
        let authority = self.run(from, class::AUTHORITY_END);
        let colon = authority.iter().position(|&byte| byte == b':');
        let to = match colon {
            Some(colon) if !is_port(&authority[colon + 1..]) => self.last_at(from), // the password may have slashes
            _ => from + authority.iter().rposition(|&byte| byte == b'@').unwrap_or(0),
        };
        let scheme = self.before(at, 16);
        if ["http", "https", "ws", "wss"].iter().any(|web| ends_with(scheme, web)) {
            self.hide(from, to);
        } else if let Some(colon) = colon {
            self.hide(from + colon + 1, to);
        }
    }

    /// Hides the password of `user:password@host`, whose colon is at a place.
    fn account(&mut self, at: usize) {
        let is_user = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.-%".contains(byte);
        let to = self.last_at(at + 1);
        if to <= at + 1 {
            return;
        }
        let size = self.text[..at].iter().rev().take_while(is_user).count();
        let user = &self.text[at - size..at];
        if user.is_empty() || self.text[..at - size].ends_with(b"/") || lists(ACCOUNTS, user) {
            return;
        }
        let host = self.rest(to + 1);
        if starts_with(host, "sha256:") || starts_with(host, "sha512:") || self.rest(at + 1).starts_with(b"//") {
            return; // the digest of an image, or a URL without a scheme
        }
        if matches!(host.first(), Some(c) if c.is_ascii_alphanumeric() || *c == b'[') {
            self.hide(at + 1, to);
        }
    }

    /// Hides what stands after Bearer and Basic.
    pub fn credentials(&mut self) {
        for start in 0..self.text.len() {
            if !matches!(self.text[start], b'b' | b'B') || start > 0 && self.text[start - 1].is_ascii_alphanumeric() {
                continue;
            }
            for scheme in ["bearer", "basic"] {
                if starts_with(self.rest(start), scheme) {
                    self.credential(start, start + scheme.len(), scheme == "bearer");
                }
            }
        }
    }

    /// Hides the credential after a scheme whose range is given.
    fn credential(&mut self, start: usize, end: usize, is_bearer: bool) {
        let from = self.skip(end);
        if from == end {
            return;
        }
        let to = self.end(from, b" \t\r\n\"'`,;<>");
        let word = &self.text[from..to];
        let is_value = match self.last_before(start) {
            None => true,
            Some(byte) => byte == b'=' || byte == b':' || byte == b'\n' || QUOTES.contains(&byte),
        };
        if is_bearer && (is_value && word.len() >= 4 || looks_random(word)) || !is_bearer && is_basic(word) {
            self.hide(from, to);
        }
    }
}

fn is_port(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Reports whether a word is none of a language: it has a digit, or capital letters after small ones.
fn looks_random(word: &[u8]) -> bool {
    word.len() >= 6
        && (word.iter().any(|c| c.is_ascii_digit() || b"_+/=~".contains(c))
            || word.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()))
}

/// Reports whether a word is `user:password` in base64.
fn is_basic(word: &[u8]) -> bool {
    let size = word.len() - word.iter().rev().take_while(|&&byte| byte == b'=').count();
    let (mut bits, mut held, mut bytes, mut has_colon) = (0, 0u32, 0, false);
    for &byte in &word[..size] {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        held = held << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes += 1;
            has_colon |= (held >> bits) as u8 == b':';
        }
    }
    bits < 6 && bytes > 2 && has_colon
}
