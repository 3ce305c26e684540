//! The powers of the host, as a provider and the tests of its author see them.

use std::cell::Cell;
use std::io::Read;
use std::time::{Duration, SystemTime};

use wasmres::sql::{self, FromValue, Value};
use wasmres::testing::{Host, HttpRequest, HttpResponse, Table};
use wasmres::{http, kv, Code, Content, Error, Provider, Request, Result, Route};

fn provider(route: Route) -> Host {
    Host::new(Provider::new("test", "1.0.0").route(route))
}

/// Runs `f` as a handler.
fn handle(set: impl FnOnce(Host) -> Host, f: impl Fn() -> Result<()> + 'static) -> Result<Host> {
    let route = Route::resource("t://run", move |_| f().map(|()| ""));
    let host = set(provider(route));
    host.read("t://run").map(|_| host)
}

fn code<T: std::fmt::Debug>(result: Result<T>) -> Code {
    result.unwrap_err().code()
}

/// More than one answer of the host has.
fn long() -> Vec<u8> {
    b"0123456789abcde\n".repeat(5_000)
}

fn web(request: &HttpRequest) -> Result<HttpResponse> {
    let response = HttpResponse::new(200);
    Ok(match request.url.trim_start_matches("https://web/") {
        "echo" => {
            let names: Vec<_> = request.headers.iter().map(|field| format!("{}={}", field.0, field.1)).collect();
            let body = std::str::from_utf8(&request.body).unwrap();
            let (max, timeout) = (request.max_bytes, request.timeout.as_millis());
            let text = format!("{} {} {} {} {}", request.method, names.join(","), body, max, timeout);
            response.header("X-Answer", "a").header("x-answer", "b").body(text)
        }
        "to" => response.url("https://web/there"),
        "long" => response.body(long()),
        "away" => return Err(Error::denied("not granted")),
        status => HttpResponse::new(status.parse()?).header("Retry-After", "3"),
    })
}

fn fetching(f: impl Fn() -> Result<()> + 'static) {
    handle(|host| host.http(web), f).unwrap();
}

#[test]
fn requests_are_sent() {
    fetching(|| {
        let response = http::Request::new("POST", "https://web/echo")
            .header("X-Test", "{{secret:t}}")
            .header("X-Empty", "")
            .body("body")
            .max_bytes(100)
            .timeout(Duration::from_micros(1500))
            .send()?;
        assert_eq!((response.status(), response.url()), (200, "https://web/echo"));
        assert_eq!((response.header("x-ANSWER"), response.header("X-Absent")), (Some("a"), None));
        assert_eq!(response.headers().collect::<Vec<_>>(), [("X-Answer", "a"), ("x-answer", "b")]);
        assert_eq!(response.text()?, "POST X-Test={{secret:t}},X-Empty= body 100 2");
        assert_eq!(http::get("https://web/echo")?.bytes()?, b"GET   0 0");
        assert_eq!(http::get("https://web/to")?.url(), "https://web/there");
        Ok(())
    });
}

#[test]
fn bodies_arrive_in_parts() {
    fetching(|| {
        let mut first = http::get("https://web/long")?;
        let mut begin = [0; 7];
        first.read_exact(&mut begin)?;
        assert_eq!(http::get("https://web/long")?.bytes()?, long()); // between the parts of the first
        let mut rest = Vec::new();
        first.read_to_end(&mut rest)?;
        assert_eq!([&begin[..], &rest].concat(), long());
        assert_eq!(first.read(&mut begin)?, 0);
        Ok(())
    });
}

#[test]
fn bodies_can_be_served() {
    let serve = |_: &Request| Ok(Content::stream(http::get("https://web/long")?.error_for_status()?).utf8());
    let host = provider(Route::resource("t://long", serve)).http(web);
    assert_eq!(host.text("t://long").into_bytes(), long());
}

#[test]
fn requests_fail() {
    fetching(|| {
        let long = |max| http::Request::new("GET", "https://web/long").max_bytes(max).send();
        assert_eq!(code(long(1000)), Code::TooLarge);
        assert_eq!(code(long(10_000)?.bytes()), Code::TooLarge);
        assert_eq!(long(80_000)?.bytes()?.len(), 80_000);
        assert_eq!(code(http::get("https://web/away")), Code::Denied);
        Ok(())
    });
    let denied = handle(|host| host, || http::get("https://web/").map(drop));
    assert_eq!(denied.map(drop).unwrap_err().code(), Code::Denied);
}

#[test]
fn statuses_are_errors_if_wanted() {
    fetching(|| {
        for status in [200, 204, 299] {
            assert_eq!(http::get(format!("https://web/{status}"))?.error_for_status()?.status(), status);
        }
        for (want, statuses) in [
            (Code::NotFound, &[404, 410][..]),
            (Code::Denied, &[401, 403]),
            (Code::Unavailable, &[408, 429, 500, 503, 599]),
            (Code::Internal, &[100, 199, 300, 304, 400, 405, 499]),
        ] {
            for status in statuses {
                let error = http::get(format!("https://web/{status}"))?.error_for_status().unwrap_err();
                assert_eq!((error.code(), error.message()), (want, &*format!("the server answers {status}")));
                let wait = if want == Code::Unavailable { 3 } else { 0 };
                assert_eq!(error.retry_after(), Duration::from_secs(wait), "{}", status);
            }
        }
        Ok(())
    });
}

fn asking(database: impl Fn(&str, &[Value]) -> Result<Table> + 'static, f: impl Fn() -> Result<()> + 'static) {
    handle(|host| host.sql("main", database), f).unwrap();
}

#[test]
fn all_rows_are_given() {
    for n in [0, 1, 3, 4, 100] {
        let table = move |_: &str, arguments: &[Value]| {
            assert_eq!(arguments, [n.into()]);
            let table = Table::new(["id", "name"]);
            Ok((0..n).fold(table, |table, i| table.row([i.into(), format!("row {i}").into()])))
        };
        asking(table, move || {
            let rows = sql::query("main", "select ?").bind(n).rows()?;
            assert_eq!(rows.columns()[1].name, "name");
            let mut count = 0;
            for row in rows {
                let row = row?;
                assert_eq!((row.get("id")?, row.get(1)?), (count, format!("row {count}")));
                assert_eq!(row.columns().len(), row.values().len());
                count += 1;
            }
            assert_eq!(count, n);
            Ok(())
        });
    }
}

#[test]
fn arguments_arrive() {
    let database = |_: &str, arguments: &[Value]| {
        let want = [
            Value::Null,
            Value::Bool(true),
            Value::Int(-1),
            Value::Int(i64::MAX),
            Value::Float(0.5),
            Value::Text("é".to_owned()),
            Value::Text(String::new()),
            Value::Bytes(vec![0, 255]),
            Value::Bytes(Vec::new()),
            Value::Text("some".to_owned()),
        ];
        assert_eq!(arguments, want);
        Ok(Table::new([""; 0]))
    };
    asking(database, || {
        let query = sql::query("main", "").bind(Value::Null).bind(true).bind(-1i8).bind(i64::MAX).bind(0.5f32);
        let query = query.bind("é").bind(String::new()).bind(&[0, 255]).bind(Vec::new()).bind(Some("some"));
        query.rows().map(drop)
    });
}

/// Takes a value that is the first of a row.
fn taken<T: FromValue + 'static>(value: impl Into<Value>) -> Result<T> {
    let value = value.into();
    let taken = std::rc::Rc::new(Cell::new(None));
    let result = std::rc::Rc::clone(&taken);
    asking(
        move |_, _| Ok(Table::new(["v"]).row([value.clone()])),
        move || {
            result.set(Some(sql::query("main", "").row()?.get("v")));
            Ok(())
        },
    );
    taken.take().unwrap()
}

#[test]
fn values_are_taken_as_what_they_are() {
    assert_eq!((taken(42).ok(), taken("42").ok(), taken(true).ok()), (Some(42u8), Some(42i64), Some(1usize)));
    assert_eq!((taken(0.5).ok(), taken(2).ok(), taken("12.50").ok()), (Some(0.5), Some(2.0), Some(12.5)));
    assert_eq!((taken(true).ok(), taken(0).ok()), (Some(true), Some(false)));
    let texts = [taken::<String>("a"), taken(-7), taken(1.5), taken(true), taken("ü".as_bytes())];
    assert_eq!(texts.map(Result::unwrap), ["a", "-7", "1.5", "true", "ü"]);
    assert_eq!((taken(&[0, 255]).ok(), taken("a").ok()), (Some(vec![0, 255]), Some(b"a".to_vec())));
    assert_eq!((taken(Value::Null).ok(), taken(7).ok()), (Some(None::<u8>), Some(Some(7))));
    assert_eq!(taken::<Value>(Value::Null).ok(), Some(Value::Null));
}

#[test]
fn values_that_do_not_fit_are_explained_in_the_log() {
    fn cause<T: FromValue + std::fmt::Debug + 'static>(value: impl Into<Value>) -> String {
        let error = taken::<T>(value).unwrap_err();
        assert_eq!((error.code(), error.message()), (Code::Internal, ""));
        error.to_string()
    }
    assert_eq!(cause::<i64>(Value::Null), "internal: column v is null, not an integer of type i64");
    assert_eq!(cause::<u8>(256), "internal: column v is an integer, not an integer of type u8");
    assert_eq!(cause::<Option<i32>>("12.5"), "internal: column v is a text, not an integer of type i32");
    assert_eq!(cause::<bool>("true"), "internal: column v is a text, not a bool");
    assert_eq!(cause::<f64>(&[1]), "internal: column v is bytes, not a number");
    assert_eq!(cause::<String>(&[0xff]), "internal: column v is bytes, not a text");
    assert_eq!(cause::<Vec<u8>>(0.5), "internal: column v is a float, not bytes");
    asking(
        |_, _| Ok(Table::new(["v"]).row([1.into()])),
        || {
            let row = sql::query("main", "").row()?;
            assert_eq!(row.get::<i64>("w").unwrap_err().to_string(), "internal: there is no column w");
            assert_eq!(row.get::<i64>(1).unwrap_err().to_string(), "internal: there is no column 1");
            Ok(())
        },
    );
}

#[test]
fn statements_fail() {
    let database = |statement: &str, _: &[Value]| match statement {
        "none" => Ok(Table::new(["n"])),
        "many" => Ok(Table::new(["n"]).row([1.into()]).row([2.into()])),
        _ => Err(Error::invalid("syntax")),
    };
    asking(database, || {
        assert_eq!(sql::query("main", "many").row()?.get::<u8>(0)?, 1);
        assert_eq!(code(sql::query("main", "none").row()), Code::NotFound);
        assert_eq!(code(sql::query("main", "selec").row()), Code::InvalidParams);
        assert_eq!(code(sql::query("other", "none").rows()), Code::Denied);
        Ok(())
    });
}

fn keeping(f: impl Fn() -> Result<()> + 'static) -> Host {
    handle(Host::kv, f).unwrap()
}

#[test]
fn values_are_kept() {
    let host = keeping(|| {
        for (key, value) in [("k", b"v".to_vec()), ("empty", Vec::new()), ("big", [0, 255].repeat(300_000))] {
            let put = kv::put(key, &value)?;
            assert_eq!((&*put.key, put.size, put.expires), (key, value.len() as u64, None));
            assert!(kv::get_entry(key)?.unwrap() == (value, put));
        }
        kv::delete("empty")?;
        assert_eq!(kv::get("empty")?, None);
        kv::delete("empty")
    });
    assert_eq!(host.kv_values().into_keys().collect::<Vec<_>>(), ["big", "k"]);
    let host = provider(Route::template("t://{key}", |r| kv::get(r.var("key")))).kv();
    host.kv_put("k", "v");
    assert_eq!(host.bytes("t://k"), b"v");
    assert_eq!(code(host.read("t://x")), Code::NotFound);
}

#[test]
fn conditions_hold() {
    let host = keeping(|| {
        let first = kv::Put::new("k", "1").if_absent().send()??;
        let conflict = kv::Put::new("k", "2").if_absent().send()?.unwrap_err();
        assert_eq!(conflict.entry.as_ref(), Some(&first));
        let second = kv::Put::new("k", "2").if_version(first.version).send()??;
        assert_ne!(first.version, second.version);
        let conflict = kv::Put::new("k", "3").if_version(first.version).send()?.unwrap_err();
        assert_eq!(conflict.entry.as_ref(), Some(&second));
        assert_eq!(kv::delete_version("k", first.version)?.unwrap_err(), conflict);
        kv::delete_version("k", second.version)??;
        let conflict = kv::Put::new("k", "4").if_version(second.version).send()?.unwrap_err();
        assert_eq!(conflict.entry, None);
        assert_eq!(Error::from(conflict).code(), Code::Unavailable);
        assert_eq!(code(kv::delete_version("k", 0)), Code::InvalidParams);
        let put = kv::Put::new("k", "");
        for refused in [
            put.if_version(0),
            put.ttl(Duration::ZERO),
            put.if_absent().if_version(1),
            kv::Put::new("", ""),
            kv::Put::new("a\nb", ""),
            kv::Put::new(&"k".repeat(1025), ""),
        ] {
            assert_eq!(code(refused.send()), Code::InvalidParams, "{:?}", refused);
        }
        assert_eq!(code(kv::put("k", vec![0; 1 << 20])), Code::TooLarge);
        Ok(())
    });
    assert!(host.kv_values().is_empty());
}

#[test]
fn values_go_when_their_time_is_over() {
    let run = |_: &Request| {
        let put = kv::Put::new("k", "v").ttl(Duration::from_micros(1500)).if_absent().send()?;
        let entry = put.or_else(|conflict| conflict.entry.ok_or(Code::Internal))?;
        let expires = entry.expires.unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        Ok(expires.as_millis().to_string())
    };
    let mut host = provider(Route::resource("t://run", run)).kv();
    for (now, want) in [(1000, "1002"), (1001, "1002"), (1002, "1004")] {
        host = host.now(SystemTime::UNIX_EPOCH + Duration::from_millis(now));
        assert_eq!(host.text("t://run"), want);
    }
}

#[test]
fn updates_lose_no_change() {
    let host = keeping(|| {
        let mut calls = 0;
        let entry = kv::update_with_ttl("count", Duration::from_secs(1), |old| {
            let old = old.unwrap_or_default();
            calls += 1;
            if calls < 3 {
                kv::put("count", [&old[..], b"!"].concat())?; // somebody else is quicker, twice
            }
            Ok([&old[..], b"+"].concat())
        })?;
        assert_eq!((calls, entry.expires.is_some()), (3, true));
        assert!(kv::update("count", |old| Ok(old.unwrap()))?.expires.is_none());
        let stopped: Result<kv::Entry> = kv::update("count", |_| Err::<&str, _>(Error::denied("stop")));
        assert_eq!(stopped.unwrap_err().message(), "stop");
        let busy = kv::update("count", |old| {
            kv::put("count", "!!+")?;
            Ok(old.unwrap())
        });
        assert_eq!(code(busy), Code::Unavailable);
        Ok(())
    });
    assert_eq!(host.kv_values()["count"], b"!!+");
}

#[test]
fn keys_are_listed_page_by_page() {
    let list = |r: &Request| {
        let keys: Result<Vec<_>> =
            kv::keys_after(r.var("prefix"), r.var("after")).map(|entry| Ok(entry?.key)).collect();
        Ok(keys?.join(" "))
    };
    let host = provider(Route::template("t://{prefix}/{after}", list)).kv();
    for key in ["a", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "z"] {
        host.kv_put(key, "v");
    }
    assert_eq!(host.text("t://n/0"), "n1 n2 n3 n4 n5 n6 n7 n8 n9");
    assert_eq!(host.text("t://n/n5"), "n6 n7 n8 n9");
    assert_eq!(host.text("t://n/n9"), "");
    assert_eq!(host.text("t://x/0"), "");
    let denied = handle(|host| host, || kv::keys("").collect::<Result<Vec<_>>>().map(drop));
    assert_eq!(denied.map(drop).unwrap_err().code(), Code::Denied);
}

#[test]
fn the_environment_is_at_hand() {
    let host = provider(Route::template("t://{name}", |r| Ok(r.env(r.var("name"))))).env("LANG", "C.UTF-8");
    assert_eq!(host.text("t://LANG"), "C.UTF-8");
    assert_eq!(code(host.read("t://HOME")), Code::NotFound);
}
