import { Encoder } from "./encoder";
import { stamp } from "./time";

/** Whom a resource is meant for, as in `Audience.User | Audience.Assistant`. */
export namespace Audience {
  export const User: u32 = 1;
  export const Assistant: u32 = 2;
}

/** A picture a client may show beside a resource. */
export class Icon {
  private type: string = "";
  private theme: string = "";
  private sizes: string[] = [];

  /** `source` begins with `https:` or `data:image/`. */
  constructor(private source: string) {}

  mime(type: string): this {
    this.type = type;
    return this;
  }

  /** Adds a size, as in `48x48` or `any`. */
  size(size: string): this {
    this.sizes.push(size);
    return this;
  }

  /** For light backgrounds only. */
  light(): this {
    this.theme = "light";
    return this;
  }

  /** For dark backgrounds only. */
  dark(): this {
    this.theme = "dark";
    return this;
  }

  /** @internal */
  encode(to: Encoder): void {
    const icon = to.begin(10);
    to.text(1, this.source).text(2, this.type);
    for (let i = 0; i < this.sizes.length; i++) to.element(3, this.sizes[i]);
    to.text(4, this.theme).end(icon);
  }
}

/** An Entry is one resource of a list. Its methods return it, so that they chain; all but the URI may be left out. */
export class Entry {
  private shortName: string = "";
  private shownName: string = "";
  private type: string = "";
  private description: string = "";
  private bytes: i64 = 0;
  private weight: f64 = -1; // negative for none
  private modified: i64 = 0;
  private readers: u32 = 0;
  private icons: Icon[] | null = null;
  private json: string = "";

  constructor(readonly uri: string) {}

  /** Sets the short name; without it the last part of the URI serves, or the template. */
  name(name: string): this {
    this.shortName = name;
    return this;
  }

  /** Sets the name people see. */
  title(title: string): this {
    this.shownName = title;
    return this;
  }

  /** Says in a sentence or two what is to be found here, for people and models. */
  describe(description: string): this {
    this.description = description;
    return this;
  }

  /** Sets the type of the contents, unless a content names its own. */
  mime(type: string): this {
    this.type = type;
    return this;
  }

  /** Tells the size of a resource in bytes; 0 for unknown. */
  size(bytes: i64): this {
    this.bytes = max<i64>(bytes, 0);
    return this;
  }

  /** Says how much this matters, from 0 for optional to 1 for required. */
  priority(priority: f64): this {
    this.weight = priority;
    return this;
  }

  /** Tells when a resource changed last, in milliseconds since 1970-01-01 UTC; 0 for unknown. */
  lastModified(ms: i64): this {
    this.modified = ms;
    return this;
  }

  /** Says whom this is meant for: a sum of `Audience`; 0 for anybody. */
  audience(audience: u32): this {
    this.readers = audience;
    return this;
  }

  /** Adds an icon. */
  icon(icon: Icon): this {
    const icons = this.icons;
    if (icons === null) this.icons = [icon];
    else icons.push(icon);
    return this;
  }

  /** Sets the `_meta` of the listing, a JSON object. */
  meta(json: string): this {
    this.json = json;
    return this;
  }

  /** @internal */
  get mimeType(): string { return this.type; }

  /** @internal Adds the message `Resource`. */
  encode(to: Encoder, field: u32): void {
    const resource = to.begin(field);
    this.encodeShared(to, lastPart(this.uri));
    to.number(6, this.bytes).text(8, stamp(this.modified)).end(resource);
  }

  /** @internal Adds the fields that resources and templates share. `name` stands in for one of their own. */
  encodeShared(to: Encoder, name: string): void {
    to.text(1, this.uri).text(2, this.shortName.length > 0 ? this.shortName : name);
    to.text(3, this.shownName).text(4, this.description).text(5, this.type);
    if (this.weight >= 0) to.double(7, this.weight);
    to.number(9, this.readers).text(11, this.json);
    const icons = this.icons;
    if (icons === null) return;
    for (let i = 0; i < icons.length; i++) icons[i].encode(to);
  }
}

function lastPart(uri: string): string {
  const start = uri.lastIndexOf("/") + 1;
  return start < uri.length ? uri.substring(start) : uri;
}
