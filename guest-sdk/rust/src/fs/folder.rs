//! Folders, answered as their files.

use std::fmt;
use std::io;

use super::{Dir, Entries, Metadata};
use crate::out::Out;
use crate::{abi, host, Content, Request, Result};

const FILES: usize = 100; // answered when nothing is said
const BYTES: u64 = 1 << 20; // of them together
const ENTRIES: usize = 10_000; // that are looked at
const NAMES: usize = 10; // of files left out that are told
const URI_MAX: usize = 2048; // bytes of a URI
const PIECE: u64 = 64 << 10; // bytes that are fetched at once
const HEAD: usize = 1 << 10; // bytes that the type is told by

type FileType = dyn Fn(&str, &[u8], bool) -> Option<String>;

/// The files of a folder, as what a read answers: see [`Dir::folder`]. Its methods give it back changed, so that they
/// chain.
pub struct Folder {
    dir: Dir,
    name: String,
    prefix: String,
    list: List,
    max_files: usize,
    max_bytes: u64,
    mime: Option<Box<FileType>>,
}

impl Folder {
    pub(super) fn new(dir: Dir, name: &str, prefix: String) -> io::Result<Self> {
        let list = List { entries: dir.entries(name)?, hidden: false, seen: 0, more: false };
        let name = name.to_owned();
        Ok(Folder { dir, name, prefix, list, max_files: FILES, max_bytes: BYTES, mime: None })
    }

    /// Sets how many files are answered; without it, 100.
    #[must_use]
    pub fn max_files(mut self, count: usize) -> Self {
        self.max_files = count;
        self
    }

    /// Sets how many bytes the files may have together; without it, 1 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Has files answered whose names begin with a dot.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.list.hidden = true;
        self
    }

    /// Sets what gives the type of a file by its name and its first bytes, 1 KiB at most. The last parameter says whether
    /// the whole file is UTF-8 without zeros. Without it, and for `None`, that is `text/plain` or
    /// `application/octet-stream`.
    #[must_use]
    pub fn mime(mut self, of: impl Fn(&str, &[u8], bool) -> Option<String> + 'static) -> Self {
        self.mime = Some(Box::new(of));
        self
    }

    /// Gives an etag of the folder, for [`Route::watch`](crate::Route::watch): it changes when a file comes, goes, or has
    /// another size or time of change. Of the options, [`Folder::hidden`] counts.
    pub fn version(mut self) -> io::Result<String> {
        let mut sum = 14_695_981_039_346_656_037_u64; // FNV-1a
        while let Some(file) = self.list.next_file()? {
            let numbers = [file.len.to_le_bytes(), file.modified_ms.to_le_bytes()].concat();
            for byte in file.name.bytes().chain(numbers) {
                sum = (sum ^ u64::from(byte)).wrapping_mul(1_099_511_628_211);
            }
        }
        Ok(format!("{:x}", sum))
    }

    /// Sends the contents of the files, and the folder's own if it has something to say.
    pub(crate) fn send(&mut self, request: &Request, out: &mut Out) -> Result<()> {
        let mut sent = Sent::default();
        while let Some(file) = self.list.next_file()? {
            match self.read(&file, &sent)? {
                Ok(mut content) => {
                    sent.files += 1;
                    sent.bytes += content.length();
                    out.put(&mut content, request, "")?;
                }
                Err(reason) => sent.leave(&file, reason),
            }
        }
        sent.more = self.list.more;
        if sent.files > 0 && sent.is_whole() {
            return Ok(());
        }
        out.put(&mut Content::text(sent.summary()).mime("text/plain").meta(sent.meta()), request, "")
    }

    /// Makes a content of a file, or says why it is left out.
    fn read(&self, file: &Metadata, sent: &Sent) -> io::Result<Result<Content, Left>> {
        let path = if self.name == "." { file.name.clone() } else { [&self.name, "/", &file.name].concat() };
        let room = self.max_bytes.saturating_sub(sent.bytes);
        if path.contains(|c: char| c.is_control() || c == '\\') {
            return Ok(Err(Left::Name));
        }
        if sent.files >= self.max_files {
            return Ok(Err(Left::MaxFiles));
        }
        if file.len > room {
            return Ok(Err(Left::MaxBytes));
        }
        let uri = [self.prefix.as_str(), &escape(&path)].concat();
        if uri.len() > URI_MAX {
            return Ok(Err(Left::Name));
        }
        match read_at_most(&self.dir.join(&path)?, room) {
            Ok(Some((bytes, now))) => {
                let etag = [base36(now.modified_ms), base36(i64::try_from(now.len).unwrap_or(i64::MAX))].join("-");
                Ok(Ok(self.content(&file.name, bytes).uri(uri).etag(etag).last_modified(now.modified())))
            }
            Ok(None) => Ok(Err(Left::MaxBytes)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::InvalidInput => Ok(Err(Left::Gone)),
                io::ErrorKind::PermissionDenied => Ok(Err(Left::Denied)),
                _ => Err(error),
            },
        }
    }

    fn content(&self, name: &str, bytes: Vec<u8>) -> Content {
        let text = !bytes.contains(&0) && std::str::from_utf8(&bytes).is_ok();
        let usual = || if text { "text/plain" } else { "application/octet-stream" }.to_owned();
        let told = self.mime.as_ref().and_then(|of| of(name, &bytes[..bytes.len().min(HEAD)], text));
        let mime = told.filter(|mime| !mime.is_empty()).unwrap_or_else(usual);
        let is_text = text && !is_binary(&mime);
        let content = Content::bytes(bytes).mime(mime);
        if is_text {
            return content.utf8();
        }
        content
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder").field("dir", &self.dir).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads a whole file, and tells what is known of it then; nothing when it has more than `room` bytes.
fn read_at_most(path: &str, room: u64) -> io::Result<Option<(Vec<u8>, Metadata)>> {
    let mut bytes = Vec::new();
    loop {
        let read = bytes.len();
        let wanted = PIECE.min((room - read as u64).saturating_add(1));
        let request = super::Request { path, offset: read as u64, length: wanted, ..super::Request::default() };
        let metadata = request.ask(abi::SERVICE_FILE_READ)?.one()?;
        bytes.resize(read + wanted as usize, 0); // at most PIECE more
        let copied = host::take(abi::CHANNEL_BODY, 0, &mut bytes[read..]);
        bytes.truncate(read + copied);
        let length = bytes.len() as u64;
        if length > room {
            return Ok(None);
        }
        if copied == 0 || metadata.len > 0 && length >= metadata.len {
            return Ok(Some((bytes, metadata)));
        }
    }
}

/// Gives the files of a folder one by one.
struct List {
    entries: Entries,
    hidden: bool,
    seen: usize,
    more: bool, // entries were not looked at
}

impl List {
    fn next_file(&mut self) -> io::Result<Option<Metadata>> {
        loop {
            if self.seen == ENTRIES && !self.more {
                self.more = self.entries.has_more();
            }
            if self.more {
                return Ok(None);
            }
            let entry = match self.entries.next() {
                Some(entry) => entry?,
                None => return Ok(None),
            };
            self.seen += 1;
            if !entry.dir && !entry.name.is_empty() && (self.hidden || !entry.name.starts_with('.')) {
                return Ok(Some(entry));
            }
        }
    }
}

/// Why a file is left out.
#[derive(Clone, Copy)]
enum Left {
    MaxFiles,
    MaxBytes,
    Gone,
    Denied,
    Name,
}

const REASONS: [&str; 5] = ["maxFiles", "maxBytes", "gone", "denied", "name"];

/// What is answered of a folder, and what is left out.
#[derive(Default)]
struct Sent {
    files: usize,
    bytes: u64,
    left: usize,
    left_bytes: u64,
    more: bool,
    names: Vec<String>, // as JSON
    reasons: [usize; REASONS.len()],
}

impl Sent {
    fn leave(&mut self, file: &Metadata, reason: Left) {
        self.left += 1;
        self.left_bytes = self.left_bytes.saturating_add(file.len);
        self.reasons[reason as usize] += 1;
        if !matches!(reason, Left::Name) && self.names.len() < NAMES {
            self.names.push(["\"", &file.name.replace('"', "\\\""), "\""].concat());
        }
    }

    fn is_whole(&self) -> bool {
        self.left == 0 && !self.more
    }

    fn summary(&self) -> String {
        if self.is_whole() {
            return "No files.".to_owned();
        }
        let more = if self.more { "more than " } else { "" };
        let mut text = format!("Files left out: {}{} ({} bytes)", more, self.left, self.left_bytes);
        if !self.names.is_empty() {
            text += ", among them ";
            text += &self.names.join(", ");
        }
        text
    }

    fn meta(&self) -> String {
        let mut json = format!("{{\"folder\":{{\"files\":{},\"bytes\":{}", self.files, self.bytes);
        if !self.is_whole() {
            let counts = REASONS.iter().zip(self.reasons).filter(|(_, count)| *count > 0);
            let reasons: Vec<_> = counts.map(|(reason, count)| format!("\"{}\":{}", reason, count)).collect();
            json += &format!(",\"leftOut\":{{\"files\":{},\"bytes\":{}", self.left, self.left_bytes);
            json += if self.more { ",\"more\":true" } else { "" };
            json += &format!(",\"names\":[{}],\"reasons\":{{{}}}}}", self.names.join(","), reasons.join(","));
        }
        json + "}}"
    }
}

/// Percent-encodes what must not stand in the path of a URI.
fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len() + 16);
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => escaped.push(byte.into()),
            _ => escaped += &format!("%{:02X}", byte),
        }
    }
    escaped
}

/// Reports whether files of a type are never texts.
fn is_binary(mime: &str) -> bool {
    match mime.split_once('/') {
        Some(("audio" | "font" | "video", _)) => true,
        Some(("image", kind)) => kind != "svg+xml",
        Some(("application", kind)) => matches!(kind, "gzip" | "pdf" | "wasm" | "zip"),
        _ => false,
    }
}

/// Writes a number to the base 36.
fn base36(number: i64) -> String {
    let mut rest = number.unsigned_abs();
    let mut digits = Vec::new();
    while rest > 0 || digits.is_empty() {
        digits.push(char::from_digit((rest % 36) as u32, 36).unwrap_or('0'));
        rest /= 36;
    }
    if number < 0 {
        digits.push('-');
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_to_the_base_36() {
        for (number, want) in [(0, "0"), (35, "z"), (36, "10"), (-37, "-11"), (i64::MIN, "-1y2p0ij32e8e8")] {
            assert_eq!(base36(number), want);
        }
    }
}
