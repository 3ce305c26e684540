// Most texts are ASCII: those parts are converted four units at a time, and the rest by the standard library.

const NOT_ASCII_UNITS: u64 = 0xff80_ff80_ff80_ff80;
const NOT_ASCII_BYTES: u32 = 0x8080_8080;

/** Encodes `units` UTF-16 units as UTF-8, at most three bytes for each, and answers how many bytes that were. */
export function encodeText(from: usize, units: u32, to: usize): u32 {
  const end = from + (<usize>units << 1);
  let at = to;
  for (; from + 8 <= end; from += 8, at += 4) {
    const four = load<u64>(from);
    if ((four & NOT_ASCII_UNITS) != 0) break;
    const pairs = (four | four >> 8) & 0x0000_ffff_0000_ffff;
    store<u32>(at, <u32>(pairs | pairs >> 16));
  }
  for (; from < end; from += 2, at++) {
    const unit = load<u16>(from);
    if (unit > 0x7f) return <u32>(at - to) + encodeAny(from, <u32>(end - from) >> 1, at);
    store<u8>(at, <u8>unit);
  }
  return <u32>(at - to);
}

/** Is `encodeText` for any text. A lone surrogate becomes U+FFFD. */
function encodeAny(from: usize, units: u32, to: usize): u32 {
  return <u32>String.UTF8.encodeUnsafe(from, units, to, false, String.UTF8.ErrorMode.REPLACE);
}

/** Gives a text as UTF-8, in memory of its own. */
export function utf8(text: string): Uint8Array {
  return Uint8Array.wrap(String.UTF8.encode(text, false, String.UTF8.ErrorMode.REPLACE));
}

/** Decodes UTF-8. What is none becomes other text, never more than a unit for each byte. */
export function decodeText(from: usize, length: u32): string {
  if (length == 0) return "";
  if (!isASCII(from, length)) return String.UTF8.decodeUnsafe(from, length);
  const text = changetype<string>(__new(<usize>length << 1, idof<string>()));
  widen(from, length, changetype<usize>(text));
  return text;
}

function isASCII(at: usize, length: u32): bool {
  const end = at + length;
  for (; at + 4 <= end; at += 4) if ((load<u32>(at) & NOT_ASCII_BYTES) != 0) return false;
  for (; at < end; at++) if (load<u8>(at) > 0x7f) return false;
  return true;
}

/** Makes a UTF-16 unit of each byte. */
function widen(from: usize, length: u32, to: usize): void {
  const end = from + length;
  for (; from + 4 <= end; from += 4, to += 8) {
    const pairs = <u64>load<u32>(from);
    const four = (pairs | pairs << 16) & 0x0000_ffff_0000_ffff;
    store<u64>(to, (four | four << 8) & 0x00ff_00ff_00ff_00ff);
  }
  for (; from < end; from++, to += 2) store<u16>(to, load<u8>(from));
}

/** Whether bytes are UTF-8 without zeros. */
export function isText(at: usize, length: u32): bool {
  const end = at + length;
  while (at < end) {
    const size = characterSize(at, end);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

/** How many bytes the character at `at` has; 0 when it is none. */
function characterSize(at: usize, end: usize): usize {
  const first = load<u8>(at);
  if (first < 0x80) return first > 0 ? 1 : 0;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size: usize = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + size > end) return 0;
  const second = load<u8>(at, 1);
  if (second < (first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80)) return 0;
  if (second > (first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf)) return 0;
  for (let i: usize = 2; i < size; i++) if ((load<u8>(at + i) & 0xc0) != 0x80) return 0;
  return size;
}
