import * as abi from "./abi";
import { Decoder } from "./decoder";
import { Code, Failure, internal } from "./failure";
import * as host from "./host";
import { fits, parseWhole, wasWhole } from "./number";
import * as service from "./service";
import { Source, Writer } from "./source";
import { decodeText } from "./text";

const FIELDS: i32 = 256; // that a header may have
const WHOLE: i32 = 8 << 20; // bytes of a body that `bytes` holds
const LEAST: i32 = 8 << 10; // bytes of a part there is room for, at least
const PART: i32 = 1 << 20; // bytes of a part, at most

/** An HTTPField is one field of a header. */
export class HTTPField {
  constructor(readonly name: string, readonly value: string) {}
}

/**
 * An HTTPResponse is what a server answered, whatever its status: see `failure`.
 *
 * It is a source: `stream(response)` hands the body on to the client while it arrives, and fails with `failure`, as for
 * a status that is no success. Otherwise the body is read once, by one of `read`, `bytes` and `text`.
 */
export class HTTPResponse extends Source {
  /** Of three digits; 0 when there was no answer. */
  status: i32 = 0;
  /** The URL that answered, after redirects. */
  url: string = "";
  /** The fields of the header. */
  headers: HTTPField[] = [];

  private broken: Failure | null = null; // why there is no answer, or no more of it
  private number: u64 = 0; // by which the host gives the next part; 0 when there is none
  private part: ArrayBuffer = new ArrayBuffer(0);
  private at: i32 = 0; // of what is to be read of the part
  private end: i32 = 0;

  /** @internal Takes what the host has answered with this code. */
  constructor(code: u32) {
    super();
    if (code != abi.CODE_OK) this.broken = new Failure(code);
    else if (this.decode(service.response())) this.take();
    else this.stop(internal());
  }

  /**
   * Why this is no success; null while it is one. Without an answer that is what the host says: `Code.Denied` when the
   * operator did not grant this, `Code.Unavailable` when nobody answered, `Code.Deadline` when nobody did in time,
   * `Code.Invalid` when the request makes no sense, `Code.TooLarge` when it is too large.
   *
   * Of a status other than those from 200 to 299 it is the class that the status belongs to, with the seconds of
   * `Retry-After`. When the body breaks off, or has more bytes than are granted, it is that. A handler may answer it.
   */
  get failure(): Failure | null {
    const broken = this.broken;
    if (broken !== null) return broken;
    if (this.status >= 200 && this.status < 300) return null;
    return new Failure(codeOf(this.status), `the server answers ${this.status}`).retryAfter(this.retryAfter());
  }

  /** The value of the first field of the header by this name, in either case; empty when there is none. */
  header(name: string): string {
    const wanted = name.toLowerCase();
    for (let i = 0; i < this.headers.length; i++) {
      if (this.headers[i].name.toLowerCase() == wanted) return this.headers[i].value;
    }
    return "";
  }

  /** Reads bytes of the body and says how many; 0 at the end, and -1 for `failure`. */
  read(to: Uint8Array): i32 {
    if (!this.more()) return this.broken === null ? 0 : -1;
    const n = min(this.end - this.at, to.length);
    memory.copy(to.dataStart, this.unread, n);
    this.at += n;
    return n;
  }

  /** Reads the body to memory, whatever the status: at most 8 MiB. Null for `failure`. */
  bytes(): Uint8Array | null {
    let all = new Uint8Array(0);
    let filled = 0;
    while (this.more()) {
      const n = this.end - this.at;
      const least = filled + n;
      if (least > WHOLE) this.stop(new Failure(Code.TooLarge));
      else if (least > all.length) all = grown(all, this.number == 0 ? least : min(2 * least, WHOLE));
      filled += max(this.read(all.subarray(filled)), 0);
    }
    return this.broken === null ? all.subarray(0, filled) : null;
  }

  /** Reads the body to memory, as UTF-8, like `bytes`. Other bytes become other text. */
  text(): string | null {
    const all = this.bytes();
    return all !== null ? decodeText(all.dataStart, all.length) : null;
  }

  write(w: Writer): Failure | null {
    while (this.failure === null && this.more()) {
      const begin = this.unread;
      const length = this.end - this.at;
      this.at = this.end;
      if (!w.raw(begin, length)) break;
    }
    return this.failure;
  }

  private get unread(): usize { return changetype<usize>(this.part) + this.at; }

  private decode(d: Decoder): bool {
    while (d.next() && this.headers.length <= FIELDS) {
      switch (d.field) {
        case 1: this.status = <i32>d.small(); break;
        case 2: this.headers.push(fieldOf(d)); break;
        case 3: this.url = d.text(); break;
        case 4: this.number = d.number(); break;
      }
    }
    return d.ok && this.headers.length <= FIELDS && this.status >= 100 && this.status < 1000;
  }

  /** Whether there is something to read. The next part is fetched if need be. */
  private more(): bool {
    while (this.at == this.end && this.number != 0) this.fetch();
    return this.at < this.end;
  }

  /** Fetches the next part. */
  private fetch(): void {
    service.request().number(1, this.number);
    const code = service.call(abi.SERVICE_STREAM);
    if (code != abi.CODE_OK) return this.stop(new Failure(code));
    let more = false;
    const d = service.response();
    while (d.next()) if (d.field == 1) more = d.number() != 0;
    if (!d.ok) return this.stop(internal());
    if (!more) this.number = 0;
    this.take();
  }

  /** Takes over what the host has beside its answer, which is gone with the next call of a service. */
  private take(): void {
    this.at = 0;
    this.end = 0;
    for (;;) {
      const room = this.part.byteLength;
      this.end += host.take(abi.CHANNEL_BODY, changetype<usize>(this.part) + this.end, this.end, room - this.end);
      if (this.end < room || room >= PART) return;
      const part = new ArrayBuffer(max(LEAST, min(4 * room, PART)));
      memory.copy(changetype<usize>(part), changetype<usize>(this.part), room);
      this.part = part;
    }
  }

  private stop(why: Failure): void {
    this.broken = why;
    this.number = 0;
    this.at = this.end;
  }

  /** What the server says in Retry-After, in milliseconds; 0 when that is no number of seconds. */
  private retryAfter(): i64 {
    const seconds = parseWhole(this.header("Retry-After"));
    const isMeant = codeOf(this.status) == Code.Unavailable && wasWhole && seconds > 0 && fits<i32>(seconds);
    return isMeant ? seconds * 1000 : 0;
  }
}

/** The class that a status which is no success belongs to. */
function codeOf(status: i32): u32 {
  switch (status) {
    case 404: case 410: return Code.NotFound;
    case 401: case 403: return Code.Denied;
    case 408: case 429: return Code.Unavailable;
  }
  return status >= 500 ? Code.Unavailable : Code.Internal;
}

function fieldOf(outer: Decoder): HTTPField {
  const d = outer.message();
  let name = "";
  let value = "";
  while (d.next()) {
    if (d.field == 1) name = d.text();
    else if (d.field == 2) value = d.text();
  }
  outer.ok = outer.ok && d.ok;
  return new HTTPField(name, value);
}

function grown(bytes: Uint8Array, length: i32): Uint8Array {
  const more = new Uint8Array(length);
  more.set(bytes);
  return more;
}
