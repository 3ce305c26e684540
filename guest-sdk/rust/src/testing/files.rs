//! The file services, for files in memory.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::fs::Request;
use crate::wire::{Decoded, Encoder, Fields};
use crate::{abi, Code};

/// How many entries one answer has at most: few, so that a second one is usual.
const PAGE: usize = 4;

/// How many bytes one answer has at most.
const READ_MAX: u64 = 1 << 20;

/// The directories that are granted, by path.
#[derive(Default)]
pub(super) struct Dirs {
    dirs: BTreeMap<String, Dir>,
}

/// The files and folders of a directory, by name with slashes. Whatever is in a folder has it before itself.
#[derive(Default)]
pub(super) struct Dir {
    nodes: BTreeMap<String, Node>,
    writable: bool,
}

enum Node {
    File { bytes: Vec<u8>, modified: SystemTime },
    Folder,
}

impl Dirs {
    pub(super) fn grant(&mut self, path: String, dir: Dir) {
        self.dirs.insert(path, dir);
    }

    pub(super) fn files(&self, path: &str) -> Option<BTreeMap<String, Vec<u8>>> {
        Some(self.dirs.get(path)?.files())
    }

    /// Answers one of the file services, and gives the bytes beside the message.
    pub(super) fn answer(&mut self, service: u32, request: &[u8], now: SystemTime) -> Result<(Encoder, Vec<u8>), Code> {
        let asked = decode(request).expect("a request is well formed");
        let mut dirs = self.dirs.iter_mut().rev(); // a directory before the one it is in
        let (dir, name) = dirs.find_map(|(path, dir)| Some((dir, below(path, asked.path)?))).ok_or(Code::Denied)?;
        let mut response = Encoder::default();
        let bytes = match service {
            abi::SERVICE_FILE_STAT => dir.stat(name, &mut response)?,
            abi::SERVICE_FILE_READ => dir.read(name, &asked, &mut response)?,
            abi::SERVICE_FILE_LIST => dir.list(name, asked.after, &mut response)?,
            _ if !dir.writable => return Err(Code::Denied),
            abi::SERVICE_FILE_WRITE => {
                dir.write(name, asked.data, asked.append, now)?;
                dir.stat(name, &mut response)?
            }
            _ => dir.remove(name)?,
        };
        Ok((response, bytes))
    }
}

impl Dir {
    pub(super) fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>, writable: bool) -> Self {
        let mut dir = Dir { writable, ..Dir::default() };
        for (name, bytes) in files {
            let put = dir.write(&name, &bytes, false, SystemTime::UNIX_EPOCH);
            assert!(put.is_ok(), "{:?} is in a file, or is a folder", name);
        }
        dir
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let files = self.nodes.iter().filter_map(|(name, node)| match node {
            Node::File { bytes, .. } => Some((name.clone(), bytes.clone())),
            Node::Folder => None,
        });
        files.collect()
    }

    fn find(&self, name: &str) -> Result<&Node, Code> {
        if name.is_empty() {
            return Ok(&Node::Folder);
        }
        self.nodes.get(name).ok_or(Code::NotFound)
    }

    fn stat(&self, name: &str, response: &mut Encoder) -> Result<Vec<u8>, Code> {
        self.find(name)?.encode(name, response);
        Ok(Vec::new())
    }

    fn read(&self, name: &str, asked: &Request, response: &mut Encoder) -> Result<Vec<u8>, Code> {
        let node = self.find(name)?;
        node.encode(name, response);
        match node {
            Node::File { bytes, .. } => Ok(part(bytes, asked.offset, asked.length)),
            Node::Folder => Err(Code::InvalidParams),
        }
    }

    fn list(&self, name: &str, after: &str, response: &mut Encoder) -> Result<Vec<u8>, Code> {
        if let Node::File { .. } = self.find(name)? {
            return Err(Code::InvalidParams);
        }
        let mut entries: Vec<_> = self.nodes.iter().filter(|entry| parent(entry.0) == name).collect();
        entries.retain(|entry| last(entry.0) > after);
        entries.iter().take(PAGE).for_each(|(name, node)| node.encode(name, response));
        response.flag(2, entries.len() > PAGE);
        Ok(Vec::new())
    }

    /// Puts a file, and the folders it is in.
    fn write(&mut self, name: &str, data: &[u8], append: bool, now: SystemTime) -> Result<(), Code> {
        self.make_folders(parent(name))?;
        let mut bytes = match self.find(name) {
            Ok(Node::Folder) => return Err(Code::InvalidParams),
            Ok(Node::File { bytes, .. }) if append => bytes.clone(),
            _ => Vec::new(),
        };
        bytes.extend_from_slice(data);
        self.nodes.insert(name.to_owned(), Node::File { bytes, modified: now });
        Ok(())
    }

    fn make_folders(&mut self, name: &str) -> Result<(), Code> {
        match self.find(name) {
            Ok(Node::Folder) => return Ok(()),
            Ok(Node::File { .. }) => return Err(Code::InvalidParams),
            Err(_) => self.make_folders(parent(name))?,
        }
        self.nodes.insert(name.to_owned(), Node::Folder);
        Ok(())
    }

    fn remove(&mut self, name: &str) -> Result<Vec<u8>, Code> {
        self.find(name)?;
        if name.is_empty() || self.nodes.keys().any(|node| parent(node) == name) {
            return Err(Code::InvalidParams);
        }
        self.nodes.remove(name);
        Ok(Vec::new())
    }
}

impl Node {
    fn encode(&self, name: &str, response: &mut Encoder) {
        response.message(1, |file| {
            file.text(1, last(name));
            match self {
                Node::File { bytes, modified } => {
                    let modified = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                    file.number(2, bytes.len() as u64);
                    file.number(3, modified.as_millis() as u64);
                }
                Node::Folder => file.flag(4, true),
            }
        });
    }
}

/// Gives the part of a path that is below a directory; empty for the directory itself.
fn below<'a>(dir: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(dir.trim_end_matches('/'))?;
    if rest.is_empty() {
        return Some(rest);
    }
    rest.strip_prefix('/')
}

/// Gives the folder something is in; empty for the directory itself.
fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Gives the last part of a name.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or("")
}

fn part(bytes: &[u8], offset: u64, length: u64) -> Vec<u8> {
    let length = if length == 0 { READ_MAX } else { length.min(READ_MAX) };
    let start = offset.min(bytes.len() as u64);
    let end = start.saturating_add(length).min(bytes.len() as u64);
    bytes[start as usize..end as usize].to_vec()
}

fn decode(message: &[u8]) -> Decoded<Request<'_>> {
    let mut request = Request::default();
    for field in Fields::of(message) {
        let field = field?;
        match field.number {
            1 => request.path = field.text()?,
            2 => request.offset = field.u64()?,
            3 => request.length = field.u64()?,
            4 => request.after = field.text()?,
            5 => request.data = field.bytes()?,
            6 => request.append = field.flag()?,
            _ => {}
        }
    }
    Ok(request)
}
