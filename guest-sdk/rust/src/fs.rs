//! Files of directories the operator granted.

use std::io::{self, Read, Seek, SeekFrom};
use std::time::SystemTime;

use crate::time::from_millis;
use crate::wire::{Decoded, Encoder, Fields, Malformed};
use crate::{abi, host, Error};

/// How many bytes of a file one service call fetches.
const READ_MAX: usize = 64 << 10;

/// A directory the operator granted. It needs the power `fs`: see [`Capability`](crate::Capability).
///
/// Names are relative and clean, with slashes: a name that is empty, or has a part that is empty, `.` or `..`, is
/// [`io::ErrorKind::InvalidInput`]; only `.` alone is the directory itself. Links that lead out of it, devices and the
/// like are not found.
///
/// ```
/// use wasmres::{Content, Dir, Request, Result};
///
/// fn note(r: &Request) -> Result<Content> {
///     let file = Dir::new("/notes").open(r.var("name"))?; // a missing file is "not found"
///     Ok(Content::seekable(file).utf8())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Dir {
    path: String,
}

impl Dir {
    /// Names a directory by its path as the provider sees it, as in `/project`. Nothing is asked of the host.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        let mut path = path.into();
        path.truncate(path.trim_end_matches('/').len());
        Dir { path }
    }

    /// Opens a file for reading. Wrap it in a [`std::io::BufReader`] where it is read in small pieces: each costs a
    /// call of the host.
    pub fn open(&self, name: &str) -> io::Result<File> {
        let metadata = self.metadata(name)?;
        if metadata.dir {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is a folder"));
        }
        Ok(File { path: self.join(name)?, metadata, offset: 0 })
    }

    /// Reads a whole file.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let path = self.join(name)?;
        let mut bytes = Vec::new();
        let mut size = READ_MAX as u64; // at first
        loop {
            let read = bytes.len();
            let rest = size.saturating_sub(read as u64).min(READ_MAX as u64) as usize;
            if rest == 0 {
                return Ok(bytes);
            }
            bytes.resize(read + rest, 0);
            let (copied, metadata) = read_at(&path, &mut bytes[read..], read as u64)?;
            bytes.truncate(read + copied);
            if copied == 0 {
                return Ok(bytes);
            }
            size = metadata.len;
        }
    }

    /// Reads a whole file that is UTF-8 text; other bytes are [`io::ErrorKind::InvalidData`].
    pub fn read_to_string(&self, name: &str) -> io::Result<String> {
        String::from_utf8(self.read(name)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Looks at a file or folder.
    pub fn metadata(&self, name: &str) -> io::Result<Metadata> {
        let response = ask(abi::SERVICE_FILE_STAT, &self.join(name)?, 0, 0, "")?;
        one(&response)
    }

    /// Lists a folder, by name: files and folders, page by page as they are needed.
    ///
    /// ```
    /// use wasmres::{Dir, Request, Result};
    ///
    /// fn names(_: &Request) -> Result<String> {
    ///     let mut names = String::new();
    ///     for entry in Dir::new("/notes").entries(".")? {
    ///         names += entry?.name();
    ///         names += "\n";
    ///     }
    ///     Ok(names)
    /// }
    /// ```
    pub fn entries(&self, name: &str) -> io::Result<Entries> {
        self.entries_after(name, "")
    }

    /// Is [`Dir::entries`] from the first name after `after` on, as from the cursor of a [`Page`](crate::Page).
    pub fn entries_after(&self, name: &str, after: impl Into<String>) -> io::Result<Entries> {
        let mut entries = Entries { path: self.join(name)?, page: Vec::new().into_iter(), after: None };
        entries.fetch(after.into())?;
        Ok(entries)
    }

    /// Gives the path of a name, if that is clean.
    fn join(&self, name: &str) -> io::Result<String> {
        if name == "." {
            return Ok(if self.path.is_empty() { "/".to_owned() } else { self.path.clone() });
        }
        if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a name with a part that is empty, . or .."));
        }
        Ok([&self.path, "/", name].concat())
    }
}

/// What is known of a file or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    name: String,
    len: u64,
    modified_ms: i64,
    dir: bool,
}

impl Metadata {
    /// Gives the last part of the path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the size of a file in bytes.
    #[allow(clippy::len_without_is_empty)] // as std::fs::Metadata
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reports whether it is a folder.
    pub fn is_dir(&self) -> bool {
        self.dir
    }

    /// Gives the time of the last change.
    pub fn modified(&self) -> SystemTime {
        from_millis(self.modified_ms)
    }

    fn decode(message: &[u8]) -> Decoded<Self> {
        let mut metadata = Metadata::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => metadata.name = field.text()?.to_owned(),
                2 => metadata.len = field.u64()?,
                3 => metadata.modified_ms = field.u64()? as i64,
                4 => metadata.dir = field.flag()?,
                _ => {}
            }
        }
        Ok(metadata)
    }
}

/// A file that is read piece by piece. The host keeps nothing open: a file that changes meanwhile is read as it is
/// then.
#[derive(Clone, Debug)]
pub struct File {
    path: String,
    metadata: Metadata,
    offset: u64,
}

impl File {
    /// Gives what was known of the file when it was opened.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (copied, _) = read_at(&self.path, buffer, self.offset)?;
        self.offset += copied as u64;
        Ok(copied)
    }
}

impl Seek for File {
    /// The end is where it was when the file was opened.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, delta) = match to {
            SeekFrom::Start(offset) => (offset, 0),
            SeekFrom::Current(delta) => (self.offset, delta),
            SeekFrom::End(delta) => (self.metadata.len, delta),
        };
        let offset = if delta < 0 { base.checked_sub(delta.unsigned_abs()) } else { base.checked_add(delta as u64) };
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

/// The entries of a folder: see [`Dir::entries`].
#[derive(Debug)]
pub struct Entries {
    path: String,
    page: std::vec::IntoIter<Metadata>,
    after: Option<String>, // the last name of the page, when there are more
}

impl Entries {
    fn fetch(&mut self, after: String) -> io::Result<()> {
        let response = ask(abi::SERVICE_FILE_LIST, &self.path, 0, 0, &after)?;
        let (page, more) = decode(&response).map_err(io::Error::from)?;
        let last = page.last().map(|last| last.name.clone());
        if more && last.as_ref().map_or(true, |last| *last <= after) {
            return Err(Malformed.into()); // it would go on for ever
        }
        self.after = last.filter(|_| more);
        self.page = page.into_iter();
        Ok(())
    }
}

impl Iterator for Entries {
    type Item = io::Result<Metadata>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.page.next() {
                return Some(Ok(entry));
            }
            let after = self.after.take()?;
            if let Err(error) = self.fetch(after) {
                return Some(Err(error));
            }
        }
    }
}

/// Fetches bytes of a file, at most [`READ_MAX`]; none at its end. It also tells what is known of the file.
fn read_at(path: &str, buffer: &mut [u8], offset: u64) -> io::Result<(usize, Metadata)> {
    let wanted = buffer.len().min(READ_MAX);
    if wanted == 0 {
        return Ok((0, Metadata::default())); // length 0 would ask for as much as there is
    }
    let response = ask(abi::SERVICE_FILE_READ, path, offset, wanted as u64, "")?;
    Ok((host::take(abi::CHANNEL_BODY, 0, &mut buffer[..wanted]), one(&response)?))
}

/// Calls one of the file services.
fn ask(service: u32, path: &str, offset: u64, length: u64, after: &str) -> io::Result<Vec<u8>> {
    let mut request = Encoder::with_capacity(path.len() + after.len() + 32);
    request.text(1, path);
    request.number(2, offset);
    request.number(3, length);
    request.text(4, after);
    host::ask(service, request.as_bytes()).map_err(|code| Error::from(code).into())
}

/// Gives the only entry of an answer.
fn one(response: &[u8]) -> io::Result<Metadata> {
    let (mut page, _) = decode(response).map_err(io::Error::from)?;
    page.pop().ok_or_else(|| Malformed.into())
}

fn decode(response: &[u8]) -> Decoded<(Vec<Metadata>, bool)> {
    let (mut page, mut more) = (Vec::new(), false);
    for field in Fields::of(response) {
        let field = field?;
        match field.number {
            1 => page.push(Metadata::decode(field.bytes()?)?),
            2 => more = field.flag()?,
            _ => {}
        }
    }
    Ok((page, more))
}

impl From<Malformed> for io::Error {
    fn from(malformed: Malformed) -> Self {
        host::malformed(malformed).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::script::answering;

    const A: &[u8] = b"\x0a\x03\x0a\x01a";
    const B: &[u8] = b"\x0a\x03\x0a\x01b";
    const MORE: &[u8] = b"\x10\x01";

    /// Gives the names that are listed, and "!" for an error.
    fn listed(answers: &[&[&[u8]]]) -> String {
        let pages: Vec<Vec<u8>> = answers.iter().map(|fields| fields.concat()).collect();
        let answers: Vec<_> = pages.iter().map(|page| (0, &page[..], &b""[..])).collect();
        answering(&answers, || match Dir::new("/d").entries(".") {
            Ok(entries) => entries.map(|entry| entry.map_or("!".to_owned(), |entry| entry.name)).collect(),
            Err(_) => "!".to_owned(),
        })
    }

    #[test]
    fn listings_end() {
        assert_eq!(listed(&[&[A, MORE], &[B, MORE], &[]]), "ab");
        assert_eq!(listed(&[&[A, B, MORE], &[B, MORE]]), "ab!"); // it stands still
        assert_eq!(listed(&[&[A, MORE], &[MORE]]), "a!"); // there is more after nothing
        assert_eq!(listed(&[&[A, MORE], &[b"\x0a\x01\x0a"]]), "a!");
        assert_eq!(listed(&[&[MORE]]), "!");
    }
}
