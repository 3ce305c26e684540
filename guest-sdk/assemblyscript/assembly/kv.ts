import * as abi from "./abi";
import { Decoder } from "./decoder";
import { Encoder } from "./encoder";
import { Code, Failure, internal, invalid, unavailable } from "./failure";
import * as host from "./host";
import * as service from "./service";
import { decodeText, utf8 } from "./text";

const PAGE: i32 = 256; // entries that one call of the host lists
const TRIES: i32 = 16; // of `update`
const excess = memory.data(1); // for a byte that no value should have
const NOTHING = new Uint8Array(0);

/** A KVEntry describes a value. */
export class KVEntry {
  key: string = "";
  /** Bytes. */
  size: i64 = 0;
  /** Another one after each put, never one that the key had before; 0 for no value. */
  version: u64 = 0;
  /** When it goes, in milliseconds since 1970-01-01 UTC; 0 for never. */
  expires: i64 = 0;
  /** Whether nothing was done, as a condition does not hold: the entry is of what is there instead. */
  conflict: bool = false;
  /** The value, when it was asked for by `KVStore.getEntry`; empty elsewhere. */
  value: Uint8Array = NOTHING;

  /** @internal Says whether the entry was well formed. */
  decode(d: Decoder): bool {
    while (d.next()) {
      switch (d.field) {
        case 1: this.key = d.text(); break;
        case 2: this.size = <i64>d.number(); break;
        case 3: this.expires = <i64>d.number(); break;
        case 4: this.version = d.number(); break;
      }
    }
    return d.ok && this.size >= 0;
  }
}

/** PutOptions say more about a put, as in `new PutOptions().ttl(1500).ifAbsent()`. Their methods return them. */
export class PutOptions {
  private passes: bool = false;
  private ms: i64 = 0;
  private isConditional: bool = false;
  private version: u64 = 0;
  private isNew: bool = false;

  /** Makes the value go after so many milliseconds, more than none. Without it the value stays. */
  ttl(ms: i64): this {
    this.passes = true;
    this.ms = ms;
    return this;
  }

  /** Puts only when the value that is there has this version. */
  ifVersion(version: u64): this {
    this.isConditional = true;
    this.version = version;
    return this;
  }

  /** Puts only when no value is there. */
  ifAbsent(): this {
    this.isNew = true;
    return this;
  }

  /** @internal The same with the one condition that the value is still this one, or none for version 0. */
  onlyOver(version: u64): PutOptions {
    const o = new PutOptions();
    if (this.passes) o.ttl(this.ms);
    return version == 0 ? o.ifAbsent() : o.ifVersion(version);
  }

  /** @internal What is wrong; null for nothing. */
  check(): Failure | null {
    if (this.passes && this.ms <= 0) return invalid("a value must last for some time, or, without ttl, for good");
    if (!this.isConditional || this.version != 0) return null;
    return invalid("no value has version 0: use ifAbsent to put where there is none");
  }

  /** @internal */
  encode(to: Encoder): void { to.number(3, this.ms).number(4, this.version).flag(5, this.isNew); }
}

/**
 * A Change makes a new value of an old one, for `KVStore.update`. What it needs to know it has in its fields:
 *
 *     class Increment extends Change {
 *       make(old: Uint8Array | null): Uint8Array | null { … }
 *     }
 */
export abstract class Change {
  /** Why `make` answers null: set it before. */
  failure: Failure = internal();

  /**
   * Makes the new value; `old` is null when there is none. Null when nothing is to be put: then `update` answers null,
   * with the `failure` of the change. It may be called several times.
   */
  abstract make(old: Uint8Array | null): Uint8Array | null;
}

/**
 * A KVStore keeps values from one request to the next. It belongs to this provider alone; several instances of it, in
 * several processes, may use it at once. It needs the power `kv`: see `Provider.ask`.
 *
 * Keys are texts of 1 to 1024 bytes without control characters, values any bytes, close to 1 MiB at most. There is a
 * quota, by default of 10,000 keys and 16 MiB.
 *
 * A method that answers null says why in `failure`, which a handler may answer as it is: `Code.NotFound` when there is
 * no such value, `Code.Invalid` for a key that is none, `Code.Denied` when the store is not granted, or only for
 * reading, `Code.TooLarge` for what is over the quota, `Code.Unavailable` when it may work later.
 */
export class KVStore {
  /** Why the last method answered null or false. */
  failure: Failure = internal();

  private entries: KVEntry[] = []; // of the last answer
  private more: bool = false;
  private conflict: bool = false;

  /** Gives a value. */
  get(key: string): Uint8Array | null {
    const entry = this.getEntry(key);
    return entry !== null ? entry.value : null;
  }

  /** Gives a value that is UTF-8 text. Other bytes become other text. */
  getText(key: string): string | null {
    const value = this.get(key);
    return value !== null ? decodeText(value.dataStart, value.length) : null;
  }

  /** Gives a value with what describes it. */
  getEntry(key: string): KVEntry | null {
    service.request().text(1, key);
    if (!this.ask(abi.SERVICE_KV_GET)) return null;
    const entry = this.theEntry();
    if (entry === null || entry.size > <i64>abi.MAX_SERVICE) return this.no(internal());
    entry.value = new Uint8Array(<i32>entry.size);
    return this.take(entry.value) ? entry : this.no(internal());
  }

  /**
   * Puts a value, in place of the one that may be there, and describes it. When a condition of the options does not
   * hold, nothing is put, and the entry, with `conflict`, is of what is there; its version is 0 when nothing is.
   */
  put(key: string, value: Uint8Array, options: PutOptions = new PutOptions()): KVEntry | null {
    const wrong = options.check();
    if (wrong !== null) return this.no(wrong);
    if (<u32>value.length > abi.MAX_SERVICE) return this.no(new Failure(Code.TooLarge));
    options.encode(service.request().text(1, key).blob(2, value.dataStart, value.length));
    if (!this.ask(abi.SERVICE_KV_PUT)) return null;
    const entry = this.conflict ? this.thereIs(key) : this.theEntry();
    return entry !== null ? entry : this.no(internal());
  }

  /** Puts a text as UTF-8: see `put`. */
  putText(key: string, text: string, options: PutOptions = new PutOptions()): KVEntry | null {
    return this.put(key, utf8(text), options);
  }

  /**
   * Puts what a change makes of a value, whoever else does so at the same time: when the value has changed meanwhile,
   * the change is asked again. When others are quicker again and again, this is unavailable. Of the options only `ttl`
   * applies.
   */
  update(key: string, change: Change, options: PutOptions = new PutOptions()): KVEntry | null {
    for (let i = 0; i < TRIES; i++) {
      const old = this.getEntry(key);
      if (old === null && this.failure.code != Code.NotFound) return null;
      const value = change.make(old !== null ? old.value : null);
      if (value === null) return this.no(change.failure);
      const entry = this.put(key, value, options.onlyOver(old !== null ? old.version : 0));
      if (entry === null || !entry.conflict) return entry;
    }
    return this.no(unavailable());
  }

  /** Removes a value if there is one. False for `failure`. */
  delete(key: string): bool {
    service.request().text(1, key);
    return this.ask(abi.SERVICE_KV_DELETE);
  }

  /**
   * Removes a value if it has this version. The entry is of what is there then: nothing, with version 0; or, with
   * `conflict`, what has another version.
   */
  deleteVersion(key: string, version: u64): KVEntry | null {
    if (version == 0) return this.no(invalid("no value has version 0: use delete to delete any"));
    service.request().text(1, key).number(4, version);
    return this.ask(abi.SERVICE_KV_DELETE) ? this.thereIs(key) : null;
  }

  /** Lists the values whose keys begin with a prefix, sorted by the bytes of their keys. */
  keys(prefix: string = ""): KVEntry[] | null { return this.keysAfter(prefix, "", i32.MAX_VALUE); }

  /** Lists at most `limit` of them whose keys come after a key: a page of a long list. */
  keysAfter(prefix: string, after: string, limit: i32): KVEntry[] | null {
    const all: KVEntry[] = [];
    limit = max(limit, 1);
    do {
      service.request().text(6, prefix).text(7, after).number(8, min(limit - all.length, PAGE));
      if (!this.ask(abi.SERVICE_KV_LIST)) return null;
      const last = this.entries.length - 1;
      if (this.more && (last < 0 || this.entries[last].key == after)) {
        this.failure = internal(); // it would never end
        return null;
      }
      for (let i = 0; i <= last && all.length < limit; i++) all.push(this.entries[i]);
      if (last >= 0) after = this.entries[last].key;
    } while (this.more && all.length < limit);
    return all;
  }

  /** Calls a service with the request that was begun. False for `failure`. */
  private ask(number: u32): bool {
    const code = service.call(number);
    if (code == abi.CODE_OK && this.decode(service.response())) return true;
    this.failure = code == abi.CODE_OK ? internal() : new Failure(code);
    return false;
  }

  private decode(d: Decoder): bool {
    this.entries = [];
    this.more = false;
    this.conflict = false;
    while (d.next()) {
      switch (d.field) {
        case 1: d.ok = this.addEntry(d.message()) && d.ok; break;
        case 2: this.more = d.number() != 0; break;
        case 3: this.conflict = d.number() != 0; break;
      }
    }
    return d.ok;
  }

  private addEntry(d: Decoder): bool {
    const entry = new KVEntry();
    this.entries.push(entry);
    return this.entries.length <= PAGE && entry.decode(d);
  }

  /** Fills a value. False when the host has fewer bytes, or more. */
  private take(value: Uint8Array): bool {
    const size = <u32>value.length;
    if (host.take(abi.CHANNEL_BODY, value.dataStart, 0, size) != size) return false;
    return host.take(abi.CHANNEL_BODY, excess, size, 1) == 0;
  }

  /** The entry that was answered; null unless it is one of a value. */
  private theEntry(): KVEntry | null {
    return this.entries.length == 1 && this.entries[0].version != 0 ? this.entries[0] : null;
  }

  /** The entry of what is there, which may be nothing. */
  private thereIs(key: string): KVEntry {
    const entry = this.entries.length > 0 ? this.entries[0] : new KVEntry();
    entry.key = key;
    entry.conflict = this.conflict;
    return entry;
  }

  private no(why: Failure): KVEntry | null {
    this.failure = why;
    return null;
  }
}
