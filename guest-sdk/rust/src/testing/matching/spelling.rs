//! How URIs are spelled: the one spelling a resource is known by, and what the host refuses.

/// Gives the one spelling by which wasmres knows a resource: characters beyond ASCII are percent-encoded, and escapes
/// are in upper case.
pub(in crate::testing) fn normal(uri: &str) -> String {
    let mut normal = String::new();
    let mut digits = 0; // of an escape, that are to come
    for byte in uri.bytes() {
        match byte {
            0x80.. => normal.push_str(&format!("%{:02X}", byte)),
            _ if digits > 0 => normal.push(byte.to_ascii_uppercase().into()),
            _ => normal.push(byte.into()),
        }
        digits = if byte == b'%' { 2_u8 } else { digits.saturating_sub(1) };
    }
    normal
}

/// With a character it is one of private use, which any value may hold.
const DISGUISED: u32 = 0xF_0000;

/// Hides from the matching what wasmres refuses in a URI before it matches it, as dot segments, control characters and
/// spaces, so that they reach the provider in the value of a variable. [`reveal`] brings them back.
pub(super) fn disguise(uri: &str) -> String {
    let path = uri.find(&['?', '#'][..]).unwrap_or(uri.len());
    let (mut out, mut rest) = (String::new(), &uri[..path]);
    while !rest.is_empty() {
        let (segment, separator) = first_segment(rest);
        match dots(segment) {
            Some(dots) => (0..dots).for_each(|_| out.push(hidden('.'))),
            None => hide_refused(segment, &mut out),
        }
        hide_refused(&rest[segment.len()..segment.len() + separator], &mut out);
        rest = &rest[segment.len() + separator..];
    }
    hide_refused(&uri[path..], &mut out);
    out
}

pub(super) fn reveal(value: &str) -> String {
    let shown =
        |c: char| u32::from(c).checked_sub(DISGUISED).filter(|&c| c < 0x80).and_then(char::from_u32).unwrap_or(c);
    value.chars().map(shown).collect()
}

fn hidden(c: char) -> char {
    char::from_u32(DISGUISED + u32::from(c)).expect("it is ASCII")
}

/// Gives what comes before a slash or backslash, escaped or not, and how many bytes that has.
fn first_segment(path: &str) -> (&str, usize) {
    let length = |at: usize| match path.as_bytes()[at] {
        b'/' | b'\\' => Some(1),
        b'%' => escape(&path[at..]).filter(|c| "/\\".contains(*c)).map(|_| 3),
        _ => None,
    };
    let found = path.char_indices().find_map(|(at, _)| Some((at, length(at)?)));
    found.map_or((path, 0), |(at, length)| (&path[..at], length))
}

/// Gives how many dots a segment is of, if it is a dot segment.
fn dots(mut segment: &str) -> Option<usize> {
    for dots in 0..3 {
        segment = match segment.chars().next() {
            None => return Some(dots).filter(|&dots| dots > 0),
            Some('.') => &segment[1..],
            _ => escape(segment).filter(|&c| c == '.').map(|_| &segment[3..])?,
        };
    }
    None
}

fn hide_refused(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (found, size) = match escape(rest) {
            Some(escaped) if escaped.is_ascii_control() => (hidden(escaped), 3),
            _ if c <= ' ' || c == '\x7f' || "\"<>\\^`{|}".contains(c) => (hidden(c), 1),
            _ => (c, c.len_utf8()),
        };
        out.push(found);
        rest = &rest[size..];
    }
}

/// Gives the ASCII character that a text begins with as `%XX`.
fn escape(text: &str) -> Option<char> {
    let digits = text.strip_prefix('%')?.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii).map(char::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wasmres_refuses_is_hidden() {
        for (uri, want) in [
            ("a://b/../%2e%2E/.", "a://b/../../."),
            ("a://..%2f.%5C..\\x", "a://..%2f.%5C..\\x"),
            ("a://\x00%01%7f |é", "a://\x00\x01\x7f |é"),
        ] {
            let disguised = disguise(uri);
            assert_eq!(reveal(&disguised), want);
            assert!(!disguised.contains(&['\\', ' ', '|', '\0'][..]) && !disguised.contains(".."), "{}", disguised);
        }
        for uri in ["a://b..c/.../.d%20%C3%A9%zz%2", "a:///é/%2F?x=../y#/../", ""] {
            assert_eq!(disguise(uri), uri);
        }
    }

    #[test]
    fn uris_have_one_spelling() {
        assert_eq!(normal("a://grü%c3%9fe/%2f%"), "a://gr%C3%BC%C3%9Fe/%2F%");
    }
}
