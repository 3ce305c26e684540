// What a provider is: its own options, and its routes.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { checkFunction, checkOptions } from "./options.js";
import { variablesOf } from "./template.js";

const providerOptions = [
  "name", "version", "title", "description", "prefixes", "asks", "configSchema", "limits", "lifecycle",
];
const cacheOptions = ["ttl", "public"];
const routeOptions = [...cacheOptions, "mimeType", "watch"];
const shownOptions = [...routeOptions, "name", "title", "description", "priority", "audience", "icons", "meta"];
const resourceOptions = [...shownOptions, "size", "lastModified"];
const templateOptions = [...shownOptions, "ranges", "complete"];

class Provider {
  constructor(options) {
    this.options = options;
    this.resources = Object.create(null); // by URI
    this.templates = []; // in the order of their route numbers
    this.any = undefined;
    this.lister = undefined;
    this.directoryLister = undefined;
    this.ops = 1 << abi.OP_DESCRIBE;
  }

  resource(uri, ...rest) {
    const route = this.#route(uri, resourceOptions, rest);
    if (uri in this.resources) throw new TypeError(`${uri}: an earlier resource is the same`);
    this.resources[uri] = route;
    return this;
  }

  template(uriTemplate, ...rest) {
    const route = this.#route(uriTemplate, templateOptions, rest);
    if (this.templates.some((other) => other.uri === uriTemplate)) {
      throw new TypeError(`${uriTemplate}: an earlier template is the same`);
    }
    route.variables = variablesOf(uriTemplate);
    this.#checkCompletions(route);
    this.templates.push(route);
    return this;
  }

  readAny(...rest) {
    if (this.any) throw new TypeError("readAny is called twice");
    this.any = this.#route("readAny", routeOptions, rest);
    return this;
  }

  list(...rest) {
    if (this.lister) throw new TypeError("list is called twice");
    this.lister = lister("list", rest);
    this.ops |= 1 << abi.OP_LIST;
    return this;
  }

  listDirectory(...rest) {
    if (this.directoryLister) throw new TypeError("listDirectory is called twice");
    this.directoryLister = lister("listDirectory", rest);
    this.ops |= 1 << abi.OP_LIST_DIR;
    return this;
  }

  #route(uri, known, rest) {
    if (typeof uri !== "string") throw new TypeError("a resource or template begins with its URI, a string");
    const [options, read] = rest.length > 1 ? rest : [{}, rest[0]];
    checkOptions(options, known, uri);
    checkFunction(read, "the handler", uri);
    if (options.watch) this.#checkWatch(options.watch, uri);
    this.ops |= 1 << abi.OP_READ;
    return { ...options, uri, read, ...cached(options) };
  }

  #checkWatch(watch, where) {
    checkOptions(watch, ["every", "version"], `${where}: watch`);
    checkFunction(watch.version, "version", `${where}: watch`);
    if (!(watch.every > 0)) throw new TypeError(`${where}: watch: every is not a number of milliseconds above zero`);
    this.ops |= (1 << abi.OP_SUBSCRIBE) | (1 << abi.OP_POLL);
  }

  #checkCompletions({ uri, variables, complete = {} }) {
    for (const [name, values] of Object.entries(complete)) {
      if (!(name in variables)) throw new TypeError(`${uri}: complete: the template has no variable ${name}`);
      if (!Array.isArray(values)) checkFunction(values, name, `${uri}: complete`);
      this.ops |= 1 << abi.OP_COMPLETE;
    }
  }
}

/** Makes what answers lists: the arguments of a method are the handler, with options before it or without. */
function lister(method, rest) {
  const [options, list] = rest.length > 1 ? rest : [{}, rest[0]];
  checkOptions(options, cacheOptions, method);
  checkFunction(list, "the handler", method);
  return { list, ...cached(options) };
}

function cached(options) {
  return { ttl: options.ttl ?? 0, scope: options.public ? abi.CACHE_PUBLIC : abi.CACHE_PRIVATE };
}

/** The one provider of this module; undefined until there is one. */
export let registered;

export function provider(options) {
  if (registered) throw new TypeError("provider is called twice");
  checkOptions(options, providerOptions, "provider");
  if (typeof options.name !== "string") throw new TypeError("provider: the name is missing");
  registered = new Provider(options);
  host.routes(registered.templates, registered.resources);
  return registered;
}
