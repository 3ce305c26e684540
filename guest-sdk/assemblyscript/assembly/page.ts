import * as abi from "./abi";
import { Entry } from "./entry";
import { Failure, invalid } from "./failure";
import * as out from "./out";
import { Request } from "./request";

/** Answers a listing, page by page. Null when that went well. */
export type ListHandler = (r: Request, page: Page) => Failure | null;

/** Gives one entry of a list. */
export type EntryAt = (index: i32) => Entry;

/** The MIME type of a directory resource. */
export const DIRECTORY_TYPE: string = abi.DIRECTORY_TYPE;

const DEFAULT: i32 = 500; // entries of a page when the host leaves it to the guest

/** A Page takes the entries of one page of a listing. */
export class Page {
  /** How many entries fit. */
  readonly limit: i32;

  private count: i32 = 0;
  private following: string = "";
  private fresh: i64 = 0;
  private scope: u32 = abi.CACHE_PRIVATE;

  /** `cursor` is what an earlier page was given by `next`; empty for the start. */
  constructor(readonly cursor: string, limit: u32) {
    this.limit = limit > 0 ? <i32>min<u32>(limit, i32.MAX_VALUE) : DEFAULT;
  }

  /** Whether no more entries fit. */
  get full(): bool { return this.count >= this.limit || out.stopped(); }

  /**
   * Puts an entry on the page. False when the page is full and `entry` is not on it: give `next` a cursor that leads to
   * this entry, and return.
   */
  add(entry: Entry): bool {
    if (this.full) return false;
    entry.encode(out.frame, 1);
    this.count++;
    out.flushFull();
    return true;
  }

  /** Sets the cursor that leads to the following page. Without it this page is the last one. */
  next(cursor: string): this {
    this.following = cursor;
    return this;
  }

  /** Says for how many milliseconds the page may be kept, by clients, and by the host if it is public. */
  ttl(ms: i64): this {
    this.fresh = max<i64>(ms, 0);
    return this;
  }

  /** Says that the page may be given to anybody, not only to who asked: with a `ttl`, the host keeps it. */
  asPublic(): this {
    this.scope = abi.CACHE_PUBLIC;
    return this;
  }

  /** Lists the entries 0 to `count` − 1, minding cursor and limit. */
  each(count: i32, entryAt: EntryAt): Failure | null {
    const start = this.start(count);
    if (start < 0) return invalid("unknown cursor");
    let i = start;
    while (i < count && !this.full) this.add(entryAt(i++));
    if (i < count) this.next(i.toString());
    return null;
  }

  /** @internal Adds what stands at the end of a page. */
  end(): void {
    out.frame.text(4, this.following).number(10, this.fresh).number(11, this.scope);
  }

  /** The index a cursor of `each` leads to; −1 for a cursor that `each` did not make. */
  private start(count: i32): i32 {
    if (this.cursor.length == 0) return 0;
    const i = <i32>parseInt(this.cursor);
    return i > 0 && i < count && i.toString() == this.cursor ? i : -1;
  }
}
