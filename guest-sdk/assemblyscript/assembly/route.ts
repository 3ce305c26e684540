import * as abi from "./abi";
import { Encoder } from "./encoder";
import { Entry, Icon } from "./entry";
import { Reply } from "./failure";
import { Request } from "./request";

/** Answers a read. */
export type ReadHandler = (r: Request) => Reply;

/** Suggests values for a variable of a template, given what was typed so far. */
export type CompleteHandler = (r: Request, typed: string) => string[];

/** Gives the etag of what there is now. */
export type VersionHandler = (r: Request) => string;

/**
 * A Route is a resource, or a family of resources, with its handlers. Its methods return it, so that they chain; they
 * abort on what only a programmer's mistake can cause.
 */
export class Route {
  /** @internal What is listed; of a template its URI is the template. */
  readonly entry: Entry;
  /** @internal In milliseconds; 0 when not watched. */
  every: i64 = 0;
  /** @internal */
  version: VersionHandler | null = null;
  /** @internal In milliseconds. */
  fresh: i64 = 0;
  /** @internal */
  scope: u32 = abi.CACHE_PRIVATE;
  /** @internal */
  inRanges: bool = false;

  private completers: Completer[] = [];

  /** @internal */
  constructor(uri: string, readonly read: ReadHandler, private isTemplate: bool = false) {
    this.entry = new Entry(uri);
  }

  /** Sets the short name; without it the last part of the URI serves, or the template. */
  name(name: string): this {
    this.entry.name(name);
    return this;
  }

  /** Sets the name people see. */
  title(title: string): this {
    this.entry.title(title);
    return this;
  }

  /** Says in a sentence or two what is to be found here, for people and models. */
  describe(description: string): this {
    this.entry.describe(description);
    return this;
  }

  /** Sets the type of the contents, unless a content names its own. */
  mime(type: string): this {
    this.entry.mime(type);
    return this;
  }

  /** Of a resource: tells its size in bytes; 0 for unknown. */
  size(bytes: i64): this {
    this.entry.size(bytes);
    return this;
  }

  /** Says how much this matters, from 0 for optional to 1 for required. */
  priority(priority: f64): this {
    this.entry.priority(priority);
    return this;
  }

  /** Of a resource: tells when it changed last, in milliseconds since 1970-01-01 UTC; 0 for unknown. */
  lastModified(ms: i64): this {
    this.entry.lastModified(ms);
    return this;
  }

  /** Says whom this is meant for: a sum of `Audience`; 0 for anybody. */
  audience(audience: u32): this {
    this.entry.audience(audience);
    return this;
  }

  /** Adds an icon. */
  icon(icon: Icon): this {
    this.entry.icon(icon);
    return this;
  }

  /** Sets the `_meta` of the listing, a JSON object. */
  meta(json: string): this {
    this.entry.meta(json);
    return this;
  }

  /** Says for how many milliseconds clients may keep an answer. Without it they keep none. */
  ttl(ms: i64): this {
    this.fresh = max<i64>(ms, 0);
    return this;
  }

  /** Says that an answer that is kept may be given to anybody, not only to who asked. */
  asPublic(): this {
    this.scope = abi.CACHE_PUBLIC;
    return this;
  }

  /** Of a template: says that parts may be asked for; see `Request.rangeOffset`. */
  ranges(): this {
    this.inRanges = true;
    return this;
  }

  /**
   * Of a template: registers what suggests values for a variable. Variables the client knows already are in the
   * request. The values are passed on as they are: filter them yourself, or use `completeFrom`. At most 100 reach the
   * client.
   */
  complete(variable: string, complete: CompleteHandler): this {
    return this.addCompleter(new Completer(variable, complete, []));
  }

  /** Of a template: suggests those of `values` that begin with what was typed, whatever the case of ASCII letters. */
  completeFrom(variable: string, values: string[]): this {
    return this.addCompleter(new Completer(variable, null, values));
  }

  /**
   * Lets clients follow changes: while somebody does, the host asks `version` every so many milliseconds, and tells
   * them when its answer, an etag, differs from the last one.
   */
  watch(everyMs: i64, version: VersionHandler): this {
    if (everyMs <= 0) throw new Error("wasmres: watch: " + this.entry.uri + ": everyMs must be positive");
    this.every = everyMs;
    this.version = version;
    return this;
  }

  /** @internal Suggests values for a variable; none when nothing does. */
  suggest(r: Request, variable: string, typed: string): string[] {
    for (let i = 0; i < this.completers.length; i++) {
      const c = this.completers[i];
      if (c.variable == variable) return c.suggest(r, typed);
    }
    return [];
  }

  /** @internal The operations that this route alone has the provider answer, as a set of bits. */
  get operations(): u32 {
    let ops: u32 = 1 << abi.OP_READ;
    if (this.completers.length > 0) ops |= 1 << abi.OP_COMPLETE;
    if (this.version !== null) ops |= 1 << abi.OP_SUBSCRIBE | 1 << abi.OP_POLL;
    return ops;
  }

  /** @internal Adds this as the message `Template`. */
  encodeTemplate(to: Encoder, field: u32): void {
    const template = to.begin(field);
    this.entry.encodeShared(to, this.entry.uri);
    for (let i = 0; i < this.completers.length; i++) to.element(12, this.completers[i].variable);
    to.flag(13, this.inRanges).number(14, this.fresh).number(15, this.scope).end(template);
  }

  private addCompleter(c: Completer): this {
    if (!this.isTemplate || !hasVariable(this.entry.uri, c.variable)) {
      throw new Error("wasmres: complete: " + this.entry.uri + " has no variable " + c.variable);
    }
    this.completers.push(c);
    return this;
  }
}

/** A Completer asks `complete`, or chooses from `values`. */
class Completer {
  constructor(readonly variable: string, private complete: CompleteHandler | null, private values: string[]) {}

  suggest(r: Request, typed: string): string[] {
    const complete = this.complete;
    if (complete !== null) return complete(r, typed);
    const found: string[] = [];
    for (let i = 0; i < this.values.length; i++) if (begins(this.values[i], typed)) found.push(this.values[i]);
    return found;
  }
}

/** Whether `text` begins with `start`, whatever the case of ASCII letters. */
function begins(text: string, start: string): bool {
  if (start.length > text.length) return false;
  for (let i = 0; i < start.length; i++) {
    if (lower(text.charCodeAt(i)) != lower(start.charCodeAt(i))) return false;
  }
  return true;
}

function lower(unit: i32): i32 { return unit >= 65 && unit <= 90 ? unit + 32 : unit; }

/** Whether a variable stands in an expression of a template. */
function hasVariable(template: string, variable: string): bool {
  const expressions = template.split("{");
  for (let i = 1; i < expressions.length; i++) {
    const expression = expressions[i].split("}")[0];
    const specs = ("+#./;?&".includes(expression.charAt(0)) ? expression.substring(1) : expression).split(",");
    for (let j = 0; j < specs.length; j++) if (specs[j].split(":")[0].split("*")[0] == variable) return true;
  }
  return false;
}
