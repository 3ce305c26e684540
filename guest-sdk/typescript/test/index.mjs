// What tests import from "wasmres/test": a stand-in for wasmres that asks the imported provider. test.d.ts is the
// reference.
import { TextDecoder } from "node:util";

import * as abi from "../lib/abi.js";
import "../lib/web/fetch.js"; // in the place of the fetch of Node.js, which would ask servers
import { run } from "./host.mjs";
import { compare, Template } from "./template.mjs";

export class RequestError extends Error {
  constructor(code, message, { data, retryAfter, cause } = {}) {
    super(message || code, { cause });
    Object.assign(this, { code, data, retryAfter });
  }
}
RequestError.prototype.name = "RequestError";

const codes = {
  1: "not_found", 2: "invalid_params", 3: "denied", 4: "unavailable", 5: "cancelled", 6: "deadline", 7: "too_large",
  8: "unsupported", 9: "internal",
};
const entryNames = {
  1: "uri", 2: "name", 3: "title", 4: "description", 5: "mimeType", 6: "size", 7: "priority", 8: "lastModified", 11: "meta",
};

/** The values of a field that may come several times. */
const all = (fields, number) => fields.filter(([field]) => field === number).map(([, value]) => value);
const one = (fields, number) => all(fields, number).at(-1);

export class Host {
  logs = [];
  notices = [];
  #manifest;

  constructor(options = {}) {
    this.options = options;
    this.store = options.kv === true ? new Map() : options.kv;
  }

  async #run(operation, request) {
    const { code, fields, failure } = await run(this, operation, request);
    if (code === abi.CODE_OK) return fields;
    const told = one(fields, 5) ?? [];
    const data = one(told, 2);
    throw new RequestError(codes[code] ?? String(code), one(told, 1) ?? (failure ? String(failure) : ""), {
      data: data && JSON.parse(data), retryAfter: one(told, 3), cause: failure,
    });
  }

  async manifest() {
    if (!this.#manifest) {
      const fields = one(await this.#run(abi.OP_DESCRIBE, {}), 9);
      const templates = all(fields, 6).map((found) => ({ ...entry(found), uri: undefined, uriTemplate: one(found, 1) }));
      this.#manifest = {
        name: one(fields, 2), version: one(fields, 3), title: one(fields, 4), description: one(fields, 5),
        resources: all(fields, 7).map(entry), templates: templates.map(defined), prefixes: all(fields, 11),
        ops: one(fields, 8) ?? 0,
      };
    }
    return this.#manifest;
  }

  async templates() {
    return (await this.manifest()).templates;
  }

  async list() {
    const { resources, ops } = await this.manifest();
    const found = [...resources];
    if (!(ops & (1 << abi.OP_LIST))) return found;
    return [...found, ...(await this.#pages(abi.OP_LIST, {}))];
  }

  async listDirectory(uri) {
    const found = await this.#pages(abi.OP_LIST_DIR, await this.#route(uri));
    const head = `${uri.replace(/\/+$/, "")}/`;
    const stray = found.find((child) => !child.uri.startsWith(head) || !/^[^/?#]+$/.test(child.uri.slice(head.length)));
    if (stray) throw new RequestError("internal", `${stray.uri} is not a direct child of ${uri}`);
    return found;
  }

  /** The entries of all pages. */
  async #pages(operation, request) {
    const found = [];
    for (let cursor; cursor !== ""; ) {
      const fields = await this.#run(operation, { ...request, cursor });
      found.push(...all(fields, 1).map(entry));
      cursor = one(fields, 4) ?? "";
    }
    return found;
  }

  async read(uri, { range, ifNoneMatch, principal, meta, maxBytes } = {}) {
    const request = {
      ...(await this.#route(uri)), ifNoneMatch, maxBytes, rangeOffset: range?.offset, rangeLength: range?.length,
      principal: principal && { ...principal, claims: principal.claims && JSON.stringify(principal.claims) },
      meta: meta && JSON.stringify(meta),
    };
    return all(await this.#run(abi.OP_READ, request), 3).map(contentOf);
  }

  async text(uri, options) {
    const contents = await this.read(uri, options);
    if (contents.length === 1 && contents[0].text !== undefined) return contents[0].text;
    throw new TypeError(`${uri} has ${contents.length} contents, or one that is no text: use read`);
  }

  async complete(uriTemplate, argument, typed = "", vars = {}) {
    const fields = await this.#run(abi.OP_COMPLETE, {
      uri: uriTemplate, argument, typed, vars: Object.entries(vars).flat(),
    });
    return all(fields, 6);
  }

  /** How the host routes a URI: to a static resource, to the most specific template, or to readAny. */
  async #route(uri) {
    const { resources, templates } = await this.manifest();
    if (resources.some((resource) => resource.uri === uri)) return { uri };
    const candidates = templates.map(({ uriTemplate }, i) => Object.assign(new Template(uriTemplate), { route: i + 1 }));
    for (const template of candidates.sort(compare)) {
      const vars = template.match(uri);
      if (vars) return { uri, vars, route: template.route };
    }
    return { uri };
  }
}

function entry(fields) {
  const found = {};
  for (const [field, value] of fields) if (entryNames[field]) found[entryNames[field]] = value;
  if (found.meta) found.meta = JSON.parse(found.meta);
  return found;
}

const defined = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

function contentOf(fields) {
  const content = { uri: one(fields, 1), mimeType: one(fields, 2), etag: one(fields, 7), lastModified: one(fields, 8) };
  const meta = one(fields, 9);
  if (meta) content.meta = JSON.parse(meta);
  if (one(fields, 10)) return defined({ ...content, notModified: true });
  const text = one(fields, 3);
  const bytes = one(fields, 4) ?? (fields.parts ? joined(fields.parts) : undefined);
  content.rangeTotal = one(fields, 11);
  if (text !== undefined) content.text = text;
  else if (one(fields, 5) === abi.KIND_TEXT) content.text = new TextDecoder().decode(bytes ?? new Uint8Array());
  else content.bytes = bytes ?? new Uint8Array();
  return defined(content);
}

function joined(parts) {
  const whole = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
