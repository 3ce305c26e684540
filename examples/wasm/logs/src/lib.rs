//! The provider logs serves the logs of an application, one file a day, and the errors in them.

mod day;
mod errors;
mod lossy;

use std::io::{self, Read};
use std::time::SystemTime;

use wasmres::redact::Reader;
use wasmres::{Capability, Content, Dir, Entry, Error, File, Metadata, Page, Provider, Request, Result, Route};

use day::Day;
use errors::Errors;
use lossy::Lossy;

/// Where the operator mounts the folder of the logs.
const FOLDER: &str = "/logs";

const URI: &str = "logs://app";

fn provider() -> Provider {
    let days = Route::resource(URI, days)
        .name("app")
        .title("Days")
        .describe("The days there are logs of, one a line.")
        .mime("text/plain");
    let log = Route::template("logs://app/{date}", log)
        .name("log")
        .title("Log of a day")
        .describe("The log of a day, as in logs://app/2026-11-22.")
        .mime("text/plain")
        .complete("date", complete);
    let errors = Route::template("logs://app/{date}/errors", errors)
        .name("errors")
        .title("Errors of a day")
        .describe("The lines of level ERROR in the log of a day.")
        .mime("text/plain")
        .complete("date", complete);
    Provider::new("logs", "1.0.0")
        .title("Logs")
        .describe("The logs of an application, one file a day, and the errors in them.")
        .prefix(URI)
        .ask(
            Capability::new("fs", "reads the logs, mounted at /logs")
                .params(r#"{"paths":["/logs"],"access":["read"]}"#),
        )
        .route(days)
        .route(log)
        .route(errors)
        .list(list)
}

/// Answers with the log of a day as it is now: what is written to it meanwhile belongs to another version.
fn log(r: &Request) -> Result<Content> {
    let file = open(r)?;
    let size = file.metadata().len();
    text(r, &file, |file| file.take(size))
}

/// Answers with the errors in the log of a day, which are picked out while they are sent.
fn errors(r: &Request) -> Result<Content> {
    let file = open(r)?;
    let size = file.metadata().len();
    text(r, &file, |file| Errors::new(file.take(size)))
}

/// Answers with what a reader gives of a file, but for secrets. The file is read twice, since the head of a content comes
/// before its bytes: to see whether all of them are text, and to send them. Where they are not, `_meta` says how often a
/// replacement character stands in the place of other bytes.
fn text<R: Read + 'static>(r: &Request, file: &File, reader: impl Fn(File) -> R) -> Result<Content> {
    let metadata = file.metadata();
    let etag = etag(metadata);
    if r.if_none_match() == etag {
        return Ok(Content::not_modified(etag));
    }
    let replaced = Lossy::new(reader(file.clone())).count()?;
    let mut content = Content::stream(Reader::new(Lossy::new(reader(file.clone()))));
    if replaced > 0 {
        content = content.meta(format!(r#"{{"replacedInvalidUTF8":{replaced}}}"#));
    }
    Ok(content.utf8().etag(etag).last_modified(metadata.modified()))
}

/// Names a version of a file by its time of change and its size.
fn etag(metadata: &Metadata) -> String {
    let modified = metadata.modified().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", modified.as_millis(), metadata.len())
}

/// Opens the log that is asked for. Nothing is read yet.
fn open(r: &Request) -> Result<File> {
    let date = r.var("date");
    let day: Day = date.parse().map_err(|_| Error::invalid(format!("{date:?} is no day: write it as 2026-11-22")))?;
    Dir::new(FOLDER).open(&day.file()).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::InvalidInput => Error::not_found(format!("there is no log of {day}")),
        _ => explain(error),
    })
}

/// Words for the client what went wrong with the folder.
fn explain(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Error::denied("the logs may not be read: has their folder been granted, as with --dir FOLDER:/logs:ro?")
        }
        io::ErrorKind::NotFound => Error::not_found("there is no folder of logs"),
        _ => error.into(),
    }
}

/// Goes over the logs after one of a day, in the order of their days.
fn logs_after(day: Option<&Day>) -> Result<impl Iterator<Item = Result<(Day, Metadata)>>> {
    let after = day.map_or(String::new(), Day::file);
    let files = Dir::new(FOLDER).entries_after(".", after).map_err(explain)?;
    Ok(files.filter_map(|file| match file {
        Ok(file) if file.is_dir() => None,
        Ok(file) => Some(Ok((Day::of_file(file.name())?, file))),
        Err(error) => Some(Err(explain(error))),
    }))
}

fn days(_: &Request) -> Result<String> {
    logs_after(None)?.map(|log| Ok(format!("{}\n", log?.0))).collect()
}

/// Lists the logs. The cursor is the last day of a page, which holds while logs come and go.
fn list(_: &Request, page: &mut Page) -> Result<()> {
    let mut last = match page.cursor() {
        "" => None,
        cursor => Some(cursor.parse().map_err(|_| Error::invalid("unknown cursor"))?),
    };
    for log in logs_after(last.as_ref())? {
        let (day, file) = log?;
        let entry = Entry::new(format!("{URI}/{day}"))
            .name(day.as_str())
            .mime("text/plain")
            .size(file.len())
            .last_modified(file.modified());
        if !page.add(entry) {
            page.next(last.map_or(String::new(), |last| last.to_string()));
            break;
        }
        last = Some(day);
    }
    Ok(())
}

/// Suggests days there are logs of, the latest first.
fn complete(_: &Request, typed: &str) -> Result<Vec<String>> {
    let mut days = Vec::new();
    for log in logs_after(None)? {
        let (day, _) = log?;
        if day.as_str().starts_with(typed) {
            days.push(day.to_string());
        }
    }
    days.reverse();
    Ok(days)
}

wasmres::export!(provider);

#[cfg(test)]
mod tests {
    use super::*;
    use wasmres::{testing::Host, Code};

    const TODAY: &str = "2026-11-22T09:00:00Z INFO up\n2026-11-22T09:00:01Z ERROR disk full\n";

    fn host() -> Host {
        Host::new(provider()).dir(
            "/logs",
            [
                ("app-2026-11-22.log", TODAY),
                ("app-2026-11-21.log", ""),
                ("app-2025-12-31.log", "2025-12-31T23:59:59Z WARN late\n"),
                ("app-2026-11-31.log", "no day"),
                ("app-2026-11-20.log/part", "a folder"),
                ("other-2026-11-22.log", "of another application"),
                ("app-2026-11-22.log.gz", ""),
            ],
        )
    }

    #[test]
    fn logs_and_their_errors_are_read() {
        let host = host();
        assert_eq!(host.text("logs://app/2026-11-22"), TODAY);
        assert_eq!(host.text("logs://app/2026-11-22/errors"), "2026-11-22T09:00:01Z ERROR disk full\n");
        assert_eq!(host.text("logs://app/2025-12-31/errors"), "");
        assert_eq!(host.text("logs://app/2026-11-21"), "");
        assert_eq!(host.text("logs://app"), "2025-12-31\n2026-11-21\n2026-11-22\n");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let log = b"2026-11-22T09:00:00Z INFO caf\xe9\n2026-11-22T09:00:01Z ERROR \xff\xfe\n";
        let host = Host::new(provider()).dir("/logs", [("app-2026-11-22.log", &log[..])]);
        for (uri, text, meta) in [
            (
                "logs://app/2026-11-22",
                "2026-11-22T09:00:00Z INFO caf\u{fffd}\n2026-11-22T09:00:01Z ERROR \u{fffd}\u{fffd}\n",
                r#"{"replacedInvalidUTF8":3}"#,
            ),
            (
                "logs://app/2026-11-22/errors",
                "2026-11-22T09:00:01Z ERROR \u{fffd}\u{fffd}\n",
                r#"{"replacedInvalidUTF8":2}"#,
            ),
        ] {
            let content = host.read(uri).unwrap().remove(0);
            assert_eq!(String::from_utf8_lossy(&content.bytes), text);
            assert_eq!(content.meta, meta);
        }
    }

    #[test]
    fn secrets_are_redacted() {
        let log = "2026-11-22T09:00:00Z INFO postgres://shop:hunter2@db.example.org/shop\n\
                   2026-11-22T09:00:01Z ERROR login failed: password=hunter2 user=ada\n";
        let host = Host::new(provider()).dir("/logs", [("app-2026-11-22.log", log)]);
        let shown = log.replace("hunter2", "[redacted]");
        assert_eq!(host.text("logs://app/2026-11-22"), shown);
        assert_eq!(host.text("logs://app/2026-11-22/errors"), shown[shown.find('\n').unwrap() + 1..]);
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let code = |uri: &str| host().read(uri).unwrap_err().code();
        for path in ["2026-11-19", "2026-11-20"] {
            assert_eq!(code(&["logs://app/", path].concat()), Code::NotFound);
            assert_eq!(code(&["logs://app/", path, "/errors"].concat()), Code::NotFound);
        }
        for path in ["2026-11-31", "today", "..", "2026-11-22.log"] {
            assert_eq!(code(&["logs://app/", path].concat()), Code::InvalidParams);
            assert_eq!(code(&["logs://app/", path, "/errors"].concat()), Code::InvalidParams);
        }
        let denied = Host::new(provider());
        for uri in ["logs://app", "logs://app/2026-11-22"] {
            assert_eq!(denied.read(uri).unwrap_err().code(), Code::Denied);
        }
        assert_eq!(denied.page("").unwrap_err().code(), Code::Denied);
    }

    #[test]
    fn what_the_client_has_is_not_sent_again() {
        for uri in ["logs://app/2026-11-22", "logs://app/2026-11-22/errors"] {
            let host = host();
            let etag = host.read(uri).unwrap().remove(0).etag;
            assert!(host.read_if_none_match(uri, &etag).unwrap()[0].not_modified);
            let host = host.dir("/logs", [("app-2026-11-22.log", [TODAY, TODAY].concat())]);
            let grown = host.read_if_none_match(uri, &etag).unwrap().remove(0);
            assert!(!grown.not_modified && grown.etag != etag && !grown.bytes.is_empty());
        }
    }

    #[test]
    fn days_are_listed_page_by_page() {
        let days = ["2025-12-31", "2026-11-21", "2026-11-22"];
        for size in 0..5 {
            let listed = host().page_size(size).list();
            let names: Vec<&str> = listed.iter().map(|entry| entry.name.as_str()).collect();
            assert_eq!(names, [&["app"], &days[..]].concat(), "{size} a page");
            assert_eq!((&*listed[3].uri, listed[3].size), ("logs://app/2026-11-22", TODAY.len() as u64));
        }
        let (page, _) = host().page("2026-11-20").unwrap(); // which has no log any more
        assert_eq!(page[0].name, "2026-11-21");
        for cursor in ["x", "2026-11-31", "app-2026-11-22.log"] {
            assert_eq!(host().page(cursor).unwrap_err().code(), Code::InvalidParams);
        }
    }

    #[test]
    fn days_are_completed() {
        for template in ["logs://app/{date}", "logs://app/{date}/errors"] {
            let complete = |typed| host().complete(template, "date", typed, &[]).unwrap();
            assert_eq!(complete("2026"), ["2026-11-22", "2026-11-21"]);
            assert_eq!(complete("").len(), 3);
            assert_eq!(complete("2024"), [""; 0]);
        }
    }
}
