// Listings, page by page.
import * as host from "wasmres:host";
import { putEntry } from "./entry.js";
import { Invalid } from "./failure.js";
import { flushAt, flushUnlessEnough, kindOf } from "./out.js";

const usualLimit = 500; // entries, when the host leaves it to us

export class Page {
  #count = 0;
  #full = false;
  #next;

  constructor({ cursor, limit }) {
    this.cursor = cursor;
    this.limit = limit > 0 ? limit : usualLimit;
  }

  get full() {
    return this.#full || this.#count >= this.limit;
  }

  add(entry) {
    if (this.full) return false;
    if (typeof entry === "string") entry = { uri: entry };
    if (typeof entry?.uri !== "string") throw new TypeError(`an entry of a list is ${kindOf(entry)} and has no uri`);
    if (putEntry(1, entry) >= flushAt) this.#full = flushUnlessEnough();
    this.#count++;
    return true;
  }

  next(cursor) {
    this.#next = String(cursor);
  }

  each(items, entry = (item) => item) {
    const length = typeof items === "number" ? items : items.length;
    for (let i = this.#start(length); i < length; i++) {
      if (this.full) return this.next(i);
      this.add(entry(typeof items === "number" ? i : items[i], i));
    }
    return undefined;
  }

  /** The index that a cursor of each or of a listing by iteration stands for. */
  #start(length) {
    if (this.cursor === "") return 0;
    const start = /^[0-9]+$/.test(this.cursor) ? Number(this.cursor) : NaN;
    if (start <= length) return start;
    throw new Invalid("unknown cursor");
  }

  /** Takes what a handler has answered. Gives a promise when that takes one. */
  take(answer) {
    if (answer === undefined) return undefined;
    if (Array.isArray(answer)) return this.each(answer);
    if (answer?.[Symbol.asyncIterator]) return this.#takeAsync(answer);
    if (!answer?.[Symbol.iterator]) throw new TypeError(`a list handler answered ${kindOf(answer)}`);
    const take = this.#taker();
    for (const entry of answer) if (!take(entry)) break;
    return undefined;
  }

  async #takeAsync(answer) {
    const take = this.#taker();
    for await (const entry of answer) if (!take(entry)) break;
  }

  /** Makes a function that takes entries one by one, passes over those of earlier pages, and says whether to go on. */
  #taker() {
    const start = this.#start(Number.MAX_SAFE_INTEGER);
    let i = 0;
    return (entry) => {
      if (i++ < start || this.add(entry)) return true;
      this.next(i - 1);
      return false;
    };
  }

  finish({ ttl, scope }) {
    host.text(4, this.#next);
    host.number(10, ttl);
    host.number(11, scope);
  }
}
