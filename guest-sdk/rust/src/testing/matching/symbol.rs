//! URIs in normal form.

/// One character of a URI in normal form: a Unicode character, or `ESCAPED` and an octet that has to stay escaped, or
/// `BROKEN` for a percent sign that begins no escape.
pub(super) type Symbol = u32;

const ESCAPED: Symbol = 0x11_0000;
const BROKEN: Symbol = 0x11_0100;

/// What a value may hold beside what is not ASCII, or escaped.
pub(super) const UNRESERVED: &str = "-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Gives a text in normal form: escaped unreserved and non-ASCII characters as themselves, all else as it is.
pub(super) fn symbols(text: &str) -> Vec<Symbol> {
    let (mut symbols, mut rest) = (Vec::new(), text);
    while let Some(c) = rest.chars().next() {
        let (symbol, size) = if c == '%' { unescape(rest) } else { (c.into(), c.len_utf8()) };
        symbols.push(symbol);
        rest = &rest[size..];
    }
    symbols
}

/// Gives the first symbol of a text that begins with a percent sign, and how many bytes it takes.
fn unescape(text: &str) -> (Symbol, usize) {
    let octets: Vec<u8> = text.as_bytes().chunks(3).take(4).map_while(octet).collect();
    match octets.first() {
        None => (BROKEN, 1),
        Some(&octet) if octet.is_ascii() && UNRESERVED.contains(char::from(octet)) => (octet.into(), 3),
        Some(&octet) => {
            let whole = (2..=octets.len()).find_map(|size| std::str::from_utf8(&octets[..size]).ok());
            match whole.filter(|_| !octet.is_ascii()).and_then(|text| text.chars().next()) {
                Some(c) => (c.into(), 3 * c.len_utf8()),
                None => (ESCAPED + Symbol::from(octet), 3),
            }
        }
    }
}

/// Reads `%XX`.
fn octet(escape: &[u8]) -> Option<u8> {
    match *escape {
        [b'%', high, low] => {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            Some((digit(high)? << 4 | digit(low)?) as u8)
        }
        _ => None,
    }
}

/// Reports whether a value may hold a symbol, given the ASCII it may hold: no control characters and nothing broken.
pub(super) fn may_hold(ascii: &str, symbol: Symbol) -> bool {
    match char::from_u32(symbol) {
        Some(c) if c.is_ascii() => ascii.contains(c),
        Some(c) => !c.is_control(),
        None => (0x20..0x7f).contains(&symbol.wrapping_sub(ESCAPED)),
    }
}

/// Gives what a text begins with that can be part of a variable's name.
pub(super) fn key(text: &[Symbol]) -> Vec<Symbol> {
    let is_part = |&&symbol: &&Symbol| match char::from_u32(symbol) {
        Some(c) if c.is_ascii() => UNRESERVED.contains(c),
        _ => symbol < BROKEN,
    };
    text.iter().take_while(is_part).copied().collect()
}

/// Gives a text without escapes, of symbols that a value may hold.
pub(super) fn decode(text: &[Symbol]) -> String {
    let plain = |&symbol: &Symbol| char::from_u32(if symbol >= ESCAPED { symbol - ESCAPED } else { symbol });
    text.iter().filter_map(plain).collect()
}
