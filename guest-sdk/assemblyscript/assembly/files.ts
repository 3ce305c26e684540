import * as abi from "./abi";
import { Decoder } from "./decoder";
import { Encoder } from "./encoder";
import { Failure, invalid, internal, Reply } from "./failure";
import { Folder, FolderOptions, versionOf } from "./folder";
import * as host from "./host";
import * as service from "./service";
import { Source, Writer } from "./source";
import { decodeText, utf8 } from "./text";

const FETCH: u64 = 768 << 10; // bytes of a file that one call of the host fetches
const SIZELESS: i32 = 16 << 20; // bytes that are read to memory of a file whose size is told as 0

/** A FileInfo describes a file or a folder. */
export class FileInfo {
  name: string = "";
  /** Bytes. */
  size: i64 = 0;
  /** When it changed last, in milliseconds since 1970-01-01 UTC. */
  modified: i64 = 0;
  isDir: bool = false;

  /** @internal Says whether it was well formed. */
  decode(d: Decoder): bool {
    while (d.next()) {
      switch (d.field) {
        case 1: this.name = d.text(); break;
        case 2: this.size = <i64>d.number(); break;
        case 3: this.modified = <i64>d.number(); break;
        case 4: this.isDir = d.number() != 0; break;
      }
    }
    return d.ok && this.size >= 0;
  }
}

/**
 * A directory the operator granted, by its path as the provider sees it, as in `new Dir("/project")`. It needs the
 * power `fs`: see `Provider.ask`.
 *
 * Names are relative and clean, as in `src/main.ts`; `.` is the directory itself. A name that leads out of it is
 * invalid. A method that answers null says why in `failure`, which a handler may answer as it is.
 *
 * What writes fails as `Code.Denied` where the grant is for reading alone, and as `Code.Invalid` for the directory
 * itself and for a folder where a file belongs; as `Code.TooLarge` when the provider has added more than it may, 256
 * MiB or 10,000 files and folders since it was loaded; and as `Code.Unavailable` when the disk is full.
 */
export class Dir {
  /** Why the last method answered null or false. */
  failure: Failure = internal();

  /** @internal There are entries after the last page. */
  more: bool = false;

  private path: string;

  constructor(path: string) { this.path = path.endsWith("/") ? path.substring(0, path.length - 1) : path; }

  /** Tells what there is by this name. */
  stat(name: string): FileInfo | null {
    this.about(name);
    return this.askForOne(abi.SERVICE_FILE_STAT);
  }

  /** Lists a folder, sorted by name. */
  list(name: string = "."): FileInfo[] | null {
    const all: FileInfo[] = [];
    let after = "";
    do {
      const page = this.page(name, after);
      if (page === null) return null;
      const last = page.length - 1;
      if (this.more && (last < 0 || page[last].name == after)) {
        this.failure = internal(); // it would never end
        return null;
      }
      for (let i = 0; i <= last; i++) all.push(page[i]);
      if (last >= 0) after = page[last].name;
    } while (this.more);
    return all;
  }

  /** Lists at most `limit` entries of a folder that come after a name: a page of a long list. */
  listAfter(name: string, after: string, limit: i32): FileInfo[] | null {
    this.about(name).number(3, max(limit, 1)).text(4, after);
    return this.ask(abi.SERVICE_FILE_LIST);
  }

  /**
   * The files of a folder, to be answered by a read: each is a content of its own, in the order of their names, and in
   * memory only while it is sent. The URI of a file is `uriPrefix` and its path in this directory, percent-encoded.
   * Folders in the folder are passed over. What it gives is a `Failure` when the folder cannot be listed.
   *
   * A file is text when it is UTF-8 without zeros, unless its type is one of audio, fonts, images (SVG aside), videos,
   * `application/gzip`, `application/pdf`, `application/wasm` or `application/zip`. Its etag is made of its time of
   * change and its size.
   *
   * Left out are files beyond the bounds, which others after them may keep; those that are gone, or may not be read, when
   * their turn has come; and names that no URI can have. Then, and if there are no files, one more content comes last,
   * with the URI that was asked for. Its text says how many files are left out, and its `_meta`, as the member `folder`,
   * why: `{"files":1,"bytes":5,"leftOut":{"files":1,"bytes":7,"names":["a"],"reasons":{"gone":1}}}`. There are no more
   * than ten names. The reasons are `maxFiles`, `maxBytes`, `gone`, `denied` and `name`. At most 10,000 entries of a folder
   * are looked at: `leftOut` says `"more":true` where there are others.
   */
  folder(name: string, uriPrefix: string, options: FolderOptions = new FolderOptions()): Reply {
    const folder = new Folder(this, name, uriPrefix, options);
    const failure = folder.begin();
    return failure !== null ? failure : folder;
  }

  /**
   * An etag of a folder, for `Route.watch`: it changes when a file comes, goes, or has another size or time of change.
   * Of the options, `hidden` counts. Null for `failure`.
   */
  folderVersion(name: string, options: FolderOptions = new FolderOptions()): string | null {
    return versionOf(this, name, options);
  }

  /** Opens a file as a source for `stream`: it is read in pieces, and from where a client wants it. */
  open(name: string): File | null {
    const info = this.stat(name);
    if (info === null) return null;
    if (!info.isDir) return new File(this, name, info);
    this.failure = invalid(name + " is a folder");
    return null;
  }

  /**
   * Reads a whole file to memory. One whose size is told as 0 may have bytes all the same, as those of /proc have: it is
   * read to its end, and is `Code.TooLarge` beyond 16 MiB.
   */
  read(name: string): Uint8Array | null {
    const info = this.stat(name);
    if (info === null) return null;
    if (info.size > i32.MAX_VALUE) {
      this.failure = new Failure(abi.CODE_TOO_LARGE);
      return null;
    }
    if (info.size == 0) return this.readSizeless(name);
    const all = new Uint8Array(<i32>info.size);
    let filled: i32 = 0;
    while (filled < all.length) {
      const n = this.readAt(name, filled, all.subarray(filled));
      if (n < 0) return null;
      if (n == 0) break;
      filled += n;
    }
    return filled < all.length ? all.subarray(0, filled) : all;
  }

  /** Reads a file until there is no more of it. It fails for a folder. */
  private readSizeless(name: string): Uint8Array | null {
    let all = new Uint8Array(64 << 10);
    let filled: i32 = 0;
    while (true) {
      const n = this.readAt(name, filled, all.subarray(filled));
      if (n < 0) return null;
      if (n == 0) return all.subarray(0, filled);
      filled += n;
      if (filled < all.length) continue;
      if (filled > SIZELESS) {
        this.failure = new Failure(abi.CODE_TOO_LARGE);
        return null;
      }
      const larger = new Uint8Array(min(filled << 1, SIZELESS + 1));
      larger.set(all);
      all = larger;
    }
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

  /**
   * Writes a file at once: who reads it meanwhile gets what it had, or all of this. The file, and the folders it is in,
   * are made if they are not there. Describes what is there now.
   *
   * One call writes close to 1 MiB; more is `Code.TooLarge`. What is larger is written by one `write` and then several
   * `append`, and not at once.
   */
  write(name: string, data: Uint8Array): FileInfo | null { return this.put(name, data, false); }

  /** Writes a text as UTF-8: see `write`. */
  writeText(name: string, text: string): FileInfo | null { return this.write(name, utf8(text)); }

  /** Adds to the end of a file, beside what others add at the same time. Otherwise it is as `write`. */
  append(name: string, data: Uint8Array): FileInfo | null { return this.put(name, data, true); }

  /** Adds a text as UTF-8: see `append`. */
  appendText(name: string, text: string): FileInfo | null { return this.append(name, utf8(text)); }

  /**
   * Removes a file or an empty folder. False for `failure`: `Code.NotFound` when there is none, `Code.Invalid` for a
   * folder that is not empty.
   */
  remove(name: string): bool {
    this.about(name);
    const left = this.ask(abi.SERVICE_FILE_REMOVE);
    if (left === null) return false;
    if (left.length > 0) this.failure = internal();
    return left.length == 0;
  }

  /** @internal Has the host fetch at most `length` bytes of a file, to be taken. False for `failure`. */
  fetch(name: string, offset: i64, length: u64): bool {
    this.about(name).number(2, offset).number(3, min(length, FETCH));
    return this.ask(abi.SERVICE_FILE_READ) !== null;
  }

  /** @internal Lists the entries after a name, as many as the host gives at once. */
  page(name: string, after: string): FileInfo[] | null {
    this.about(name).text(4, after);
    return this.ask(abi.SERVICE_FILE_LIST);
  }

  /** @internal Is `fetch`, and describes the file. */
  readPart(name: string, offset: i64, length: u64): FileInfo | null {
    this.about(name).number(2, offset).number(3, length);
    return this.askForOne(abi.SERVICE_FILE_READ);
  }

  private put(name: string, data: Uint8Array, appends: bool): FileInfo | null {
    if (<u32>data.length > abi.MAX_SERVICE) {
      this.failure = new Failure(abi.CODE_TOO_LARGE);
      return null;
    }
    this.about(name).blob(5, data.dataStart, data.length).flag(6, appends);
    return this.askForOne(abi.SERVICE_FILE_WRITE);
  }

  /** Begins a request about a file or a folder. */
  private about(name: string): Encoder {
    const path = name != "." ? this.path + "/" + name : this.path.length > 0 ? this.path : "/";
    return service.request().text(1, path);
  }

  /** Calls a service with the request that was begun. Null for `failure`. */
  private ask(number: u32): FileInfo[] | null {
    const code = service.call(number);
    const found = code == abi.CODE_OK ? this.decode(service.response()) : null;
    if (found === null) this.failure = code == abi.CODE_OK ? internal() : new Failure(code);
    return found;
  }

  private askForOne(number: u32): FileInfo | null {
    const found = this.ask(number);
    if (found === null) return null;
    if (found.length == 1) return found[0];
    this.failure = internal();
    return null;
  }

  private decode(d: Decoder): FileInfo[] | null {
    const all: FileInfo[] = [];
    this.more = false;
    while (d.next()) {
      if (d.field == 1) {
        const info = new FileInfo();
        all.push(info);
        d.ok = info.decode(d.message()) && d.ok;
      } else if (d.field == 2) this.more = d.number() != 0;
    }
    return d.ok ? all : null;
  }
}

/** A File is a file of a `Dir`, for `stream`. The host keeps nothing open. */
export class File extends Source {
  private offset: i64 = 0;

  constructor(private dir: Dir, private name: string, readonly info: FileInfo) {
    super();
    this.size = info.size > 0 ? info.size : -1; // a file of /proc says 0, and has bytes
  }

  skip(bytes: i64): bool {
    this.offset = bytes;
    return true;
  }

  write(w: Writer): Failure | null {
    while (w.wanted > 0 && (this.size < 0 || this.offset < this.size)) {
      const length = this.size < 0 ? <u64>FETCH : min<u64>(this.size - this.offset, w.wanted);
      if (!this.dir.fetch(this.name, this.offset, length)) return this.dir.failure;
      const taken = w.take(abi.CHANNEL_BODY);
      if (taken == 0) break;
      this.offset += taken;
    }
    return null;
  }
}
