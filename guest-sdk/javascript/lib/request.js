// What a handler is asked.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { config } from "./config.js";
import { Invalid } from "./failure.js";
import { flush } from "./out.js";

/** The fields of a request that a handler does not see. */
export let hiddenOf;

/** The engine makes requests like a sample, without the constructor: its order of the fields is this one. */
export class Request {
  uri;
  vars; // exploded ones are arrays, also when they have one element
  #route;
  #cursor;
  #limit;
  #rangeOffset;
  #rangeLength;
  #ifNoneMatch;
  #maxBytes;
  #argument;
  #typed;
  #principal;
  #meta;

  constructor(uri = "", vars = Object.create(null), fields = {}) {
    this.uri = uri;
    this.vars = vars;
    this.#route = fields.route;
    this.#cursor = fields.cursor;
    this.#limit = fields.limit;
    this.#rangeOffset = fields.rangeOffset;
    this.#rangeLength = fields.rangeLength;
    this.#ifNoneMatch = fields.ifNoneMatch;
    this.#maxBytes = fields.maxBytes;
    this.#argument = fields.argument;
    this.#typed = fields.typed;
    this.#principal = fields.principal;
    this.#meta = fields.meta;
  }

  static {
    hiddenOf = (request) => ({
      route: request.#route ?? 0,
      cursor: request.#cursor ?? "",
      limit: request.#limit ?? 0,
      argument: request.#argument ?? "",
      typed: request.#typed ?? "",
    });
  }

  /** Of a route with ranges: the part that is asked for; undefined for all. */
  get range() {
    const offset = this.#rangeOffset ?? 0;
    const length = this.#rangeLength ?? 0;
    return offset > 0 || length > 0 ? { offset, length } : undefined;
  }

  get ifNoneMatch() {
    return this.#ifNoneMatch;
  }

  get maxBytes() {
    return this.#maxBytes;
  }

  get meta() {
    return this.#meta === undefined ? undefined : JSON.parse(this.#meta);
  }

  get principal() {
    const found = this.#principal;
    if (!found) return undefined;
    const { subject = "", tenant = "", scopes = [], claims } = found;
    return { subject, tenant, scopes, claims: claims === undefined ? undefined : JSON.parse(claims) };
  }

  int(name, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER) {
    const text = this.vars[name];
    const n = typeof text === "string" && /^[+-]?[0-9]+$/.test(text) ? Number(text) : NaN;
    if (n >= least && n <= most) return n;
    throw new Invalid(`${name} is not a whole number from ${least} to ${most}`);
  }

  config(key) {
    return config(key);
  }

  progress(done, total = 0, message) {
    host.begin(15);
    host.double(1, done);
    if (total > 0) host.double(2, total);
    host.text(3, message);
    host.end();
    flush();
  }

  timeLeft() {
    return host.info(abi.INFO_DEADLINE) / 1e6;
  }
}
