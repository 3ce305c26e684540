//! Private keys in PEM.

use super::ascii::find;
use super::Scanner;

pub const BEGIN: &str = "-----BEGIN ";
pub const END: &str = "-----END ";
const DASHES: &str = "-----";

/// How many bytes a label has at most.
const LABEL: usize = 64;

impl Scanner<'_> {
    /// Hides blocks in PEM, to the end of the text if a block has none.
    pub fn pem(&mut self) {
        let mut at = 0;
        while let Some(from) = begin(self.rest(at)) {
            let from = at + from;
            at = from + BEGIN.len();
            at = end(self.rest(at)).map_or(self.text.len(), |size| at + size);
            self.hide(from, at);
        }
    }
}

/// Gives where the first block begins that is secret. Certificates and public keys are no secrets.
pub fn begin(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        from += find(&text[from..], BEGIN)?;
        let label = &text[from + BEGIN.len()..];
        let label = &label[..label.len().min(LABEL)];
        match find(label, DASHES) {
            Some(size) if is_public(&label[..size]) => from += BEGIN.len(),
            _ => return Some(from),
        }
    }
}

/// Gives where a block ends, after its last line.
pub fn end(text: &[u8]) -> Option<usize> {
    let at = find(text, END)? + END.len();
    let label = &text[at..text.len().min(at + LABEL)];
    Some(find(label, DASHES).map_or(at, |size| at + size + DASHES.len()))
}

fn is_public(label: &[u8]) -> bool {
    let has = |word| find(label, word).is_some();
    !has("PRIVATE") && (has("CERTIFICATE") || has("PUBLIC") || has("CRL"))
}
