import { Wire } from "./encoder";
import { decodeText } from "./text";

const SHORT: u64 = 5 * 7; // bits of a tag or a length
const LONG: u64 = 10 * 7; // bits of any other number

/**
 * A Decoder reads a message field by field:
 *
 *     while (d.next()) if (d.field == 1) uri = d.text();
 *     return d.ok;
 *
 * Fields that nobody asks the value of are skipped. It never reads past its input.
 */
export class Decoder {
  /** The number of the field that `next` has met. */
  field: u32 = 0;
  /** Whether everything so far was well formed. */
  ok: bool = true;

  private type: u32 = 0;
  private bits: u64 = 0;
  private bytes: usize = 0; // of a field of type Bytes: where they begin
  private length: u32 = 0;

  constructor(private at: usize, private end: usize) {}

  /** Goes to the next field; false at the end and before anything malformed. */
  next(): bool {
    if (!this.ok || this.at == this.end) return false;
    const tag = this.varint(SHORT);
    this.type = <u32>tag & 7;
    this.field = <u32>(tag >> 3);
    if (tag >> 3 == 0 || tag >> 32 != 0) return this.ok = false;
    switch (this.type) {
      case Wire.Number: this.bits = this.varint(LONG); break;
      case Wire.Fixed64: this.span(8); break;
      case Wire.Fixed32: this.span(4); break;
      case Wire.Bytes: this.span(this.varint(SHORT)); break;
      default: this.ok = false;
    }
    return this.ok;
  }

  /** Gives the field's value, a text. */
  text(): string {
    return this.expect(Wire.Bytes) ? decodeText(this.bytes, this.length) : "";
  }

  /** Gives the field's value, a number. */
  number(): u64 {
    return this.expect(Wire.Number) ? this.bits : 0;
  }

  /** Gives the field's value, a number of 32 bits. */
  small(): u32 {
    const value = this.number();
    if (value >> 32 != 0) this.ok = false;
    return <u32>value;
  }

  /** Gives the field's value, a double. */
  double(): f64 {
    return this.expect(Wire.Fixed64) ? load<f64>(this.bytes) : 0;
  }

  /** Says where the field's value, a text or bytes, begins; `size` says how many bytes it has. */
  blob(): usize {
    return this.expect(Wire.Bytes) ? this.bytes : 0;
  }

  /** Bytes of the value that `blob` has found. */
  get size(): u32 { return this.length; }

  /** Gives the field's value, a message. */
  message(): Decoder { return new Decoder(0, 0).enter(this); }

  /** Begins anew, with the message that is the value of the other's field. */
  enter(other: Decoder): this {
    this.at = other.blob();
    this.end = other.ok ? this.at + other.length : this.at;
    this.ok = true;
    return this;
  }

  private expect(type: u32): bool {
    if (this.type != type) this.ok = false;
    return this.type == type;
  }

  /** Passes over the bytes of a value. */
  private span(length: u64): void {
    if (length > <u64>(this.end - this.at)) {
      this.ok = false;
      return;
    }
    this.bytes = this.at;
    this.length = <u32>length;
    this.at += <usize>length;
  }

  /** Reads a number of seven bits for each byte, `bits` at most. */
  private varint(bits: u64): u64 {
    let value: u64 = 0;
    for (let shift: u64 = 0; shift < bits && this.at < this.end; shift += 7) {
      const byte = <u64>load<u8>(this.at++);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    this.ok = false;
    return 0;
  }
}
