//! Texts as bytes, without regard to capital letters.

/// Classes of bytes, one bit each.
pub mod class {
    /// Of a name of a setting.
    pub const NAME: u8 = 1;
    /// Of a token of a service.
    pub const TOKEN: u8 = 2;
    /// Spaces, quotes and brackets.
    pub const WORD_END: u8 = 4;
    /// What ends the host of a URL.
    pub const AUTHORITY_END: u8 = 8;
    /// A small letter that a part of the name of a secret begins with.
    pub const STRONG: u8 = 16;
}

const CLASSES: [u8; 256] = {
    use class::*;
    let classes = with([0; 256], b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.", NAME | TOKEN);
    let classes = with(classes, b"+/=$:{}~", TOKEN);
    let classes = with(classes, b" \t\r\n\"'`<>", WORD_END | AUTHORITY_END);
    let classes = with(classes, b"/?#", AUTHORITY_END);
    with(classes, b"pscaemw", STRONG)
};

const fn with(mut classes: [u8; 256], bytes: &[u8], class: u8) -> [u8; 256] {
    let mut i = 0;
    while i < bytes.len() {
        classes[bytes[i] as usize] |= class;
        i += 1;
    }
    classes
}

/// Reports whether a byte is of a class.
pub fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

pub fn starts_with(text: &[u8], prefix: &str) -> bool {
    text.get(..prefix.len()).map_or(false, |head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

pub fn ends_with(text: &[u8], suffix: &str) -> bool {
    text.len() >= suffix.len() && text[text.len() - suffix.len()..].eq_ignore_ascii_case(suffix.as_bytes())
}

/// Finds a text exactly as it is written.
pub fn find(text: &[u8], part: &str) -> Option<usize> {
    let (part, mut from) = (part.as_bytes(), 0);
    loop {
        from += text[from..].iter().position(|&byte| byte == part[0])?;
        if text[from..].starts_with(part) {
            return Some(from);
        }
        from += 1;
    }
}

/// Reports whether a word is in a list.
pub fn lists(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|item| item.len() == word.len() && item.as_bytes().eq_ignore_ascii_case(word))
}
