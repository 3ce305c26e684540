import * as abi from "./abi";
import { Encoder } from "./encoder";
import { ListHandler } from "./page";
import { ReadHandler, Route } from "./route";

const SDK = "assemblyscript/1.0.0";
const PAGE: u64 = 64 << 10;

let registered: Provider | null = null;

/** Names the provider, which everything is registered with. Call it once, at the top level of the entry file. */
export function provider(name: string, version: string): Provider {
  if (registered !== null) throw new Error("wasmres: provider is called twice");
  const p = new Provider(name, version);
  registered = p;
  return p;
}

export function theProvider(): Provider {
  const p = registered;
  if (p === null) throw new Error("wasmres: provider was never called");
  return p;
}

/**
 * A Provider is what a module says of itself, and its handlers. What is registered at the top level is complete when
 * the module has started, and does not change after that.
 */
export class Provider {
  /** @internal */
  listing: ListHandler | null = null;
  /** @internal */
  directoryListing: ListHandler | null = null;

  private shownName: string = "";
  private description: string = "";
  private uriPrefixes: string[] = [];
  private schema: string = "";
  private memoryPages: u64 = 0;
  private deadlineMs: i64 = 0;
  private bodyBytes: i64 = 0;
  private instances: u32 = 0;
  private lifecycle: u32 = abi.LIFECYCLE_FRESH;
  private capabilities: Capability[] = [];
  private templates: Route[] = []; // the number of a route is its index and one
  private resources: Route[] = [];
  private byURI: Map<string, Route> = new Map();
  private anything: Route | null = null;
  private operations: u32 = 0; // those implemented, as a set of bits; 0 before the first request

  constructor(private name: string, private version: string) {}

  /** Sets the name people see. */
  title(title: string): this {
    this.shownName = title;
    return this;
  }

  /** Says in a sentence or two what the provider offers. */
  describe(description: string): this {
    this.description = description;
    return this;
  }

  /** Bounds the URIs of this provider: the host refuses any other it might name. */
  prefixes(prefixes: string[]): this {
    this.uriPrefixes = prefixes;
    return this;
  }

  /** Gives the JSON Schema of the values `Request.config` reads. wasmres does not check them against it yet. */
  configSchema(schema: string): this {
    this.schema = schema;
    return this;
  }

  /** Asks for a longest time of one call in milliseconds. wasmres does not act on the wish yet. */
  deadline(ms: i64): this {
    this.deadlineMs = max<i64>(ms, 0);
    return this;
  }

  /** Asks for a number of bytes of memory. wasmres does not act on the wish yet. */
  memory(bytes: i64): this {
    this.memoryPages = (<u64>max<i64>(bytes, 0) + PAGE - 1) / PAGE;
    return this;
  }

  /** Asks for a number of bytes that one read may answer. wasmres does not act on the wish yet. */
  maxBody(bytes: i64): this {
    this.bodyBytes = max<i64>(bytes, 0);
    return this;
  }

  /** Asks for at most so many instances. wasmres does not act on the wish yet. */
  maxInstances(count: u32): this {
    this.instances = count;
    return this;
  }

  /**
   * Asks that what handlers keep in globals lasts for a session of a client, and is seen by no other. It is a
   * convenience the operator may refuse, a session may lose, and clients without sessions never have. Needs
   * `--runtime minimal`.
   */
  perSession(): this {
    this.lifecycle = abi.LIFECYCLE_SESSION;
    return this;
  }

  /**
   * Asks that what handlers keep in globals lasts, and is seen by everybody: for caches. The operator may refuse it,
   * and it may be lost at any time. Needs `--runtime minimal`.
   */
  shared(): this {
    this.lifecycle = abi.LIFECYCLE_SHARED;
    return this;
  }

  /** Asks the operator for a power, as in `ask("fs", "reads the files")`. The reason is shown to who decides. */
  ask(name: string, reason: string): Capability {
    const c = new Capability(name, reason);
    this.capabilities.push(c);
    return c;
  }

  /** Registers a single resource with a fixed URI, which clients see listed. */
  resource(uri: string, read: ReadHandler): Route {
    if (uri.includes("{")) throw new Error("wasmres: resource: " + uri + " is a template: use template");
    if (this.byURI.has(uri)) throw new Error("wasmres: resource: " + uri + " is registered twice");
    const route = new Route(uri, read);
    this.resources.push(route);
    this.byURI.set(uri, route);
    return route;
  }

  /**
   * Registers a family of resources, as in `template("users://{user_id}", user)`. The host matches URIs (RFC 6570) and
   * hands the decoded variables to the handler: see `Request.var`.
   */
  template(template: string, read: ReadHandler): Route {
    if (this.templateOf(template) !== null) throw new Error("wasmres: template: " + template + " is registered twice");
    const route = new Route(template, read, true);
    this.templates.push(route);
    return route;
  }

  /**
   * Registers the handler for URIs that are neither a `resource` nor match a `template`, such as those a `list`
   * names. Of the route's methods `mime`, `ttl`, `asPublic` and `watch` apply.
   */
  readAny(read: ReadHandler): Route {
    if (this.anything !== null) throw new Error("wasmres: readAny is called twice");
    const route = new Route("", read);
    this.anything = route;
    return route;
  }

  /** Registers what answers listings, beside the resources of `resource`, which must not be added again. */
  list(list: ListHandler): this {
    if (this.listing !== null) throw new Error("wasmres: list is called twice");
    this.listing = list;
    return this;
  }

  /**
   * Registers what answers the direct children of directory resources. `Request.uri` is the directory, without a slash
   * at its end; the URI of a child is that, a slash, and the name of the child. Directories among the children have the
   * type `DIRECTORY_TYPE`. For a URI that is not one of a directory the answer is `notFound`.
   *
   * A provider with directories can have skills: each `SKILL.md` that `list` or `resource` lists is one, with all files
   * below its directory. The host makes their digests.
   */
  listDirectory(list: ListHandler): this {
    if (this.directoryListing !== null) throw new Error("wasmres: listDirectory is called twice");
    this.directoryListing = list;
    return this;
  }

  /** @internal Finds a template by its text; null when there is none. */
  templateOf(text: string): Route | null {
    for (let i = 0; i < this.templates.length; i++) if (this.templates[i].entry.uri == text) return this.templates[i];
    return null;
  }

  /** @internal Finds who answers for a URI that the host has routed; null for nobody. */
  route(number: u32, uri: string): Route | null {
    if (number > <u32>this.templates.length) return null;
    if (number > 0) return this.templates[number - 1];
    return this.byURI.has(uri) ? this.byURI.get(uri) : this.anything;
  }

  /** @internal Whether what handlers keep in globals may last. */
  get lasts(): bool { return this.lifecycle != abi.LIFECYCLE_FRESH; }

  /** @internal Whether an operation is implemented. */
  implements(op: u32): bool {
    if (this.operations == 0) this.operations = this.findOperations();
    return op < 32 && (this.operations & 1 << op) != 0;
  }

  private findOperations(): u32 {
    let ops: u32 = 1 << abi.OP_DESCRIBE;
    if (this.listing !== null) ops |= 1 << abi.OP_LIST;
    if (this.directoryListing !== null) ops |= 1 << abi.OP_LIST_DIR;
    for (let i = 0; i < this.templates.length; i++) ops |= this.templates[i].operations;
    for (let i = 0; i < this.resources.length; i++) ops |= this.resources[i].operations;
    const any = this.anything;
    return any === null ? ops : ops | any.operations;
  }

  /** @internal Adds the manifest's fields. */
  encode(to: Encoder): void {
    to.text(2, this.name).text(3, this.version).text(4, this.shownName).text(5, this.description);
    for (let i = 0; i < this.templates.length; i++) this.templates[i].encodeTemplate(to, 6);
    for (let i = 0; i < this.resources.length; i++) this.resources[i].entry.encode(to, 7);
    to.number(8, this.operations);
    for (let i = 0; i < this.capabilities.length; i++) this.capabilities[i].encode(to);
    this.encodeLimits(to);
    for (let i = 0; i < this.uriPrefixes.length; i++) to.element(11, this.uriPrefixes[i]);
    to.text(12, SDK).text(13, this.schema);
  }

  private encodeLimits(to: Encoder): void {
    const limits = to.begin(10);
    to.number(1, this.memoryPages).number(2, this.deadlineMs).number(3, this.bodyBytes);
    to.number(4, this.instances).number(5, this.lifecycle).end(limits);
  }
}

/** A Capability is a power that the provider asks for. Its methods return it, so that they chain. */
export class Capability {
  private json: string = "";
  private dispensable: bool = false;

  constructor(private name: string, private reason: string) {}

  /** Says that the provider is of use without this power. */
  optional(): this {
    this.dispensable = true;
    return this;
  }

  /** Sets a JSON object that says more, as which hosts are to be reached. */
  params(json: string): this {
    this.json = json;
    return this;
  }

  /** @internal */
  encode(to: Encoder): void {
    const capability = to.begin(9);
    to.text(1, this.name).text(2, this.json).flag(3, this.dispensable).text(4, this.reason).end(capability);
  }
}
