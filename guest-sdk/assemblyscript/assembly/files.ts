import * as abi from "./abi";
import { Decoder } from "./decoder";
import { Failure, invalid, internal } from "./failure";
import * as host from "./host";
import * as service from "./service";
import { Source, Writer } from "./source";
import { decodeText } from "./text";

const FETCH: u64 = 768 << 10; // bytes of a file that one call of the host fetches

/** A FileInfo describes a file or a folder. */
export class FileInfo {
  name: string = "";
  /** Bytes. */
  size: i64 = 0;
  /** When it changed last, in milliseconds since 1970-01-01 UTC. */
  modified: i64 = 0;
  isDir: bool = false;
}

/**
 * A directory the operator granted, by its path as the provider sees it, as in `new Dir("/project")`. It needs the
 * power `fs`: see `Provider.ask`.
 *
 * Names are relative and clean, as in `src/main.ts`; `.` is the directory itself. A name that leads out of it is
 * invalid. A method that answers null says why in `failure`, which a handler may answer as it is.
 */
export class Dir {
  /** Why the last method answered null. */
  failure: Failure = internal();

  private path: string;
  private more: bool = false; // of the last page

  constructor(path: string) { this.path = path.endsWith("/") ? path.substring(0, path.length - 1) : path; }

  /** Tells what there is by this name. */
  stat(name: string): FileInfo | null {
    const found = this.ask(abi.SERVICE_FILE_STAT, name);
    return found !== null && found.length == 1 ? found[0] : null;
  }

  /** Lists a folder, sorted by name. */
  list(name: string = "."): FileInfo[] | null {
    const all: FileInfo[] = [];
    let after = "";
    do {
      const page = this.ask(abi.SERVICE_FILE_LIST, name, 0, 0, after);
      if (page === null) return null;
      for (let i = 0; i < page.length; i++) all.push(page[i]);
      if (page.length == 0) break;
      after = page[page.length - 1].name;
    } while (this.more);
    return all;
  }

  /** Lists at most `limit` entries of a folder that come after a name: a page of a long list. */
  listAfter(name: string, after: string, limit: i32): FileInfo[] | null {
    return this.ask(abi.SERVICE_FILE_LIST, name, 0, max(limit, 1), after);
  }

  /** Opens a file as a source for `stream`: it is read in pieces, and from where a client wants it. */
  open(name: string): File | null {
    const info = this.stat(name);
    if (info === null) return null;
    if (!info.isDir) return new File(this, name, info);
    this.failure = invalid(name + " is a folder");
    return null;
  }

  /** Reads a whole file to memory. */
  read(name: string): Uint8Array | null {
    const info = this.stat(name);
    if (info === null) return null;
    if (info.size > i32.MAX_VALUE) {
      this.failure = new Failure(abi.CODE_TOO_LARGE);
      return null;
    }
    const all = new Uint8Array(<i32>info.size);
    let filled: i32 = 0;
    do { // once at least, which tells a folder from an empty file
      const n = this.readAt(name, filled, all.subarray(filled));
      if (n < 0) return null;
      if (n == 0) break;
      filled += n;
    } while (filled < all.length);
    return filled < all.length ? all.subarray(0, filled) : all;
  }

  /** Reads a whole file of UTF-8 text to memory. Other bytes become other text. */
  readText(name: string): string | null {
    const all = this.read(name);
    return all !== null ? decodeText(all.dataStart, all.length) : null;
  }

  /** Reads bytes of a file, from `offset` on, and says how many; 0 at the end, and -1 for `failure`. */
  readAt(name: string, offset: i64, to: Uint8Array): i32 {
    if (!this.fetch(name, offset, to.length)) return -1;
    return <i32>host.take(abi.CHANNEL_BODY, to.dataStart, 0, to.length);
  }

  /** @internal Has the host fetch at most `length` bytes of a file, to be taken. False for `failure`. */
  fetch(name: string, offset: i64, length: u64): bool {
    return this.ask(abi.SERVICE_FILE_READ, name, offset, min(length, FETCH)) !== null;
  }

  private ask(number: u32, name: string, offset: i64 = 0, length: u64 = 0, after: string = ""): FileInfo[] | null {
    const path = name != "." ? this.path + "/" + name : this.path.length > 0 ? this.path : "/";
    service.request().text(1, path).number(2, offset).number(3, length).text(4, after);
    const code = service.call(number);
    if (code == abi.CODE_OK) return this.decode(service.response());
    this.failure = new Failure(code);
    return null;
  }

  private decode(d: Decoder): FileInfo[] | null {
    const all: FileInfo[] = [];
    this.more = false;
    while (d.next()) {
      if (d.field == 1) all.push(infoOf(d));
      else if (d.field == 2) this.more = d.number() != 0;
    }
    if (d.ok) return all;
    this.failure = internal();
    return null;
  }
}

/** A File is a file of a `Dir`, for `stream`. The host keeps nothing open. */
export class File extends Source {
  private offset: i64 = 0;

  constructor(private dir: Dir, private name: string, readonly info: FileInfo) {
    super();
    this.size = info.size;
  }

  skip(bytes: i64): bool {
    this.offset = bytes;
    return true;
  }

  write(w: Writer): Failure | null {
    while (this.offset < this.size && w.wanted > 0) {
      const length = min<u64>(this.size - this.offset, w.wanted);
      if (!this.dir.fetch(this.name, this.offset, length)) return this.dir.failure;
      const taken = w.take(abi.CHANNEL_BODY);
      if (taken == 0) break;
      this.offset += taken;
    }
    return null;
  }
}

function infoOf(outer: Decoder): FileInfo {
  const info = new FileInfo();
  const d = outer.message();
  while (d.next()) {
    switch (d.field) {
      case 1: info.name = d.text(); break;
      case 2: info.size = <i64>d.number(); break;
      case 3: info.modified = <i64>d.number(); break;
      case 4: info.isDir = d.number() != 0; break;
    }
  }
  outer.ok = outer.ok && d.ok;
  return info;
}
