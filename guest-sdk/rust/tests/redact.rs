//! What the module redact hides, by the values that the SDKs of all languages share.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};

use wasmres::redact::{self, Reader, MARK};

/// A setting, and what clients may see of it.
struct Vector {
    name: String,
    value: String,
    shown: String,
    planted: String,
}

/// Reads the settings; none if this copy of the SDK has none.
fn vectors() -> Vec<Vector> {
    let text = match fs::read_to_string("../../testdata/redact.txt") {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            eprintln!("NOT TESTED: this copy of the SDK has no vectors");
            return Vec::new();
        }
        Err(error) => panic!("{error}"),
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let vectors: Vec<Vector> = lines
        .map(|line| {
            let columns: Vec<String> = line.split('\t').map(|column| column.replace("\\n", "\n")).collect();
            match <[String; 4]>::try_from(columns) {
                Ok([name, value, shown, planted]) => Vector { name, value, shown, planted },
                Err(columns) => panic!("{line:?} has {} columns", columns.len()),
            }
        })
        .collect();
    let secrets = vectors.iter().filter(|vector| !vector.planted.is_empty()).count();
    assert!(secrets >= 100 && vectors.len() - secrets >= 50, "{secrets} secrets of {}", vectors.len());
    vectors
}

/// Gives so many bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = buffer.len().min(self.1);
        self.0.read(&mut buffer[..size])
    }
}

fn read(text: &str, size: usize) -> String {
    let mut shown = String::new();
    Reader::new(Trickle(text.as_bytes(), size)).read_to_string(&mut shown).unwrap();
    shown
}

#[test]
fn secrets_are_hidden() {
    for Vector { name, value, shown, planted } in vectors() {
        let got = redact::value(&name, &value);
        assert_eq!(got, shown, "{name} = {value:?}");
        assert!(value.contains(&planted));
        assert!(planted.is_empty() || !got.contains(&planted), "{name} = {value:?} is shown with {planted:?}");
        assert!(got.contains(MARK) || matches!(got, Cow::Borrowed(_)));
        if redact::is_secret(&name, &value) {
            assert_eq!(got, MARK, "{name} = {value:?}");
        }
    }
}

#[test]
fn a_reader_hides_what_text_hides() {
    let mut all = String::new();
    for Vector { value, .. } in vectors() {
        let open = value.contains("-----BEGIN") && !value.contains("-----END");
        let text = [&value, "\nnext: größe\n"].concat();
        for size in [1, 7, 1 << 10] {
            assert_eq!(read(&text, size), redact::text(&text), "{size} bytes at a time");
        }
        if !open {
            all += &text;
        }
    }
    assert_eq!(read(&all, 100), redact::text(&all));
}

#[test]
fn lines_that_are_too_long_are_hidden_from_a_word_on() {
    let words = "word ".repeat(20_000);
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEhunter2\n";
    for (text, last) in [
        (format!("{words}\nlast"), "\nlast"),
        (format!("{words}hunter2 {words}\nlast"), "\nlast"),
        (format!("{}hunter2\nlast", "x".repeat(200_000)), "\nlast"),
        (format!("{words}{key}-----END PRIVATE KEY-----\nlast"), "\nlast"),
        (format!("{words}{words}{key}last"), ""),
        (format!("{key}{words}-----END PRIVATE KEY-----\nlast"), "\nlast"),
    ] {
        for size in [100, 4096, 1 << 20] {
            let shown = read(&text, size);
            assert!(!shown.contains("hunter2") && shown.len() < 90_000, "{} bytes are shown", shown.len());
            let rest = shown.split_once(MARK).unwrap().1;
            assert_eq!(rest, last, "{size} bytes at a time");
        }
    }
}

#[test]
fn a_key_without_an_end_hides_no_more_than_it_may() {
    let text = ["-----BEGIN PRIVATE KEY-----\nMIIEhunter2\n", &"line\n".repeat(50_000)].concat();
    let shown = read(&text, 1000);
    assert!(shown.starts_with("[redacted]\nline\nline\n") && shown.len() > 150_000, "{} bytes", shown.len());
    assert_eq!(redact::text(&text), MARK);
}

#[test]
fn texts_may_be_hostile() {
    for part in [
        "://",
        "a:",
        "a:b@",
        "pwd=a ",
        "pwd=a;",
        "token: ",
        "bearer ",
        "basic AAAA ",
        "-----BEGIN ",
        "-----END ",
        "-----BEGIN CERTIFICATE-----",
        "eyJ.",
        "1234567890:AA",
        "/",
        "{}",
        "\"pwd\":\"",
        "<pwd>",
        "--pwd ",
        "\n",
        "jdbc:oracle:/",
        "pwd=",
        "pwd:bearer ",
        "key_path=/",
        "/api/webhooks/",
        "'",
        "\\",
        "pwd='\\",
        "ü",
        "pwd:ü",
    ] {
        let text = part.repeat((1 << 13) / part.len());
        for text in [&text[..], &["pwd", &text].concat(), &[&text, "\n--pwd"].concat()] {
            let shown = redact::text(text);
            assert!(shown.len() <= text.len() * 4, "{part:?}: {} bytes of {}", shown.len(), text.len());
            assert!(read(text, 4096).len() <= text.len() * 4);
        }
    }
}
