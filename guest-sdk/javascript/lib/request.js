// What a handler is asked.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { config } from "./config.js";
import { Invalid } from "./failure.js";
import { flush } from "./out.js";
import { decodedVariables } from "./template.js";

const none = [];

export class Request {
  #fields;

  constructor(fields, route) {
    this.#fields = fields;
    this.uri = fields.uri ?? "";
    this.vars = decodedVariables(fields.vars ?? none, route?.variables);
  }

  /** Of a route with ranges: the part that is asked for; undefined for all. */
  get range() {
    const { rangeOffset: offset = 0, rangeLength: length = 0 } = this.#fields;
    return offset > 0 || length > 0 ? { offset, length } : undefined;
  }

  get ifNoneMatch() {
    return this.#fields.ifNoneMatch;
  }

  get maxBytes() {
    return this.#fields.maxBytes;
  }

  get meta() {
    return this.#fields.meta === undefined ? undefined : JSON.parse(this.#fields.meta);
  }

  get principal() {
    const found = this.#fields.principal;
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
