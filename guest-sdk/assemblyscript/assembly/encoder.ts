import { encodeText } from "./text";

/** How values are encoded. */
export namespace Wire {
  export const Number: u32 = 0;
  export const Fixed64: u32 = 1;
  export const Bytes: u32 = 2;
  export const Fixed32: u32 = 5;
}

/** Bytes that `begin` leaves for the length of a message: enough for a whole frame. */
const LENGTH: u32 = 3;

/**
 * An Encoder collects encoded fields in a buffer that grows as needed and is used again. Field numbers are 1 to 15, as
 * all are that guests write, so that a tag is one byte.
 */
export class Encoder {
  private used: u32 = 0;
  private grown: bool = false;

  /** Starts with the buffer of `room` bytes at `start`, which is the caller's. */
  constructor(private start: usize, private room: u32) {}

  get bytes(): usize { return this.start; }

  get length(): u32 { return this.used; }

  reset(): this {
    this.used = 0;
    return this;
  }

  /** Adds a text, or nothing when it is empty. */
  text(field: u32, text: string): this {
    return text.length > 0 ? this.element(field, text) : this;
  }

  /** Adds a text, even when it is empty. */
  element(field: u32, text: string): this {
    const most = <u32>text.length * 3;
    let at = this.reserve(6 + most);
    store<u8>(at++, field << 3 | Wire.Bytes);
    const head = most < 1 << 7 ? 1 : most < 1 << 14 ? 2 : most < 1 << 21 ? 3 : 5;
    const length = encodeText(changetype<usize>(text), text.length, at + head);
    putPadded(at, length, head);
    this.used = <u32>(at + head + length - this.start);
    return this;
  }

  /** Adds the `length` bytes at `bytes`, even when there are none. */
  blob(field: u32, bytes: usize, length: u32): this {
    const at = this.reserve(6 + length);
    store<u8>(at, field << 3 | Wire.Bytes);
    putPadded(at + 1, length, 5);
    memory.copy(at + 6, bytes, length);
    this.used += 6 + length;
    return this;
  }

  /** Adds a number, or nothing when it is zero. */
  number(field: u32, value: u64): this {
    if (value == 0) return this;
    let at = this.reserve(11);
    store<u8>(at++, field << 3 | Wire.Number);
    for (; value >= 0x80; value >>= 7) store<u8>(at++, <u8>value | 0x80);
    store<u8>(at++, <u8>value);
    this.used = <u32>(at - this.start);
    return this;
  }

  flag(field: u32, value: bool): this { return this.number(field, <u64>value); }

  /** Adds a double, even when it is zero. */
  double(field: u32, value: f64): this {
    const at = this.reserve(9);
    store<u8>(at, field << 3 | Wire.Fixed64);
    store<f64>(at + 1, value);
    this.used += 9;
    return this;
  }

  /** Opens a message, to which belongs what is added until `end` is called with what this answers. */
  begin(field: u32): u32 {
    const at = this.reserve(1 + LENGTH);
    store<u8>(at, field << 3 | Wire.Bytes);
    return this.used += 1 + LENGTH;
  }

  /** Closes the message that `begin` opened. */
  end(begun: u32): this {
    putPadded(this.start + begun - LENGTH, this.used - begun, LENGTH);
    return this;
  }

  /** Makes room for `length` more bytes and says where they go. */
  private reserve(length: u32): usize {
    if (this.used + length > this.room) this.grow(this.used + length);
    return this.start + this.used;
  }

  private grow(least: u32): void {
    const room = max(least, this.room * 2);
    const start = heap.alloc(room);
    memory.copy(start, this.start, this.used);
    if (this.grown) heap.free(this.start);
    this.start = start;
    this.room = room;
    this.grown = true;
  }
}

/** Writes a number in exactly `size` bytes. */
function putPadded(at: usize, value: u32, size: u32): void {
  for (let last = at + size - 1; at < last; value >>= 7) store<u8>(at++, <u8>value | 0x80);
  store<u8>(at, <u8>value & 0x7f);
}
