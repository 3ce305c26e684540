//! Writes and reads protobuf-encoded messages, as far as the ABI needs them. It knows no message.

const NUMBER: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

/// The greatest number a field may have.
const MAX_FIELD: u64 = (1 << 29) - 1;

/// Collects the fields of a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Encoder { bytes: Vec::with_capacity(bytes) }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Adds a text, or nothing when it is empty.
    pub(crate) fn text(&mut self, field: u32, text: &str) {
        if !text.is_empty() {
            self.element(field, text.as_bytes());
        }
    }

    /// Adds a text or bytes, also when they are empty.
    pub(crate) fn element(&mut self, field: u32, bytes: &[u8]) {
        self.tag(field, BYTES);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a number, or nothing when it is zero.
    pub(crate) fn number(&mut self, field: u32, number: u64) {
        if number != 0 {
            self.tag(field, NUMBER);
            self.varint(number);
        }
    }

    /// Adds a flag, or nothing when it is not set.
    pub(crate) fn flag(&mut self, field: u32, set: bool) {
        self.number(field, set.into());
    }

    /// Adds a floating-point number, also when it is zero.
    pub(crate) fn double(&mut self, field: u32, number: f64) {
        self.tag(field, FIXED64);
        self.bytes.extend_from_slice(&number.to_bits().to_le_bytes());
    }

    /// Adds an embedded message with the fields that `write` adds.
    pub(crate) fn message(&mut self, field: u32, write: impl FnOnce(&mut Encoder)) {
        self.tag(field, BYTES);
        self.bytes.push(0);
        let start = self.bytes.len();
        write(self);
        self.close(start);
    }

    /// Puts the length before the message that begins at `start`, where one byte is left for it. Most messages are
    /// shorter than 128 bytes; others are moved a little.
    fn close(&mut self, start: usize) {
        let end = self.bytes.len();
        let size = end - start;
        if size < 0x80 {
            self.bytes[start - 1] = size as u8;
            return;
        }
        self.varint(size as u64);
        let width = self.bytes.len() - end;
        self.bytes[start - 1..].rotate_right(width);
        self.bytes.remove(start - 1 + width);
    }

    fn tag(&mut self, field: u32, kind: u64) {
        self.varint(u64::from(field) << 3 | kind);
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

/// A message, or a field of one, is not what it should be.
#[derive(Debug, PartialEq)]
pub(crate) struct Malformed;

pub(crate) type Decoded<T> = Result<T, Malformed>;

/// One field of a message. Its value is asked for with the type the field has; another one is malformed.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    value: Value<'a>,
}

#[derive(Debug)]
enum Value<'a> {
    Number(u64),
    Fixed64(u64),
    Fixed32, // no field that there is
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    pub(crate) fn u64(&self) -> Decoded<u64> {
        match self.value {
            Value::Number(number) => Ok(number),
            _ => Err(Malformed),
        }
    }

    pub(crate) fn u32(&self) -> Decoded<u32> {
        u32::try_from(self.u64()?).map_err(|_| Malformed)
    }

    pub(crate) fn flag(&self) -> Decoded<bool> {
        Ok(self.u64()? != 0)
    }

    pub(crate) fn double(&self) -> Decoded<f64> {
        match self.value {
            Value::Fixed64(bits) => Ok(f64::from_bits(bits)),
            _ => Err(Malformed),
        }
    }

    pub(crate) fn bytes(&self) -> Decoded<&'a [u8]> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(Malformed),
        }
    }

    pub(crate) fn text(&self) -> Decoded<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }
}

/// The fields of an encoded message, one after the other. It ends with the first that is malformed.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn of(message: &'a [u8]) -> Self {
        Fields { rest: message }
    }

    /// Gives what follows the fields that were given already.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn field(&mut self) -> Decoded<Field<'a>> {
        let tag = self.varint(5)?;
        let number = match tag >> 3 {
            number @ 1..=MAX_FIELD => number as u32,
            _ => return Err(Malformed),
        };
        let value = match tag & 7 {
            NUMBER => Value::Number(self.varint(10)?),
            FIXED64 => Value::Fixed64(self.fixed64()?),
            BYTES => {
                let size = usize::try_from(self.varint(5)?).map_err(|_| Malformed)?;
                Value::Bytes(self.split(size)?)
            }
            FIXED32 => self.split(4).map(|_| Value::Fixed32)?,
            _ => return Err(Malformed),
        };
        Ok(Field { number, value })
    }

    /// Reads a number of at most so many bytes.
    fn varint(&mut self, max: usize) -> Decoded<u64> {
        let mut number = 0;
        for (i, &byte) in self.rest.iter().take(max).enumerate() {
            if i == 9 && byte > 1 {
                return Err(Malformed);
            }
            number |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.rest = &self.rest[i + 1..];
                return Ok(number);
            }
        }
        Err(Malformed)
    }

    fn fixed64(&mut self) -> Decoded<u64> {
        let bytes = self.split(8)?.try_into().map_err(|_| Malformed)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn split(&mut self, size: usize) -> Decoded<&'a [u8]> {
        if size > self.rest.len() {
            return Err(Malformed);
        }
        let (head, rest) = self.rest.split_at(size);
        self.rest = rest;
        Ok(head)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Decoded<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_moved() {
        for size in [0, 1, 127, 128, 129, 16383, 16384, 1 << 21] {
            let text = "x".repeat(size);
            let mut got = Encoder::default();
            got.text(7, "before");
            got.message(1, |message| message.bytes.extend_from_slice(text.as_bytes()));
            let mut want = Encoder::default();
            want.text(7, "before");
            want.element(1, text.as_bytes());
            assert!(got.bytes == want.bytes, "{} bytes", size);
        }
    }

    #[test]
    fn messages_nest() {
        let long = "y".repeat(200);
        let mut encoder = Encoder::default();
        encoder.message(1, |outer| {
            outer.message(2, |inner| {
                inner.text(3, &long);
                inner.double(4, 0.5);
            });
            outer.number(5, 300);
        });
        let outer = Fields::of(encoder.as_bytes()).next().unwrap().unwrap();
        let outer: Vec<_> = Fields::of(outer.bytes().unwrap()).collect::<Result<_, _>>().unwrap();
        let inner: Vec<_> = Fields::of(outer[0].bytes().unwrap()).collect::<Result<_, _>>().unwrap();
        assert_eq!((inner[0].number, inner[0].text()), (3, Ok(long.as_str())));
        assert_eq!((inner[1].number, inner[1].double()), (4, Ok(0.5)));
        assert_eq!((outer[1].number, outer[1].u32()), (5, Ok(300)));
    }

    #[test]
    fn malformed_messages_are_refused() {
        let long = [&[0x08][..], &[0xff; 9], &[2]].concat();
        let short = ["\x08", "\x0a", "\x0a\x02a", "\x00\x01", "\x0b", "\x0c", "\x0e", "\x09\x00", "\x0d\x00"];
        let mut cases: Vec<&[u8]> = short.iter().map(|case| case.as_bytes()).collect();
        cases.extend([&b"\x0a\xff"[..], b"\x88\x80\x80\x80\x80\x00\x01", &long]);
        for case in cases {
            let fields: Vec<_> = Fields::of(case).collect();
            assert!(matches!(fields[..], [Err(Malformed)]), "{:x?}: {:?}", case, fields);
        }
    }

    /// Every prefix of a message, and every message with one byte changed, is decoded without a panic.
    #[test]
    fn damaged_messages_do_no_harm() {
        let message =
            b"\x0a\x03a://\x10\x01\x1a\x05\x0a\x03abc\x21\x01\x02\x03\x04\x05\x06\x07\x08\x2d\x01\x02\x03\x04";
        for cut in 0..message.len() {
            Fields::of(&message[..cut]).for_each(drop);
            for byte in 0..=255 {
                let mut damaged = message.to_vec();
                damaged[cut] = byte;
                let size: usize = Fields::of(&damaged).flatten().map(|f| f.bytes().map_or(0, <[u8]>::len)).sum();
                assert!(size <= damaged.len());
            }
        }
    }
}
