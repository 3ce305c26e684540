import * as host from "./host";
import * as out from "./out";
import { Failure } from "./failure";
import { encodeText } from "./text";

// Bytes that a `Writer` collects; a multiple of 3, as base64 likes.
const CHUNK: u32 = 49152;
const chunk = memory.data(49152);

/**
 * A Source writes a content too large for memory, piece by piece. What it needs to know it has in its fields:
 *
 *     class Lines extends Source {
 *       constructor(private count: i32) { super(); }
 *       write(w: Writer): Failure | null {
 *         for (let i = 0; i < this.count; i++) if (!w.text(line(i))) break;
 *         return null;
 *       }
 *     }
 */
export abstract class Source {
  /** How many bytes there are in all; -1 when that is unknown. */
  size: i64 = -1;

  /**
   * Asked before `write`, when a client wants only a part: to leave out the first `bytes` bytes, at most `size`. True
   * when `write` will. A source that answers false, or does not know its size, writes everything, and the host cuts it.
   */
  skip(bytes: i64): bool { return false; }

  /** Writes the content, until the end or until a method of `w` answers false. A failure discards what was written. */
  abstract write(w: Writer): Failure | null;
}

/**
 * A Writer takes what a `Source` writes and hands it to the host by and by. Its methods answer false when the host
 * wants no more: return soon. It allocates nothing.
 */
export class Writer {
  private used: u32 = 0;
  private left: u64;

  /** @internal Takes `count` bytes, or without end when negative; what is written beyond them is dropped. */
  constructor(count: i64 = -1) { this.left = <u64>count; }

  /** Writes a text as UTF-8. */
  text(text: string): bool {
    const end = changetype<usize>(text) + (<usize>text.length << 1);
    for (let at = changetype<usize>(text); at < end;) {
      if (CHUNK - this.used < 6 && !this.flush()) return false;
      let units = min(<u32>(end - at) >> 1, (CHUNK - this.used) / 3);
      if (at + (units << 1) < end && (load<u16>(at + (units - 1 << 1)) & 0xfc00) == 0xd800) units--; // keep pairs whole
      this.used += encodeText(at, units, chunk + this.used);
      at += units << 1;
    }
    return !this.done();
  }

  /** Writes the first `length` bytes, or all. */
  bytes(bytes: Uint8Array, length: i32 = bytes.length): bool {
    if (length < 0 || length > bytes.length) throw new RangeError("wasmres: Writer.bytes: no such length");
    return this.raw(bytes.dataStart, length);
  }

  /** Writes one byte. */
  byte(byte: u8): bool {
    if (this.used == CHUNK && !this.flush()) return false;
    store<u8>(chunk + this.used++, byte);
    return true;
  }

  /** @internal Writes the `length` bytes at `bytes`. */
  raw(bytes: usize, length: u32): bool {
    if (length > CHUNK - this.used && !this.flush()) return false;
    if (length > CHUNK) return this.send(bytes, length);
    memory.copy(chunk + this.used, bytes, length);
    this.used += length;
    return !this.done();
  }

  /** @internal How many more bytes are wanted. */
  get wanted(): u64 { return this.done() ? 0 : this.left - this.used; }

  /** @internal Writes the whole of a channel of the host, and says how many bytes that were. */
  take(channel: u32): u32 {
    let taken: u32 = 0;
    while (this.wanted > 0) {
      if (this.used == CHUNK && !this.flush()) break;
      const n = host.take(channel, chunk + this.used, taken, CHUNK - this.used);
      if (n == 0) break;
      this.used += n;
      taken += n;
    }
    return taken;
  }

  /** @internal Hands over what is collected. */
  flush(): bool {
    const used = this.used;
    this.used = 0;
    return this.send(chunk, used);
  }

  private send(bytes: usize, length: u32): bool {
    const n = <u32>min<u64>(length, this.left);
    this.left -= n;
    return out.body(bytes, n) && this.left > 0;
  }

  private done(): bool { return out.stopped() || this.used >= this.left; }
}
