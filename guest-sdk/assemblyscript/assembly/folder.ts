import * as abi from "./abi";
import { bytes, Content, text } from "./content";
import { Failure, internal, Reply } from "./failure";
import { Dir, FileInfo } from "./files";
import * as host from "./host";
import * as out from "./out";
import { Request } from "./request";
import { Route } from "./route";
import { isText, utf8 } from "./text";

const FILES: i32 = 100; // answered when nothing is said
const BYTES: i64 = 1 << 20; // of them together
const ENTRIES: i32 = 10_000; // that are looked at
const NAMES: i32 = 10; // of files left out that are told
const URI: i32 = 2048; // bytes of a URI
const PIECE: i64 = 64 << 10; // bytes that are fetched at once
const HEAD: i32 = 1 << 10; // bytes that the type is told by

/**
 * Gives the type of a file by its name and its first bytes, 1 KiB at most. `isText` says whether the whole file is UTF-8
 * without zeros. Empty stands for `text/plain` or `application/octet-stream`.
 */
export type FileType = (name: string, head: Uint8Array, isText: bool) => string;

/** FolderOptions bound what `Dir.folder` answers. Its methods return it, so that they chain. */
export class FolderOptions {
  /** @internal */
  files: i32 = FILES;
  /** @internal */
  bytes: i64 = BYTES;
  /** @internal */
  showsHidden: bool = false;
  /** @internal */
  type: FileType | null = null;

  /** How many files are answered; without it, 100. */
  maxFiles(count: i32): this {
    this.files = count > 0 ? count : FILES;
    return this;
  }

  /** How many bytes they may have together; without it, 1 MiB. */
  maxBytes(bytes: i64): this {
    this.bytes = bytes > 0 ? bytes : BYTES;
    return this;
  }

  /** Has files answered whose names begin with a dot. */
  hidden(): this {
    this.showsHidden = true;
    return this;
  }

  /** Sets what gives the types of files. */
  mime(type: FileType): this {
    this.type = type;
    return this;
  }
}

/** A List gives the files of a folder one by one, in the order of their names. */
class List {
  /** There are entries that were not looked at, when `next` has answered null. */
  more: bool = true;
  failure: Failure | null = null;

  private page: FileInfo[] = [];
  private at: i32 = 0; // in page
  private last: string = "";
  private seen: i32 = 0;

  constructor(readonly dir: Dir, readonly name: string, private hidden: bool) {}

  /** Gets the next page. False for `failure`. */
  fetch(): bool {
    const page = this.dir.page(this.name, this.last);
    if (page === null) {
      this.failure = this.dir.failure;
      return false;
    }
    this.page = page;
    this.at = 0;
    this.more = this.dir.more;
    const last = page.length > 0 ? page[page.length - 1].name : "";
    if ((page.length > 0 || this.more) && last == this.last) this.failure = internal(); // it would never end
    this.last = last;
    return this.failure === null;
  }

  /** Null at the end, and for `failure`. */
  next(): FileInfo | null {
    while (true) {
      if (this.at == this.page.length) {
        if (!this.more || this.seen >= ENTRIES || !this.fetch()) return null;
        if (this.page.length == 0) return null;
      }
      if (++this.seen > ENTRIES) {
        this.more = true;
        return null;
      }
      const file = this.page[this.at++];
      if (!file.isDir && file.name.length > 0 && (this.hidden || !file.name.startsWith("."))) return file;
    }
  }
}

/** A reason why a file is left out, as an index. */
enum Left { MaxFiles, MaxBytes, Gone, Denied, Name, Not }

const REASONS: StaticArray<string> = ["maxFiles", "maxBytes", "gone", "denied", "name"];

/** A Folder is answered as the contents of its files. */
export class Folder extends Reply {
  private list: List;
  private count: i32 = 0;
  private bytes: i64 = 0;
  private data: Uint8Array = new Uint8Array(0); // of one file at a time
  private length: i32 = 0;

  private leftCount: i32 = 0;
  private leftBytes: u64 = 0;
  private names: string[] = []; // as JSON
  private reasons: StaticArray<i32> = new StaticArray<i32>(5);

  /** @internal */
  constructor(dir: Dir, name: string, private prefix: string, private options: FolderOptions) {
    super();
    this.list = new List(dir, name, options.showsHidden);
  }

  /** @internal Gets the first page. Null when that went well. */
  begin(): Failure | null { return this.list.fetch() ? null : this.list.failure; }

  /** @internal Sends the contents. */
  send(r: Request, route: Route): Failure | null {
    for (let file = this.list.next(); file !== null && !out.stopped(); file = this.list.next()) {
      const failure = this.sendFile(file, r, route);
      if (failure !== null) return failure;
    }
    if (this.list.failure !== null) return this.list.failure;
    const whole = this.leftCount == 0 && !this.list.more;
    if (whole && this.count > 0) return null;
    return text(whole ? "No files." : this.summary()).mime("text/plain").meta(this.meta(whole)).sendWhole(r, route);
  }

  /** Sends a file, or notes why not. */
  private sendFile(file: FileInfo, r: Request, route: Route): Failure | null {
    const path = this.list.name == "." ? file.name : this.list.name + "/" + file.name;
    const room = this.options.bytes - this.bytes;
    if (!isWritable(path)) return this.leave(file, Left.Name);
    if (this.count >= this.options.files) return this.leave(file, Left.MaxFiles);
    if (file.size > room) return this.leave(file, Left.MaxBytes);
    const uri = uriOf(this.prefix, path);
    if (uri.length == 0) return this.leave(file, Left.Name);
    const now = this.read(path, room);
    if (now === null) return this.leaveFailed(file);
    if (this.length > room) return this.leave(file, Left.MaxBytes);
    this.count++;
    this.bytes += this.length;
    const etag = now.modified.toString(36) + "-" + now.size.toString(36);
    return this.content(file.name).uri(uri).etag(etag).lastModified(now.modified).sendWhole(r, route);
  }

  /** Reads a file to `data`, of which the first `length` bytes are its own then: one too many when there is no room. */
  private read(path: string, room: i64): FileInfo | null {
    this.length = 0;
    while (true) {
      const want = min<i64>(PIECE, room - this.length + 1);
      const now = this.list.dir.readPart(path, this.length, want);
      if (now === null) return null;
      this.reserve(this.length + <i32>want);
      const taken = host.take(abi.CHANNEL_BODY, this.data.dataStart + this.length, 0, <u32>want);
      this.length += <i32>taken;
      if (taken == 0 || this.length > room || now.size > 0 && this.length >= now.size) return now;
    }
  }

  private reserve(length: i32): void {
    if (length <= this.data.length) return;
    const data = new Uint8Array(max(length, this.data.length * 2));
    memory.copy(data.dataStart, this.data.dataStart, this.length);
    this.data = data;
  }

  private content(name: string): Content {
    const data = this.data.subarray(0, this.length);
    const textual = isText(data.dataStart, data.length);
    const type = this.options.type;
    let mime = type !== null ? type(name, data.subarray(0, min(data.length, HEAD)), textual) : "";
    if (mime.length == 0) mime = textual ? "text/plain" : "application/octet-stream";
    const content = bytes(data).mime(mime);
    return textual && !isBinary(mime) ? content.asText() : content;
  }

  private leave(file: FileInfo, why: Left): Failure | null {
    this.leftCount++;
    this.leftBytes += file.size;
    this.reasons[why]++;
    if (why != Left.Name && this.names.length < NAMES) this.names.push('"' + file.name.replaceAll('"', '\\"') + '"');
    return null;
  }

  private leaveFailed(file: FileInfo): Failure | null {
    const failure = this.list.dir.failure;
    if (failure.code == abi.CODE_DENIED) return this.leave(file, Left.Denied);
    if (failure.code == abi.CODE_NOT_FOUND || failure.code == abi.CODE_INVALID_PARAMS) return this.leave(file, Left.Gone);
    return failure;
  }

  private summary(): string {
    const count = (this.list.more ? "more than " : "") + this.leftCount.toString();
    const names = this.names.length > 0 ? ", among them " + this.names.join(", ") : "";
    return "Files left out: " + count + " (" + this.leftBytes.toString() + " bytes)" + names;
  }

  private meta(whole: bool): string {
    const all = '{"folder":{"files":' + this.count.toString() + ',"bytes":' + this.bytes.toString();
    if (whole) return all + "}}";
    const reasons: string[] = [];
    for (let i = 0; i < REASONS.length; i++) {
      if (this.reasons[i] > 0) reasons.push('"' + REASONS[i] + '":' + this.reasons[i].toString());
    }
    return all + ',"leftOut":{"files":' + this.leftCount.toString() + ',"bytes":' + this.leftBytes.toString() +
      (this.list.more ? ',"more":true' : "") + ',"names":[' + this.names.join(",") + '],"reasons":{' + reasons.join(",") +
      "}}}}";
  }
}

/** An etag of the files of a folder, their sizes and their times; null for the failure of `dir`. */
export function versionOf(dir: Dir, name: string, options: FolderOptions): string | null {
  const list = new List(dir, name, options.showsHidden);
  let sum: u64 = 14695981039346656037; // FNV-1a
  for (let file = list.next(); file !== null; file = list.next()) {
    const name = file.name;
    for (let i = 0; i < name.length; i++) sum = (sum ^ <u64>name.charCodeAt(i)) * 1099511628211;
    sum = (sum ^ <u64>file.size) * 1099511628211;
    sum = (sum ^ <u64>file.modified) * 1099511628211;
  }
  const failure = list.failure;
  if (failure === null) return sum.toString(36);
  dir.failure = failure;
  return null;
}

/** Whether the characters of a path can stand in a URI, encoded at least. */
function isWritable(path: string): bool {
  for (let i = 0; i < path.length; i++) {
    const unit = path.charCodeAt(i);
    if (unit < 0x20 || unit >= 0x7f && unit < 0xa0 || unit == 0x5c) return false;
  }
  return true;
}

/** The URI of a file; empty when it would be too long. */
function uriOf(prefix: string, path: string): string {
  const raw = utf8(path);
  let uri = prefix;
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i];
    if (isPlain(c)) uri += String.fromCharCode(c);
    else uri += "%" + (<u32>c).toString(16).toUpperCase();
  }
  return utf8(uri).length <= URI ? uri : "";
}

/** Whether a byte stands in the path of a URI as it is. Others that are written are none below 0x10. */
function isPlain(c: u8): bool {
  return c >= 0x61 && c <= 0x7a || c >= 0x41 && c <= 0x5a || c >= 0x2d && c <= 0x39 || c == 0x5f || c == 0x7e;
}

/** Whether files of a type are never texts. */
function isBinary(mime: string): bool {
  if (mime.startsWith("image/")) return mime != "image/svg+xml";
  return mime.startsWith("audio/") || mime.startsWith("font/") || mime.startsWith("video/") || mime == "application/gzip" ||
    mime == "application/pdf" || mime == "application/wasm" || mime == "application/zip";
}
