//! Holds the SDK to the vectors in `testdata/abi`, to which the host is held too. A published SDK does not have them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::content::Content;
use crate::host::script::answering;
use crate::out::Out;
use crate::wire::{Encoder, Fields};
use crate::{http, kv, sql};
use crate::{Audience, Capability, Dir, Entry, Error, Icon, Principal, Provider, Range, Request, Result, Route};

/// The name of a message, and its bytes.
type Vector = (String, Vec<u8>);

/// Reads all vectors: hex digits, with comments from `#` on. None when there is no such folder.
fn vectors() -> Option<BTreeMap<String, Vector>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/abi");
    let files = std::fs::read_dir(dir).ok()?;
    let vectors = files.map(|file| {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let message = text.lines().find_map(|line| line.strip_prefix("# message: ")).unwrap();
        let digits = text.lines().filter_map(|line| line.split('#').next()).flat_map(str::split_whitespace);
        let bytes = digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect();
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), (message.to_owned(), bytes))
    });
    Some(vectors.collect())
}

#[test]
fn requests_are_decoded() {
    let vectors = match vectors() {
        Some(vectors) => vectors,
        None => return,
    };
    let decode = |name: &str| Request::decode(&vectors[name].1).unwrap_or_else(|_| panic!("{} is malformed", name));

    let read = decode("request-read");
    assert_eq!((read.uri(), read.route), ("file:///notes/a%20b/todo.md?lang=de&lang=fr", 2));
    assert_eq!(read.vars("path").collect::<Vec<_>>(), ["notes", "a b", "todo.md"]);
    assert_eq!((read.var("lang"), read.vars("none").count(), read.vars("absent").count()), ("de", 1, 0));
    assert_eq!(read.range(), Some(Range { offset: 8 << 30, length: Some(4096) }));
    assert_eq!((read.if_none_match(), read.max_bytes()), ("\"v1\"", Some(64 << 20)));
    assert_eq!(read.meta(), r#"{"example.org/trace":"00-4bf9"}"#);
    let ada =
        Principal { subject: "ada", tenant: "acme", scopes: vec!["read", "list"], claims: r#"{"groups":["staff"]}"# };
    assert_eq!(read.principal(), Some(&ada));

    let complete = decode("request-complete");
    assert_eq!((complete.argument, complete.prefix, complete.var("schema")), ("table", "us", "public"));
    assert_eq!(decode("request-poll").if_none_match(), "W/\"7\"");
    let extremes = decode("request-extremes");
    assert_eq!(extremes.range(), Some(Range { offset: u64::MAX, length: Some(u64::MAX) }));
    assert_eq!(extremes.route, u32::MAX);
    let padded = decode("request-padded");
    assert_eq!((padded.route, padded.limit, padded.vars("id").count()), (1, 10, 1));
    let repeated = decode("request-repeated");
    assert_eq!((repeated.uri(), repeated.limit), ("b", 2));
    assert_eq!(repeated.principal(), Some(&Principal { tenant: "acme", ..Principal::default() }));
    assert_eq!(decode("request-unknown-fields").var("n"), "val");
    let list = decode("spec-list-request");
    assert_eq!((list.cursor, list.limit), ("41", 2));
    assert_eq!(decode("request-list").limit, 50);
    let directory = decode("request-listdir");
    assert_eq!((directory.uri(), directory.route, directory.var("path")), ("skill://acme/refunds", 1, "acme/refunds"));
    assert_eq!((directory.cursor, directory.limit), ("SKILL.md", 100));
    assert_eq!(decode("request-describe").range(), None);
}

#[test]
fn malformed_requests_are_refused() {
    for (name, (message, bytes)) in vectors().unwrap_or_default() {
        let decoded = Request::decode(&bytes); // whatever it is, it does no harm
        if message == "Request" {
            assert_eq!(decoded.is_err(), name.starts_with("bad-"), "{}", name);
        }
    }
}

/// Runs what emits, and gives its bytes.
fn emitted(emit: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut encoder = Encoder::default();
    emit(&mut encoder);
    encoder.as_bytes().to_vec()
}

fn head(content: Content, inline: bool) -> Vec<u8> {
    let request = Request::decode(b"\x0a\x07kit://x").unwrap();
    emitted(|reply| content.encode(reply, &request, "", inline))
}

#[test]
fn replies_are_encoded() {
    let vectors = match vectors() {
        Some(vectors) => vectors,
        None => return,
    };
    for (name, got) in [
        ("content-text", head(Content::text("Grüße, 世界 🌍\n"), true)),
        ("content-blob", head(Content::bytes(&b"\x89PNG\r\n\x1a\n\x00\xff"[..]).mime("image/png"), true)),
        ("content-text-body", head(Content::stream(std::io::empty()).utf8().mime("text/csv"), false)),
        ("spec-blob-head", head(Content::stream(std::io::empty()).size(1 << 20).uri("blob://1048576"), false)),
        ("content-not-modified", head(Content::not_modified("\"v1\""), true)),
        ("reply-list", list()),
        ("reply-listdir", list_directory()),
        ("reply-describe", emitted(|reply| reply.message(9, |manifest| users().encode(manifest)))),
        (
            "reply-error",
            emitted(|reply| {
                let later = Duration::from_millis(1500);
                Error::unavailable("the database is down", later).data(r#"{"retry":true}"#).encode(reply);
            }),
        ),
    ] {
        assert_eq!(fields(&got), fields(&vectors[name].1), "{}", name);
    }
}

#[test]
fn service_requests_are_encoded() {
    let vectors = match vectors() {
        Some(vectors) => vectors,
        None => return,
    };
    let get = http::Request::new("", "https://api.example.org/v1/items?page=2")
        .header("authorization", "Bearer {{secret:token}}")
        .header("x-empty", "");
    let post = http::Request::new("POST", "http://localhost:8080/")
        .body("{}")
        .max_bytes(1 << 20)
        .timeout(Duration::from_millis(500));
    let select =
        sql::query("main", "select ?").bind(None::<bool>).bind(true).bind(-1).bind(0.5).bind("ü").bind(&[0xff]);
    let put = kv::Put::new("notes/1", &[0, 0xff]).ttl(Duration::from_secs(60)).if_version(7);
    let list = kv::Request { prefix: "notes/", after: "notes/1", limit: 10, ..kv::Request::default() };
    for (name, got) in [
        ("http-request", emitted(|request| get.encode(request))),
        ("http-request-post", emitted(|request| post.encode(request))),
        ("sql-request", select.at_most(100).as_bytes().to_vec()),
        ("kv-request-get", emitted(|request| kv::Request { key: "notes/1", ..kv::Request::default() }.encode(request))),
        ("kv-request-put", emitted(|request| put.request().encode(request))),
        ("kv-request-absent", emitted(|request| kv::Put::new("k", "").if_absent().request().encode(request))),
        ("kv-request-list", emitted(|request| list.encode(request))),
    ] {
        assert_eq!(fields(&got), fields(&vectors[name].1), "{}", name);
    }
}

#[test]
fn service_answers_are_decoded() {
    let vectors = match vectors() {
        Some(vectors) => vectors,
        None => return,
    };
    let answer = |name: &str| (0, &vectors[name].1[..], &b"ab"[..]);

    answering(&[answer("http-response"), answer("stream-response"), (0, b"", b"c")], || {
        let response = http::get("").unwrap();
        assert_eq!((response.status(), response.url()), (200, "https://api.example.org/v1/items?page=2"));
        assert_eq!(response.headers().collect::<Vec<_>>(), [("content-type", "text/plain")]);
        assert_eq!(response.text().unwrap(), "ababc");
    });
    answering(&[answer("sql-response"), (0, b"", b"")], || {
        let rows = sql::query("", "").rows().unwrap();
        let columns: Vec<_> =
            rows.columns().iter().map(|column| [&column.name, " ", &column.type_name].concat()).collect();
        assert_eq!(columns, ["id int4", "name text"]);
        let rows: Vec<_> = rows.map(|row| row.unwrap().values().to_vec()).collect();
        assert_eq!(rows, [[1.into(), "Ada".into()], [2.into(), sql::Value::Null]]);
    });
    let expires = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_082_400));
    answering(&[answer("kv-response")], || {
        let there = kv::Put::new("notes/1", "").if_absent().send().unwrap().unwrap_err().entry.unwrap();
        assert_eq!((&*there.key, there.size, there.expires, there.version), ("notes/1", 2, expires, 8));
        assert_eq!(kv::get_entry("notes/1").unwrap(), Some((b"ab".to_vec(), there)));
    });
    answering(&[answer("kv-response-list"), (0, b"", b"")], || {
        let entries: Result<Vec<_>> = kv::keys("").collect();
        let entries: Vec<_> =
            entries.unwrap().into_iter().map(|entry| (entry.key, entry.size, entry.version)).collect();
        assert_eq!(entries, [("a".to_owned(), 0, 1), ("b".to_owned(), 1 << 20, 2)]);
    });
}

/// Every prefix of an answer, and every answer with one bit changed, is taken or refused, and nothing else.
#[test]
fn damaged_service_answers_do_no_harm() {
    let vectors = vectors().unwrap_or_default();
    for (message, bytes) in vectors.values() {
        let mut before = Vec::new();
        let ask: fn() = match message.as_str() {
            "HTTPResponse" => || drop(http::get("").map(|response| response.bytes())),
            "SQLResponse" => || drop(sql::query("", "").rows().map(Iterator::count)),
            "KVResponse" => || drop((kv::get("notes/1"), kv::put("k", ""), kv::delete("k"), kv::keys("").count())),
            "FileResponse" => || drop((Dir::new("/").read("a"), Dir::new("/").entries(".").map(Iterator::count))),
            "StreamResponse" => {
                before.push((0, &vectors["http-response"].1[..], &b"ab"[..]));
                || drop(http::get("").map(|response| response.bytes()))
            }
            _ => continue,
        };
        let run = |damaged: &[u8]| answering(&[&before[..], &[(0, damaged, b"ab"), (0, b"", b"")]].concat(), ask);
        for cut in 0..bytes.len() {
            run(&bytes[..cut]);
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[cut] ^= 1 << bit;
                run(&damaged);
            }
        }
    }
}

/// Gives the fields of a frame, and those of a manifest in it but for the name of the SDK. Lengths may be padded.
fn fields(frame: &[u8]) -> Vec<String> {
    let all = Fields::of(frame).map(|field| field.unwrap());
    let described = all.flat_map(|field| match (field.number, field.bytes()) {
        (9, Ok(manifest)) => fields(manifest),
        (12, _) => Vec::new(),
        _ => vec![format!("{:x?}", field)],
    });
    described.collect()
}

fn list() -> Vec<u8> {
    let mut out = Out::new();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_168_800);
    crate::list::run(&mut out, &Request::default(), |_, page| {
        page.ttl(Duration::from_secs(60));
        page.public();
        page.next("todo.md");
        let full = Entry::new("file:///notes/todo.md")
            .title("To do")
            .describe("What is left.\nAnd what is not.")
            .mime("text/markdown")
            .size(1234)
            .priority(0.0)
            .last_modified(time)
            .audience(Audience::User)
            .audience(Audience::Assistant)
            .meta(r#"{"example.org/stars":5}"#)
            .icon(Icon::new("https://example.org/i.png").mime("image/png").size("48x48").size("96x96").theme("dark"))
            .icon(Icon::new("data:image/png;base64,AA=="));
        assert!(page.add(full) && page.add(Entry::new("config://app")));
        Ok(())
    })
    .unwrap();
    out.reply.as_bytes().to_vec()
}

fn list_directory() -> Vec<u8> {
    let mut out = Out::new();
    crate::list::run(&mut out, &Request::default(), |_, page| {
        page.next("SKILL.md");
        let file = Entry::new("skill://acme/refunds/SKILL.md").mime("text/markdown").size(1234);
        assert!(page.add(Entry::new("skill://acme/refunds/examples").mime(crate::DIRECTORY_TYPE)) && page.add(file));
        Ok(())
    })
    .unwrap();
    out.reply.as_bytes().to_vec()
}

fn nothing(_: &Request) -> Result<&'static str> {
    Ok("")
}

/// The provider of the manifest's vector.
fn users() -> Provider {
    let user = Route::template("users://{user_id}{?fields*}", nothing)
        .name("user")
        .title("One user")
        .describe("By number.")
        .mime("text/plain")
        .priority(1.0)
        .audience(Audience::Assistant)
        .icon(Icon::new("https://example.org/u.svg").theme("light"))
        .meta("{}")
        .complete_from("user_id", [""; 0])
        .complete_from("fields", [""; 0])
        .ranges()
        .ttl(Duration::from_secs(5))
        .public();
    Provider::new("users", "1.2.3")
        .title("Users")
        .describe("The directory.")
        .prefix("users://")
        .prefix("logs://")
        .config_schema(r#"{"type":"object"}"#)
        .memory(256 << 16)
        .deadline(Duration::from_millis(500))
        .max_body(16 << 20)
        .max_instances(4)
        .per_session()
        .ask(Capability::new("fs", "reads the project's files"))
        .ask(Capability::new("http", "").params(r#"{"hosts":["api.example.org"]}"#).optional())
        .route(user)
        .route(Route::template("logs://{day}", nothing).name("log"))
        .route(Route::resource("config://app", nothing))
        .list(|_, _| Ok(()))
}
