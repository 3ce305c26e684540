//! The provider of package abitest, made with the Rust SDK.

mod powers;

use std::io::{self, Read, Seek, SeekFrom};
use std::time::Duration;

use wasmres::{
    Code, Content, Entry, Error, Page, Provider, Request, Result, Route, DIRECTORY_TYPE,
};

const TEXT: &str = "The quick brown fox.\nZwölf Boxkämpfer. 狐 🦊\n";
const MANY: usize = 25;

fn provider() -> Provider {
    let text = Route::resource("kit://text", |_| Ok(Content::text(TEXT).etag("\"v1\"")))
        .watch(Duration::from_secs(1), |_| Ok("\"v1\"".to_owned()));
    let echo = Route::template("kit://echo/{value}", |r| Ok(r.var("value").to_owned()))
        .complete_from("value", ["alpha", "beta", "bravo"]);
    let join = Route::template("kit://join{/part*}", |r| {
        Ok(r.vars("part").collect::<Vec<_>>().join("|"))
    });
    let config = Route::template("kit://config/{key}", |r| {
        r.config(r.var("key")).ok_or_else(nothing)
    });
    let provider = Provider::new("kit", "1.0.0")
        .route(text)
        .route(Route::resource("kit://blob", |_| {
            Ok((0..=255).collect::<Vec<u8>>())
        }))
        .route(Route::resource("kit://empty", |_| Ok("")))
        .route(Route::resource("kit://several", several))
        .route(Route::resource("kit://principal", principal))
        .route(Route::any(|_| Err::<String, _>(nothing())))
        .route(echo)
        .route(join)
        .route(Route::template("kit://fail/{code}", fail))
        .route(Route::template("kit://stream/{n}", stream).ranges())
        .route(Route::template("kit://many/{i}", many))
        .route(config);
    powers::add(provider)
        .list(|_, page| page.each(MANY, entry))
        .list_directory(children)
}

wasmres::export!(provider);

fn nothing() -> Error {
    Error::not_found("nothing here")
}

fn several(_: &Request) -> Result<Vec<Content>> {
    Ok(vec![
        Content::text("one").uri("kit://several/1"),
        Content::bytes(vec![2]).uri("kit://several/2"),
    ])
}

fn principal(r: &Request) -> Result<String> {
    Ok(r.principal().map_or("nobody".to_owned(), |who| {
        format!("{}/{}", who.subject, who.tenant)
    }))
}

fn fail(r: &Request) -> Result<String> {
    let message = "failed as asked";
    match Code::from_number(r.parse("code")?) {
        Some(Code::Unavailable) => Err(Error::unavailable(message, Duration::from_millis(1500))),
        Some(code) => Err(Error::new(code, message)),
        None => Err(Error::invalid("no such code")),
    }
}

fn many(r: &Request) -> Result<String> {
    match r.parse("i") {
        Ok(i @ 1..=MANY) => Ok(i.to_string()),
        _ => Err(nothing()),
    }
}

fn entry(i: usize) -> Entry {
    Entry::new(format!("kit://many/{}", i + 1))
}

fn children(r: &Request, page: &mut Page) -> Result<()> {
    match r.uri() {
        "kit://many" => page.each(MANY + 1, |i| match i {
            MANY => Entry::new("kit://many/none").mime(DIRECTORY_TYPE),
            i => entry(i),
        }),
        "kit://many/none" => Ok(()),
        _ if !r.var("name").is_empty() => powers::children(r, page),
        _ => Err(nothing()),
    }
}

fn stream(r: &Request) -> Result<Content> {
    Ok(Content::seekable(Counting {
        size: r.parse("n")?,
        offset: 0,
    }))
}

/// Byte i is i & 0xff.
struct Counting {
    size: u64,
    offset: u64,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self
            .size
            .saturating_sub(self.offset)
            .min(buffer.len() as u64) as usize;
        for byte in &mut buffer[..n] {
            *byte = self.offset as u8;
            self.offset += 1;
        }
        Ok(n)
    }
}

impl Seek for Counting {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.offset = match to {
            SeekFrom::Start(offset) => offset,
            SeekFrom::Current(delta) => self.offset.wrapping_add(delta as u64),
            SeekFrom::End(delta) => self.size.wrapping_add(delta as u64),
        };
        Ok(self.offset)
    }
}
