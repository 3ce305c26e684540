import * as abi from "./abi";
import { Encoder } from "./encoder";
import { Failure, Reply } from "./failure";
import * as out from "./out";
import { Request } from "./request";
import { Route } from "./route";
import { Source, Writer } from "./source";
import { stamp } from "./time";

const INLINE: i64 = 4 << 10; // bytes or UTF-16 units that travel with the content's head

/** A text. A lone surrogate becomes U+FFFD. */
export function text(text: string): Content {
  const c = new Content(abi.KIND_TEXT);
  c.words = text;
  return c;
}

/** Bytes. They must not change before the handler has returned. */
export function bytes(bytes: Uint8Array): Content {
  const c = new Content(abi.KIND_BLOB);
  c.data = bytes;
  return c;
}

/** Bytes that a source writes, without holding them in memory. */
export function stream(source: Source): Content {
  const c = new Content(abi.KIND_BLOB);
  c.source = source;
  return c;
}

/** Several contents at once. None at all is not found. */
export function contents(all: Content[]): Contents { return new Contents(all); }

/** What the asker has, `Request.ifNoneMatch`, is current. */
export function notModified(etag: string): Content { return new Content(abi.KIND_NONE).etag(etag); }

/** Contents are several answers to one read; each names its own URI. */
export class Contents extends Reply {
  constructor(readonly all: Content[]) { super(); }
}

/**
 * A Content is one piece of what a read answers, made by `text`, `bytes`, `stream` or `notModified`. Its methods return
 * it, so that they chain.
 */
export class Content extends Reply {
  /** @internal The bytes, when there are neither data nor a source. */
  words: string = "";
  /** @internal */
  data: Uint8Array | null = null;
  /** @internal */
  source: Source | null = null;

  private ofURI: string = "";
  private type: string = "";
  private version: string = "";
  private modified: i64 = 0;
  private json: string = "";
  private total: i64 = 0; // of the whole, when this is a range
  private first: i64 = 0; // of data or source: where the range begins
  private count: i64 = -1; // and how many bytes it has; -1 for all

  constructor(private kind: u32) { super(); }

  /** Says that bytes, or a stream, are UTF-8 text. */
  asText(): this {
    if (this.kind == abi.KIND_BLOB) this.kind = abi.KIND_TEXT;
    return this;
  }

  /** Names the resource this is of; without it, the one that was asked for. */
  uri(uri: string): this {
    this.ofURI = uri;
    return this;
  }

  /** Sets the type; without it the route's counts. */
  mime(type: string): this {
    this.type = type;
    return this;
  }

  /** Names this version. A sole content with the asker's etag is answered without its bytes. */
  etag(etag: string): this {
    this.version = etag;
    return this;
  }

  /** Tells when it changed last, in milliseconds since 1970-01-01 UTC; 0 for unknown. */
  lastModified(ms: i64): this {
    this.modified = ms;
    return this;
  }

  /** Sets the content's `_meta`, a JSON object. */
  meta(json: string): this {
    this.json = json;
    return this;
  }

  /** Says that this is just the range that was asked for, of `total` bytes: see `Request.rangeOffset`. */
  rangeOf(total: i64): this {
    this.total = max<i64>(total, 0);
    return this;
  }

  /** @internal Leaves the bytes out if they are those the asker has. */
  compare(etag: string): void {
    if (this.version.length > 0 && this.version == etag) this.kind = abi.KIND_NONE;
  }

  /** @internal Sends the content, head and bytes. */
  send(r: Request, route: Route): Failure | null {
    if (route.inRanges) this.cut(r);
    return this.sendWhole(r, route);
  }

  /** @internal Is `send`, whatever part is asked for. */
  sendWhole(r: Request, route: Route): Failure | null {
    const length = this.length();
    if (r.maxBytes > 0 && length > r.maxBytes) return new Failure(abi.CODE_TOO_LARGE);
    const inline = this.isInline(length);
    this.encodeHead(r, route, length, inline);
    if (inline) {
      out.flushFull();
      return null;
    }
    return out.flush() ? this.push() : null;
  }

  /** Reduces bytes, and a source that can, to the range that is asked for. */
  private cut(r: Request): void {
    if (r.rangeOffset == 0 && r.rangeLength == 0 || this.total > 0) return;
    const size = this.length();
    if (size == 0) return;
    const first = min(r.rangeOffset, size);
    const source = this.source;
    if (source !== null && first > 0 && !source.skip(first)) return;
    this.first = first;
    this.count = r.rangeLength > 0 ? min(r.rangeLength, size - first) : size - first;
    this.total = size;
  }

  /** How many bytes are to be sent; 0 when that is unknown, as of a string. */
  private length(): i64 {
    if (this.kind == abi.KIND_NONE) return 0;
    if (this.count >= 0) return this.count;
    const source = this.source;
    if (source !== null) return max<i64>(source.size, 0);
    const data = this.data;
    return data !== null ? data.length : 0;
  }

  private isInline(length: i64): bool {
    if (this.kind == abi.KIND_NONE) return true;
    if (this.source !== null) return false;
    return this.data !== null ? length <= INLINE : this.words.length <= INLINE;
  }

  private encodeHead(r: Request, route: Route, length: i64, inline: bool): void {
    const frame = out.frame;
    const content = frame.begin(3);
    frame.text(1, this.ofURI.length > 0 ? this.ofURI : r.uri);
    if (this.kind != abi.KIND_NONE) frame.text(2, this.typeFor(route));
    if (!inline) frame.number(5, this.kind).number(6, length);
    else if (this.kind != abi.KIND_NONE) this.encodeInline(frame, <u32>length);
    frame.text(7, this.version).text(8, stamp(this.modified)).text(9, this.json);
    frame.flag(10, this.kind == abi.KIND_NONE).number(11, this.total).end(content);
  }

  private encodeInline(frame: Encoder, length: u32): void {
    const data = this.data;
    if (data === null) frame.element(3, this.words);
    else frame.blob(this.kind == abi.KIND_TEXT ? 3 : 4, data.dataStart + <usize>this.first, length);
  }

  /** Pushes the bytes. */
  private push(): Failure | null {
    const source = this.source;
    if (source !== null) return this.pushSource(source);
    const data = this.data;
    if (data !== null) {
      out.body(data.dataStart + <usize>this.first, <u32>this.length());
      return null;
    }
    const w = new Writer();
    if (w.text(this.words)) w.flush();
    return null;
  }

  private pushSource(source: Source): Failure | null {
    if (this.count == 0) return null;
    const w = new Writer(this.count);
    const failure = source.write(w);
    if (failure === null) w.flush();
    return failure;
  }

  private typeFor(route: Route): string {
    if (this.type.length > 0) return this.type;
    const type = route.entry.mimeType;
    if (type.length > 0) return type;
    return this.kind == abi.KIND_TEXT ? "text/plain" : "application/octet-stream";
  }
}
