//! What a provider's author may rely on, seen through the host of the tests.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::time::{Duration, SystemTime};

use wasmres::testing::Host;
use wasmres::{
    notify_list_changed, notify_updated, Code, Content, Dir, Entry, Error, Level, Page, Provider, Range, Request,
    Result, Route, DIRECTORY_TYPE,
};

fn host(route: Route) -> Host {
    Host::new(Provider::new("test", "1.0.0").route(route))
}

fn code<T: std::fmt::Debug>(result: Result<T>) -> Code {
    result.unwrap_err().code()
}

#[test]
fn handlers_answer_what_is_readable() {
    let host = Host::new(
        Provider::new("test", "1.0.0")
            .route(Route::resource("t://str", |_| Ok("a")))
            .route(Route::resource("t://string", |_| Ok("b".to_owned())))
            .route(Route::resource("t://bytes", |_| Ok(b"\xff")))
            .route(Route::resource("t://vec", |_| Ok(vec![0xfe])))
            .route(Route::resource("t://none", |_| Ok(None::<String>)))
            .route(Route::resource("t://empty", |_| Ok(Vec::<Content>::new())))
            .route(Route::resource("t://two", |_| Ok(vec![Content::text("c").uri("t://1"), Content::bytes(vec![1])]))),
    );
    assert_eq!((host.text("t://str"), host.text("t://string")), ("a".to_owned(), "b".to_owned()));
    assert_eq!((host.bytes("t://bytes"), host.bytes("t://vec")), (vec![0xff], vec![0xfe]));
    for uri in ["t://none", "t://empty", "t://other"] {
        assert_eq!(code(host.read(uri)), Code::NotFound, "{}", uri);
    }
    let two = host.read("t://two").unwrap();
    assert_eq!((two[0].uri.as_str(), two[0].mime.as_str(), two[0].is_text), ("t://1", "text/plain", true));
    assert_eq!((two[1].uri.as_str(), two[1].mime.as_str()), ("t://two", "application/octet-stream"));
}

#[test]
fn uris_are_routed_as_wasmres_does() {
    let said = |route: Route, uri: &str| host(route).text(uri);
    let fixed = Route::resource("t://grüße/a?lang=de", |r| Ok(r.uri().to_owned()));
    assert_eq!(said(fixed, "t://gr%C3%BC%c3%9fe/a?lang=de"), "t://grüße/a?lang=de");
    let varied = || Route::template("t://{+path}{?lang,ref}", |r| Ok([r.var("path"), r.var("lang")].join(" ")));
    assert_eq!(said(varied(), "t://gr%C3%BC%C3%9Fe/%61?ref=x&lang=de"), "grüße/a de");
    assert_eq!(said(varied(), "t://../a%2F..%00 b"), "../a/..\0 b ");
}

#[test]
fn large_contents_arrive_whole() {
    for size in [0, 4096, 4097, 49_151, 49_152, 49_153, 1 << 20] {
        let bytes: Vec<u8> = (0..size).map(|i| i as u8).collect();
        let (memory, stream) = (bytes.clone(), bytes.clone());
        let host = Host::new(
            Provider::new("test", "1.0.0").route(Route::resource("t://memory", move |_| Ok(memory.clone()))).route(
                Route::resource("t://stream", move |_| {
                    Ok(Content::stream(Trickle(Cursor::new(stream.clone()), false)))
                }),
            ),
        );
        assert!(host.bytes("t://memory") == bytes && host.bytes("t://stream") == bytes, "{} bytes", size);
    }
}

/// Gives few bytes at a time, and is interrupted in between.
struct Trickle(Cursor<Vec<u8>>, bool);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let size = buffer.len().min(1000);
        self.0.read(&mut buffer[..size])
    }
}

#[test]
fn a_stream_that_fails_fails_the_read() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(Error::unavailable("the disk sleeps", Duration::from_secs(1)).into())
        }
    }
    let error = host(Route::resource("t://a", |_| Ok(Content::stream(Broken)))).read("t://a").unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Unavailable, "the disk sleeps"));
    assert_eq!(error.retry_after(), Duration::from_secs(1));
}

#[test]
fn reads_stop_at_the_limit() {
    thread_local!(static READ: Cell<u64> = const { Cell::new(0) });
    struct Endless;
    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            READ.with(|read| read.set(read.get() + buffer.len() as u64));
            Ok(buffer.len())
        }
    }
    let host = host(Route::resource("t://a", |_| Ok(Content::stream(Endless)))).max_body(100_000);
    assert_eq!(code(host.read("t://a")), Code::TooLarge);
    assert!(READ.with(Cell::get) < 200_000);
}

#[test]
fn ranges_are_cut() {
    let bytes = b"0123456789";
    let template = |uri: &str, read: fn(&Request) -> Result<Content>| Route::template(uri, read).ranges();
    let host = Host::new(
        Provider::new("test", "1.0.0")
            .route(template("memory://{x}", |_| Ok(Content::bytes(&b"0123456789"[..]))))
            .route(template("seek://{x}", |_| Ok(Content::seekable(Cursor::new(b"0123456789")))))
            .route(template("text://{x}", |_| Ok(Content::text("0123456789"))))
            .route(template("own://{x}", |r| {
                let range = r.range().unwrap();
                Ok(Content::bytes(vec![range.offset as u8]).range_of(10))
            })),
    );
    for (offset, length, want) in
        [(0, Some(4), &bytes[..4]), (3, None, &bytes[3..]), (9, Some(u64::MAX), &bytes[9..]), (u64::MAX, Some(1), b"")]
    {
        for uri in ["memory://a", "seek://a"] {
            let got = host.read_range(uri, Range { offset, length }).unwrap();
            assert_eq!((&got[0].bytes[..], got[0].range_of), (want, 10), "{} from {}", uri, offset);
        }
    }
    let part = Range { offset: 7, length: Some(1) };
    assert_eq!(host.read_range("text://a", part).unwrap()[0].range_of, 0);
    assert_eq!(host.read_range("own://a", part).unwrap()[0].bytes, [7]);
}

#[test]
fn etags_spare_bytes() {
    let host = host(Route::resource("t://a", |_| Ok(Content::text("a").etag("\"1\""))));
    let got = host.read_if_none_match("t://a", "\"1\"").unwrap();
    assert!(got[0].not_modified && got[0].bytes.is_empty() && got[0].etag == "\"1\"");
    let got = host.read_if_none_match("t://a", "\"0\"").unwrap();
    assert!(!got[0].not_modified && got[0].bytes == b"a");
}

#[test]
fn errors_tell_the_client_no_more_than_they_should() {
    let host = host(Route::template("fail://{how}", |r| {
        match r.var("how") {
            "number" => drop("x".parse::<u8>()?),
            "variable" => drop(r.parse::<u8>("how")?),
            "missing" => return Err(io::Error::from(io::ErrorKind::NotFound).into()),
            "boxed" => return Err(Box::<dyn std::error::Error>::from("secret").into()),
            "wrapped" => return Err(Box::<dyn std::error::Error>::from(Error::denied("not you")).into()),
            "io" => return Err(io::Error::new(io::ErrorKind::Other, "secret").into()),
            _ => return Err(Error::unavailable("wait", Duration::from_nanos(1)).because("secret").data("{}")),
        }
        Ok("")
    }));
    for (how, code, message) in [
        ("number", Code::InvalidParams, "invalid digit found in string"),
        ("variable", Code::InvalidParams, "how cannot be \"variable\""),
        ("missing", Code::NotFound, ""),
        ("boxed", Code::Internal, ""),
        ("wrapped", Code::Denied, "not you"),
        ("io", Code::Internal, ""),
        ("later", Code::Unavailable, "wait"),
    ] {
        let error = host.read(&["fail://", how].concat()).unwrap_err();
        assert_eq!((error.code(), error.message()), (code, message), "{}", how);
    }
    let secret = |level| (level, "secret".to_owned());
    assert_eq!(host.logs(), [secret(Level::Error), secret(Level::Error), secret(Level::Warn)]);
}

#[test]
fn lists_have_pages() {
    let names = ["a", "b", "c", "d", "e"];
    let provider = || {
        Provider::new("test", "1.0.0")
            .route(Route::resource("t://fixed", |_| Ok("")))
            .list(move |_, page| page.each(names.len(), |i| Entry::new(["t://x/", names[i]].concat())))
    };
    for size in [0, 1, 2, 4, 5, 6] {
        let host = Host::new(provider()).page_size(size);
        let uris: Vec<String> = host.list().into_iter().map(|entry| entry.uri).collect();
        assert_eq!(uris, ["t://fixed", "t://x/a", "t://x/b", "t://x/c", "t://x/d", "t://x/e"], "{} a page", size);
        assert_eq!(host.list()[1].name, "a");
        for cursor in ["x", "-1", "6", "99999999999999999999"] {
            assert_eq!(code(host.page(cursor)), Code::InvalidParams, "{}", cursor);
        }
    }
}

#[test]
fn directories_have_pages() {
    let children = |r: &Request, page: &mut Page| match (r.uri(), r.var("path")) {
        ("t://dir", "dir") => page.each(5, |i| Entry::new(format!("t://dir/{}", i)).mime(DIRECTORY_TYPE)),
        ("t://dir/0", "dir/0") => Ok(()),
        _ => Err(Error::not_found("no directory")),
    };
    let provider =
        || Provider::new("test", "1.0.0").route(Route::template("t://{+path}", |_| Ok(""))).list_directory(children);
    for size in [0, 1, 2, 5, 6] {
        let host = Host::new(provider()).page_size(size);
        let found = host.directory("t://dir");
        let uris: Vec<&str> = found.iter().map(|entry| entry.uri.as_str()).collect();
        assert_eq!(uris, ["t://dir/0", "t://dir/1", "t://dir/2", "t://dir/3", "t://dir/4"], "{} a page", size);
        assert_eq!((found[0].name.as_str(), found[0].mime.as_str()), ("0", "inode/directory"));
        assert!(host.directory("t://dir/0").is_empty() && host.list().is_empty());
        assert_eq!(code(host.directory_page("t://file", "")), Code::NotFound);
        assert_eq!(code(host.directory_page("t://dir", "6")), Code::InvalidParams);
    }
}

#[test]
#[should_panic(expected = "not a direct child")]
fn entries_of_other_directories_are_refused() {
    let provider = Provider::new("test", "1.0.0").list_directory(|_, page| page.each(1, |_| Entry::new("t://dir/a/b")));
    Host::new(provider).directory("t://dir");
}

#[test]
fn values_are_completed() {
    let many: Vec<String> = (0..150).map(|i| i.to_string()).collect();
    let route = Route::template("t://{a}/{b}/{c}", |_| Ok(""))
        .complete_from("a", ["Alpha", "alps", "beta", "ä"])
        .complete("b", |r, prefix| Ok(vec![[r.var("a"), prefix].concat()]))
        .complete("c", move |_, _| Ok(many.clone()));
    let host = host(route);
    let complete = |variable, prefix| host.complete("t://{a}/{b}/{c}", variable, prefix, &[("a", "1")]).unwrap();
    assert_eq!(complete("a", "AL"), ["Alpha", "alps"]);
    assert_eq!(complete("a", "a"), ["Alpha", "alps"]);
    assert_eq!(complete("b", "2"), ["12"]);
    assert_eq!(complete("c", "").len(), 100);
    assert_eq!(complete("d", ""), [""; 0]);
    assert_eq!(code(host.complete("t://{z}", "z", "", &[])), Code::NotFound);
}

#[test]
fn changes_are_followed() {
    let now = |r: &Request| {
        let since = r.now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        Ok(since.as_secs().to_string())
    };
    let host = host(Route::resource("t://now", now).watch(Duration::from_millis(1500), now));
    assert_eq!(host.subscribe("t://now").unwrap(), Duration::from_millis(1500));
    let host = host.now(SystemTime::UNIX_EPOCH + Duration::from_secs(42));
    assert_eq!(host.poll("t://now", "41").unwrap(), Some("42".to_owned()));
    assert_eq!(host.poll("t://now", "42").unwrap(), None);
    assert_eq!(code(host.subscribe("t://other")), Code::NotFound);
}

#[test]
fn the_host_is_at_hand() {
    let host = host(Route::any(|r| {
        wasmres::debug!("plain");
        wasmres::warn!("{} and {}", 1, 2);
        notify_updated("t://x")?;
        notify_list_changed()?;
        r.progress(1.0, 2.0, "half");
        r.check()?;
        let who = r.principal().map_or("nobody", |who| who.subject);
        Ok([r.uri(), who, &r.config("key").unwrap_or_default()].join(" "))
    }));
    let host = host.config("key", "value").principal("ada", "acme");
    assert_eq!(host.text("t://y"), "t://y ada value");
    assert_eq!(host.logs(), [(Level::Debug, "plain".to_owned()), (Level::Warn, "1 and 2".to_owned())]);
    assert_eq!(host.notices(), ["t://x", ""]);
    assert_eq!(code(host.time_left(Duration::ZERO).read("t://y")), Code::Deadline);
}

#[test]
fn seeds_differ() {
    let host = host(Route::any(|r| Ok(r.seed().to_string())));
    assert_ne!(host.text("t://a"), host.text("t://a"));
}

#[test]
fn files_are_read() {
    let big: Vec<u8> = (0..200_000).map(|i| (i % 251) as u8).collect();
    let whole = big.clone();
    let host = Host::new(
        Provider::new("test", "1.0.0")
            .route(Route::template("read://{+name}", |r| Ok(Dir::new("/data/").read(r.var("name"))?)))
            .route(
                Route::template("open://{+name}", |r| Ok(Content::seekable(Dir::new("/data").open(r.var("name"))?)))
                    .ranges(),
            )
            .route(Route::template("text://{+name}", |r| Ok(Dir::new("/data").read_to_string(r.var("name"))?)))
            .route(Route::template("list://{+name}", |r| {
                let mut list = String::new();
                for entry in Dir::new("/data").entries(r.var("name"))? {
                    let entry = entry?;
                    list += &format!("{}{} {};", entry.name(), if entry.is_dir() { "/" } else { "" }, entry.len());
                }
                Ok(list)
            }))
            .route(Route::template("away://{+name}", |r| Ok(Dir::new("/elsewhere").read(r.var("name"))?))),
    )
    .dir("/data", [("big", whole), ("a/b/c", b"nested".to_vec()), ("empty", Vec::new()), ("latin", vec![0xfc])])
    .dir("/many", [("x", "")]);
    assert!(host.bytes("read://big") == big && host.bytes("open://big") == big);
    assert_eq!(host.bytes("read://a/b/c"), b"nested");
    assert_eq!(host.bytes("read://empty"), b"");
    assert_eq!(host.text("text://a/b/c"), "nested");
    assert_eq!(host.text("list://."), "a/ 0;big 200000;empty 0;latin 1;");
    assert_eq!(host.text("list://a"), "b/ 0;");
    let part = host.read_range("open://big", Range { offset: 199_999, length: None }).unwrap();
    assert_eq!((&part[0].bytes[..], part[0].range_of), (&big[199_999..], 200_000));
    for (uri, want) in [
        ("read://missing", Code::NotFound),
        ("open://missing", Code::NotFound),
        ("list://missing", Code::NotFound),
        ("read://../big", Code::InvalidParams),
        ("read://a//b", Code::InvalidParams),
        ("read://a", Code::InvalidParams),
        ("open://a", Code::InvalidParams),
        ("list://big", Code::InvalidParams),
        ("away://big", Code::Denied),
        ("text://latin", Code::Internal),
    ] {
        assert_eq!(code(host.read(uri)), want, "{}", uri);
    }
}

#[test]
fn folders_are_listed_page_by_page() {
    let names: Vec<String> = (0..11).map(|i| format!("{:02}", i)).collect();
    let route = Route::template("t://{after}", |r| {
        let entries = Dir::new("/d").entries_after(".", r.var("after"))?;
        let names: io::Result<Vec<String>> = entries.map(|entry| Ok(entry?.name().to_owned())).collect();
        Ok(names?.join(" "))
    });
    let host = host(route).dir("/d", names.iter().map(|name| (name.as_str(), "")));
    for (after, first) in [("-", 0), ("00", 1), ("03", 4), ("06x", 7), ("09", 10), ("10", 11)] {
        assert_eq!(host.text(&["t://", after].concat()), names[first..].join(" "), "after {}", after);
    }
}

/// Runs a line such as "write a/b text" in the directory /d, and answers the size of the file, or "gone".
fn change(r: &Request) -> Result<String> {
    let mut words = r.var("line").splitn(3, ' ');
    let (verb, name, text) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap_or(""));
    let dir = Dir::new("/d");
    let file = match verb {
        "write" => dir.write(name, text)?,
        "append" => dir.append(name, text)?,
        _ => return Ok(dir.remove(name).map(|()| "gone".to_owned())?),
    };
    assert!(file.name() == name.rsplit('/').next().unwrap() && !file.is_dir() && file == dir.metadata(name)?);
    Ok(format!("{} {:?}", file.len(), file.modified().duration_since(SystemTime::UNIX_EPOCH).unwrap()))
}

#[test]
fn files_are_written() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(7);
    let host = host(Route::template("t://{+line}", change))
        .writable_dir("/d", [("old", "text"), ("sub/other", "x")])
        .dir("/d/fixed", [("file", "")])
        .now(now);
    for (line, want) in [
        ("write new 12345", "5 7s"),
        ("write new abc", "3 7s"),
        ("append new de", "5 7s"),
        ("append a/b/c", "0 7s"),
        ("write old ", "0 7s"),
        ("append sub/other y", "2 7s"),
        ("write sub/more z", "1 7s"),
        ("remove sub/other", "gone"),
        ("remove a/b/c", "gone"),
        ("remove a/b", "gone"), // the empty folder
    ] {
        assert_eq!(host.text(&["t://", line].concat()), want, "{}", line);
    }
    for (line, want) in [
        ("remove a/b", Code::NotFound),
        ("remove missing", Code::NotFound),
        ("remove sub", Code::InvalidParams),
        ("remove .", Code::InvalidParams),
        ("remove ../d/new", Code::InvalidParams),
        ("write . x", Code::InvalidParams),
        ("write a x", Code::InvalidParams),
        ("write new/file x", Code::InvalidParams),
        ("append sub x", Code::InvalidParams),
        ("write a//b x", Code::InvalidParams),
        ("write fixed/file x", Code::Denied),
        ("remove fixed/file", Code::Denied),
    ] {
        assert_eq!(code(host.read(&["t://", line].concat())), want, "{}", line);
    }
    let files = [("new", "abcde"), ("old", ""), ("sub/more", "z")];
    assert_eq!(host.files("/d"), files.map(|(name, text)| (name.to_owned(), text.into())).into());
}

#[test]
fn nothing_is_written_where_nothing_is_granted() {
    let host = host(Route::template("t://{+line}", change));
    for line in ["write a x", "append a x", "remove a"] {
        assert_eq!(code(host.read(&["t://", line].concat())), Code::Denied, "{}", line);
    }
}

#[test]
#[should_panic(expected = "t://a is served twice")]
fn a_resource_cannot_be_served_twice() {
    let route = || Route::resource("t://a", |_| Ok(""));
    let _ = Provider::new("test", "1.0.0").route(route()).route(route());
}

#[test]
#[should_panic(expected = "the text of t://a is not UTF-8")]
fn text_must_be_text() {
    let _ = host(Route::resource("t://a", |_| Ok(Content::bytes(vec![0xff]).utf8()))).read("t://a");
}
