// What providers import from "wasmres". wasmres carries the implementation and packs it into the module.

declare module "wasmres" {
  /**
   * Says what the provider is. It is called once, at the top level, and gives the provider to register resources with.
   * Options and routes that make no sense throw a TypeError, with which `wasmres build` fails.
   */
  export function provider(options: ProviderOptions): Provider;

  export interface ProviderOptions {
    /** One line; required. */
    name: string;
    version?: string;
    title?: string;
    /** A sentence or two, for people and models. */
    description?: string;
    /** The beginnings of URIs that are the provider's alone, as in "notes://": it can name no others. */
    prefixes?: string[];
    /** Powers that the operator is asked for, as in { name: "fs", reason: "reads the project" }. */
    asks?: Capability[];
    /** A JSON Schema of what Request.config reads. */
    configSchema?: object;
    /** Wishes; the operator's limits win. */
    limits?: Limits;
    /**
     * How long globals last, if the operator grants it: for one request ("fresh", without asking), for an MCP session,
     * or for everybody.
     */
    lifecycle?: "fresh" | "session" | "shared";
  }

  export interface Capability {
    name: string;
    /** For the person who decides. */
    reason?: string;
    /** The provider is of use without it. */
    optional?: boolean;
    params?: object;
  }

  export interface Limits {
    /** Bytes. */
    memory?: number;
    /** Milliseconds of one call. */
    deadline?: number;
    /** Bytes of one read. */
    maxBody?: number;
    maxInstances?: number;
  }

  export interface Provider {
    /** Registers a resource with a fixed URI, which clients see listed. */
    resource(uri: string, read: ReadHandler): this;
    resource(uri: string, options: ResourceOptions, read: ReadHandler): this;
    /**
     * Registers a family of resources, as in "users://{id}" (RFC 6570). The host matches URIs and hands the decoded
     * variables to the handler: see Request.vars.
     */
    template<const U extends string>(uriTemplate: U, read: ReadHandler<Vars<U>>): this;
    template<const U extends string>(uriTemplate: U, options: TemplateOptions<Vars<U>>, read: ReadHandler<Vars<U>>): this;
    /** Registers the handler for URIs that are none of the above, such as those that are listed. */
    readAny(read: ReadHandler): this;
    readAny(options: AnyOptions, read: ReadHandler): this;
    /** Registers what lists resources that are only known at run time. Fixed ones are listed by the host. */
    list(list: ListHandler): this;
    list(options: CacheOptions, list: ListHandler): this;
    /**
     * Registers what lists the direct children of directory resources. Request.uri is the directory, without a slash at its
     * end; the URI of a child is that, a slash, and the name of the child. Directories among the children have the type
     * DIRECTORY_TYPE. A URI that is not one of a directory is NotFound.
     *
     * A provider with directories can have skills: each SKILL.md that list or resource lists is one, with all files below
     * its directory. The host makes their digests.
     */
    listDirectory(list: ListHandler): this;
    listDirectory(options: CacheOptions, list: ListHandler): this;
  }

  /** The MIME type of a directory resource. */
  export const DIRECTORY_TYPE: "inode/directory";

  /** Answers a read. Nothing at all, undefined or an empty array, means that there is no such resource. */
  export type ReadHandler<V = Record<string, any>> = (request: Request<V>) => Answer | Promise<Answer>;

  /**
   * The variables of a URI template: Vars<"users://{id}{?q}"> has id, a string, and q, a string or undefined. An exploded
   * one is an array of strings. Those of a template that is not a literal may have any names.
   */
  export type Vars<U extends string> = string extends U ? Record<string, any> : VarsIn<U>;
  type VarsIn<U> = U extends `${string}{${infer E}}${infer R}` ? VarsOf<E> & VarsIn<R> : {};
  type VarsOf<E> = E extends `+${infer L}`
    ? FirstVar<L>
    : E extends `${"#" | "." | "/" | ";" | "?" | "&"}${infer L}`
      ? OptionalVars<L>
      : FirstVar<E>;
  type FirstVar<L> = L extends `${infer V},${infer R}` ? OneVar<V, never> & OptionalVars<R> : OneVar<L, never>;
  type OptionalVars<L> = L extends `${infer V},${infer R}` ? OneVar<V, undefined> & OptionalVars<R> : OneVar<L, undefined>;
  type OneVar<V, Absent> = V extends `${infer N}*`
    ? { [K in N]: string[] | Absent }
    : { [K in V extends `${infer N}:${string}` ? N : V & string]: string | Absent };

  /**
   * Answers a page of a listing: with page.each or page.add, or with all entries, of which the page takes those it is
   * for. An iterable is asked for no more than that.
   */
  export type ListHandler = (request: Request, page: Page) => Listing | Promise<Listing>;
  export type Listing = void | Iterable<Entry | string> | AsyncIterable<Entry | string>;

  /** A text, bytes, or either with more to say of it. */
  export type Answer = Content | string | Bytes | (Content | string | Bytes)[] | Folder | null | undefined | void;
  export type Bytes = ArrayBufferLike | ArrayBufferView;

  /**
   * A stream gives chunks of any size, of which only a few are in memory at a time: the host's limits remain, 64 MiB
   * and 2 seconds for a read if the operator does not say otherwise.
   */
  export type Stream = Iterable<string | Bytes> | AsyncIterable<string | Bytes>;

  interface ContentFields {
    /** Of the resource that this is; without it, the one that was asked for. */
    uri?: string;
    /** Without it, the route's; then text/plain or application/octet-stream. */
    mimeType?: string;
    /** Names this version. When the asker has it, a sole content is answered without its bytes. */
    etag?: string;
    /** A text is RFC 3339. */
    lastModified?: Date | string;
    meta?: object;
    /** Bytes, of a stream. */
    size?: number;
    /** Says that this is just request.range, out of so many bytes. */
    rangeTotal?: number;
  }

  /** Exactly one of text, bytes and notModified. */
  export type Content = ContentFields &
    (
      | { text: string | Bytes | Stream; bytes?: undefined; notModified?: undefined }
      | { bytes: string | Bytes | Stream; text?: undefined; notModified?: undefined }
      | { notModified: true; text?: undefined; bytes?: undefined }
    );

  export interface CacheOptions {
    /** Milliseconds an answer may be kept; without it, not at all. */
    ttl?: number;
    /** What is kept may be given to anybody, not only to who asked. */
    public?: boolean;
  }

  export interface AnyOptions extends CacheOptions {
    /** Of contents that name none. */
    mimeType?: string;
    /**
     * Lets clients follow changes: while somebody does, the host asks version every so many milliseconds (100 to
     * 3,600,000), and tells them when the etag it gives differs from the last one.
     */
    watch?: { every: number; version(request: Request): string | Promise<string> };
  }

  interface ShownOptions extends AnyOptions {
    /** Short; without it, the last part of the URI, or the template. */
    name?: string;
    /** What people see. */
    title?: string;
    description?: string;
    /** 0 for optional to 1 for required. */
    priority?: number;
    /** Without it, anybody. */
    audience?: Audience | Audience[];
    icons?: Icon[];
    meta?: object;
  }

  export interface ResourceOptions extends ShownOptions {
    /** Bytes. */
    size?: number;
    lastModified?: Date | string;
  }

  export interface TemplateOptions<V = Record<string, any>> extends ShownOptions {
    /**
     * Parts may be asked for. Bytes, files and streams with a size are cut to the part; a handler that can do better
     * looks at Request.range and answers with rangeTotal.
     */
    ranges?: boolean;
    /**
     * Suggests values of variables while somebody types: those of an array that begin with what was typed, whatever
     * the case, or what a function gives, as it is. At most 100 reach the client.
     */
    complete?: { [K in keyof V]?: string[] | ((request: Request, typed: string) => string[] | Promise<string[]>) };
  }

  export type Audience = "user" | "assistant";

  export interface Icon {
    /** https: or data:image/ */
    src: string;
    mimeType?: string;
    /** As in "48x48" or "any". */
    sizes?: string | string[];
    theme?: "light" | "dark";
  }

  /** One resource of a listing. */
  export interface Entry extends Omit<ResourceOptions, keyof AnyOptions> {
    uri: string;
    mimeType?: string;
  }

  export interface Page {
    /** Where to go on: what Page.next was given; empty at the start. */
    readonly cursor: string;
    /** How many entries fit. */
    readonly limit: number;
    readonly full: boolean;
    /** Puts an entry on the page; a string is its URI. False when the page is full, and the entry is not on it. */
    add(entry: Entry | string): boolean;
    /** Sets the cursor that leads to the next page. Without it this page is the last one. */
    next(cursor: string | number): void;
    /** Lists an array, or the numbers below a count, minding cursor and limit; entry is asked for those on the page. */
    each<T>(items: readonly T[], entry?: (item: T, index: number) => Entry | string): void;
    each(count: number, entry: (index: number) => Entry | string): void;
  }

  /** What a handler is asked. */
  export interface Request<V = Record<string, any>> {
    /** What is read or watched, or the directory that is listed. Of completions it is the template; empty in lists. */
    readonly uri: string;
    /**
     * The decoded variables of the template. An exploded one, as in {/path*}, is an array of strings, others are
     * strings. Those that are absent are undefined.
     */
    readonly vars: Readonly<V>;
    /** The part that is wanted, in bytes, if the route has ranges; undefined for the whole. Length 0: all the rest. */
    readonly range: { offset: number; length: number } | undefined;
    /** The etag that the asker has. */
    readonly ifNoneMatch: string | undefined;
    /** How many bytes the answer may have, if that was told. */
    readonly maxBytes: number | undefined;
    /** Who asks; undefined when nobody had to say. */
    readonly principal: { subject: string; tenant: string; scopes: string[]; claims?: object } | undefined;
    /** The request's _meta. */
    readonly meta: object | undefined;
    /** A variable as a whole number within bounds; otherwise the request fails as invalid, with words that say so. */
    int(name: string, least?: number, most?: number): number;
    /** A value of the configuration; undefined when there is none. */
    config(key: string): string | undefined;
    /** Tells the client how far a read is; total 0 when unknown. The message is one line. */
    progress(done: number, total?: number, message?: string): void;
    /** Milliseconds until the host ends the call. */
    timeLeft(): number;
  }

  /** A failure that the client is told of. Of other errors it learns nothing: they go to the log, with their stack. */
  export class Failure extends Error {
    constructor(code: Code, message?: string, options?: FailureOptions);
    readonly code: Code;
  }
  export class NotFound extends Failure {
    constructor(message?: string, options?: FailureOptions);
  }
  /** The request makes no sense. */
  export class Invalid extends Failure {
    constructor(message?: string, options?: FailureOptions);
  }
  export class Denied extends Failure {
    constructor(message?: string, options?: FailureOptions);
  }
  /** Try again later. */
  export class Unavailable extends Failure {
    constructor(message?: string, options?: FailureOptions);
  }

  export interface FailureOptions {
    /** For the client. */
    data?: object;
    /** Milliseconds, of unavailable. */
    retryAfter?: number;
    /** Goes to the log, never to the client. */
    cause?: unknown;
  }

  export type Code =
    | "not_found"
    | "invalid_params"
    | "denied"
    | "unavailable"
    | "cancelled"
    | "deadline"
    | "too_large"
    | "unsupported"
    | "internal";

  /** A directory that the operator has granted, by its path as the provider sees it. It takes the power "fs". */
  export function dir(path: string): Dir;

  /**
   * Names are relative, with slashes; "." is the directory itself. What cannot be read, or written, throws a Failure.
   *
   * What writes throws Denied where the grant is for reading alone, and Invalid for the directory itself and for a
   * folder where a file belongs. It throws a Failure of "too_large" when the provider has added more than it may, 256
   * MiB or 10,000 files and folders since it was loaded, and Unavailable when the disk is full.
   */
  export interface Dir {
    stat(name: string): FileInfo;
    /** The entries of a folder, by name. */
    list(name?: string): Iterable<FileInfo>;
    open(name: string): File;
    read(name: string): Uint8Array;
    /** Bytes that are not UTF-8 become U+FFFD. */
    readText(name: string): string;
    /**
     * Writes a file at once: who reads it meanwhile gets what it had, or all of this. The file, and the folders it is
     * in, are made if they are not there. A string is written as UTF-8. Describes what is there now.
     *
     * One call writes close to 1 MiB; more throws a Failure of "too_large". What is larger is written by one write and
     * then several append, and not at once.
     */
    write(name: string, data: string | Bytes): FileInfo;
    /** Adds to the end of a file, beside what others add at the same time. Otherwise it is as write. */
    append(name: string, data: string | Bytes): FileInfo;
    /**
     * Removes a file or an empty folder. Throws NotFound when there is none, Invalid for a folder that is not empty.
     */
    remove(name: string): void;
    /**
     * The files of a folder, to be answered by a read: each is a content of its own, in the order of their names, and in
     * memory only while it is sent. The URI of a file is uriPrefix and its path in this directory, percent-encoded.
     * Folders in the folder are passed over.
     *
     * A file is text when it is UTF-8 without zeros, unless its type is one of audio, fonts, images (SVG aside), videos,
     * application/gzip, application/pdf, application/wasm or application/zip. Its etag is made of its time of change
     * and its size.
     *
     * Left out are files beyond the bounds, which others after them may keep; those that are gone, or may not be read,
     * when their turn has come; and names that no URI can have. Then, and if there are no files, one more content comes
     * last, with the URI that was asked for. Its text says how many files are left out, and its _meta, as the member
     * folder, why: {"files":1,"bytes":5,"leftOut":{"files":1,"bytes":7,"names":["a"],"reasons":{"gone":1}}}. There are no
     * more than ten names. The reasons are maxFiles, maxBytes, gone, denied and name. At most 10,000 entries of a
     * folder are looked at: leftOut says "more":true where there are others.
     */
    folder(name: string, uriPrefix: string, options?: FolderOptions): Folder;
    /**
     * An etag of a folder, for watch: it changes when a file comes, goes, or has another size or time of change. Of the
     * options, hidden counts.
     */
    folderVersion(name: string, options?: FolderOptions): string;
  }

  /** A folder to be answered: see Dir.folder. */
  export interface Folder extends Iterable<Content> {}

  export interface FolderOptions {
    /** Without it, 100. */
    maxFiles?: number;
    /** Of all files together; without it, 1 MiB. */
    maxBytes?: number;
    /** Files whose names begin with a dot are answered, too. */
    hidden?: boolean;
    /**
     * Gives the type of a file by its name and its first bytes, 1 KiB at most. isText says whether the whole file is
     * UTF-8 without zeros. Without it, and where it gives nothing, that is text/plain or application/octet-stream.
     */
    mimeType?(name: string, head: Uint8Array, isText: boolean): string | undefined;
  }

  export interface FileInfo {
    readonly name: string;
    readonly size: number;
    readonly lastModified: Date;
    readonly isDirectory: boolean;
  }

  /**
   * A file, or a part of one. It is a stream, which reads piece by piece; as such it can be answered. A file whose size is
   * told as 0 may have bytes all the same, as those of /proc have: it is read to its end, with read and text up to 16 MiB.
   */
  export interface File extends Iterable<Uint8Array> {
    readonly size: number;
    readonly lastModified: Date;
    slice(start?: number, end?: number): File;
    read(): Uint8Array;
    text(): string;
  }

  /**
   * Sends a request to a server, by a URL that the operator granted, and gives its answer, after redirects. Unlike
   * the browser's it returns when the head of the answer is there: there is no promise. It takes the power "http".
   *
   * Any status is an answer: see Response.check. It throws Denied when this is not granted, Unavailable when there is
   * no proper answer, Invalid for a request that makes no sense, and a Failure of "deadline" or "too_large".
   */
  export function fetch(url: string, options?: FetchOptions): Response;

  export interface FetchOptions {
    /** Without it, GET. */
    method?: string;
    /**
     * Sent as they are, but for {{secret:NAME}} in a value: there the host fills a secret in that the operator
     * granted for the server, and takes it out of what comes back.
     */
    headers?: Record<string, string> | Iterable<[name: string, value: string]>;
    body?: string | Bytes;
    /** What the body of the answer may have, at most; more is too_large. Without it, as much as is granted. */
    maxBytes?: number;
    /** Milliseconds for all of it, reading the body included. Without it, as long as is granted. */
    timeout?: number;
  }

  /** What a server answered, whatever its status. */
  export interface Response {
    readonly status: number;
    /** The status says that the request was successful: 200 to 299. */
    readonly ok: boolean;
    /** What answered, after redirects. */
    readonly url: string;
    /** All fields, in their order. */
    readonly headers: readonly (readonly [name: string, value: string])[];
    /** The first field of that name, in either case; undefined when there is none. */
    header(name: string): string | undefined;
    /**
     * Gives the answer, if it is ok. Otherwise it throws what a handler may leave to the client: NotFound for 404 and
     * 410; Denied for 401 and 403; Unavailable for 408, 429 and from 500 on, with retryAfter if the server names
     * seconds; for others a Failure of "internal".
     */
    check(): this;
    /**
     * The body, to be read once, in parts, of which only one is in memory. It can be answered as text or bytes: then
     * it goes on to the client while it arrives. What fails later is thrown while it is read.
     */
    readonly body: Iterable<Uint8Array>;
    /** These read the whole body. Bytes that are not UTF-8 become U+FFFD. */
    bytes(): Uint8Array;
    text(): string;
    json(): any;
  }

  /**
   * Runs a statement that reads, on the database that the operator granted under a name. It takes the power "sql".
   *
   * The statement is in the database's own words: parameters are $1, $2 for PostgreSQL, ? for MySQL and MariaDB, and
   * ?1, ?2 for SQLite. The database lets nothing but reading through. A handler may have up to four statements under
   * way.
   *
   * It throws Invalid when the database does not accept the statement or its arguments, Denied when this is not
   * granted or does more than read, Unavailable when it may work later, and a Failure of "deadline" or "too_large".
   */
  export function query(connection: string, statement: string, ...args: SQLArgument[]): Rows;
  /** The first row; undefined when there is none. */
  export function queryRow(connection: string, statement: string, ...args: SQLArgument[]): Row | undefined;

  /** A whole number is an integer to the database, others are floats. Times and decimals are sent as text. */
  export type SQLArgument = null | boolean | number | bigint | string | Bytes;

  /**
   * Integers beyond Number.MAX_SAFE_INTEGER are of type bigint. Decimals, times and all that is none of these types
   * are strings, in the database's own form.
   */
  export type SQLValue = null | boolean | number | bigint | string | Uint8Array;

  /** Values by the names of their columns; of columns with the same name, the last one. */
  export type Row = Record<string, SQLValue>;

  /**
   * What a statement gives, to be gone over once. Rows come as they are read, in parts: a table of any size takes
   * little memory. What fails later is thrown there.
   */
  export interface Rows extends Iterable<Row> {
    /** The type is as the database calls it; empty when it does not say. */
    readonly columns: readonly { readonly name: string; readonly type: string }[];
    /** The rows as arrays, in the order of the columns. */
    values(): Iterable<SQLValue[]>;
  }

  /**
   * The values that the provider keeps from one request to the next. They belong to it alone; several instances, in
   * several processes, may use them at once. It takes the power "kv".
   *
   * Keys are texts of 1 to 1024 bytes without control characters, values any bytes, close to 1 MiB at most. There is
   * a quota, by default of 10,000 keys and 16 MiB: what is over it throws a Failure of "too_large". Invalid is thrown
   * for a key that is none, Denied when this is not granted, or only for reading, Unavailable when it may work later.
   */
  export const kv: KV;

  export interface KV {
    /** A value; undefined when there is none. */
    get(key: string): Uint8Array | undefined;
    /** As get. Bytes that are not UTF-8 become U+FFFD. */
    getText(key: string): string | undefined;
    /** A value and what describes it; undefined when there is none. */
    getEntry(key: string): (KVEntry & { readonly value: Uint8Array }) | undefined;
    /**
     * Puts a value, in place of the one that may be there, and describes it. When a condition does not hold, nothing
     * is put, and Conflict is thrown.
     */
    put(key: string, value: string | Bytes, options?: PutOptions): KVEntry;
    /**
     * Puts what change makes of a value, for which undefined stands when there is none, whoever else does so at the
     * same time: when the value has changed meanwhile, change is called again. When others are quicker again and
     * again, Unavailable is thrown.
     */
    update(
      key: string,
      change: (old: Uint8Array | undefined) => string | Bytes,
      options?: Pick<PutOptions, "ttl">,
    ): KVEntry;
    /** Removes a value if there is one. */
    delete(key: string): void;
    /** Removes a value if it has this version; otherwise Conflict is thrown. */
    deleteVersion(key: string, version: bigint): void;
    /**
     * Describes the values whose keys begin with prefix, in the order of their bytes. Values that come or go
     * meanwhile are met or not.
     */
    keys(prefix?: string): Iterable<KVEntry>;
    /** As keys, from the first key after one on, as from Page.cursor. */
    keysAfter(prefix: string, after: string): Iterable<KVEntry>;
  }

  export interface PutOptions {
    /** Milliseconds after which the value is gone; without it, it stays. */
    ttl?: number;
    /** Puts only when the value that is there has this version. */
    ifVersion?: bigint;
    /** Puts only when no value is there. */
    ifAbsent?: boolean;
  }

  /** Describes a value. */
  export interface KVEntry {
    readonly key: string;
    /** Bytes. */
    readonly size: number;
    /** Another one after each put, never one that the key had before. */
    readonly version: bigint;
    /** Undefined for never. */
    readonly expires: Date | undefined;
  }

  /** A value has another version than was asked for, or is there although it should not. It is no Failure. */
  export class Conflict extends Error {
    /** What is there; undefined when nothing is. */
    readonly entry: KVEntry | undefined;
  }

  /**
   * A variable of the environment that wasmres runs in, if the operator granted it; undefined when it is not there.
   * It takes the power "env".
   */
  export function env(name: string): string | undefined;

  /** The log of the operator; clients never see it. The console does the same. */
  export const log: Readonly<Record<"debug" | "info" | "warn" | "error", (...values: unknown[]) => void>>;

  /**
   * The value of a setting as clients may see it: only a mark if its name says that it is a secret, and otherwise as
   * redactText has it. The name may have several parts, as in database.password or DB_PASSWORD.
   */
  export function redactValue(name: string, value: string): string;

  /**
   * A text, of one line or many, with a mark in the place of each secret in it: user information of URLs and of data
   * source names, values of pairs as Password=… and token: …, bearer and basic credentials, private keys in PEM, password
   * hashes, and tokens of common services. It cannot find a password that stands alone, and is no reason to serve a file
   * of secrets.
   */
  export function redactText(text: string): string;

  /** Tells who follows a resource that it has changed. */
  export function notifyUpdated(uri: string): void;
  /** Tells clients that the list has changed. */
  export function notifyListChanged(): void;
}

/** The log of the operator. */
declare const console: Record<
  "debug" | "dir" | "error" | "group" | "groupCollapsed" | "groupEnd" | "info" | "log" | "table" | "trace" | "warn",
  (...values: unknown[]) => void
> & { assert(condition?: boolean, ...values: unknown[]): void };

declare const performance: { now(): number; readonly timeOrigin: number };
declare function queueMicrotask(callback: () => void): void;
declare function atob(base64: string): string;
declare function btoa(binary: string): string;

declare class TextEncoder {
  readonly encoding: "utf-8";
  encode(text?: string): Uint8Array;
}

/** Of UTF-8; what is none becomes U+FFFD, or is a TypeError if fatal. */
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: "utf-8";
  decode(input?: ArrayBufferLike | ArrayBufferView, options?: { stream?: boolean }): string;
}

// What follows is packed into the module only where it is used.

/** By the URL Standard, but for hosts beyond ASCII, which must be in Punycode. */
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toString(): string;
  toJSON(): string;
}

declare class URLSearchParams implements Iterable<[string, string]> {
  constructor(init?: string | Record<string, string> | Iterable<[string, string]>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, params: URLSearchParams) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}

/**
 * Timers. A provider cannot wait: a timer runs when nothing else is left to do, the earliest first, and the clock does
 * not go on for it. Timers that are left when a request has its answer do not run.
 */
declare function setTimeout<A extends unknown[]>(callback: (...args: A) => void, delay?: number, ...args: A): number;
// A callback with one parameter that may be left out, as in new Promise((resolve) => setTimeout(resolve, 100)).
declare function setTimeout(callback: (_: void) => void, delay?: number): number;
declare function setInterval<A extends unknown[]>(callback: (...args: A) => void, delay?: number, ...args: A): number;
declare function setImmediate<A extends unknown[]>(callback: (...args: A) => void, ...args: A): number;
declare function clearTimeout(timer: number | undefined): void;
declare function clearInterval(timer: number | undefined): void;
declare function clearImmediate(timer: number | undefined): void;

/** Copies a value deeply. Functions, symbols and promises throw a DOMException. */
declare function structuredClone<T>(value: T): T;

/** Random values, as those of Math.random: fit for identifiers, not for keys or tokens. */
declare const crypto: {
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
};

/** Nothing of wasmres can be interrupted: these are for packages that take them. */
declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare class AbortSignal {
  static abort(reason?: unknown): AbortSignal;
  readonly aborted: boolean;
  readonly reason: unknown;
  onabort: ((event: unknown) => void) | null;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: (event: unknown) => void): void;
  removeEventListener(type: "abort", listener: (event: unknown) => void): void;
}

/**
 * The global fetch has the shape of the browser's, for code that is written for it, over fetch of "wasmres": bodies are
 * read as a whole, and what fails rejects with a Failure. It takes the power "http".
 */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

interface RequestInit {
  method?: string;
  headers?: Headers | Record<string, string> | Iterable<[string, string]>;
  body?: string | URLSearchParams | ArrayBufferLike | ArrayBufferView | null;
  /** Ignored. */
  signal?: AbortSignal | null;
}

declare class Headers implements Iterable<[string, string]> {
  constructor(init?: Headers | Record<string, string> | Iterable<[string, string]>);
  append(name: string, value: string): void;
  set(name: string, value: string): void;
  get(name: string): string | null;
  has(name: string): boolean;
  delete(name: string): void;
  forEach(callback: (value: string, name: string, headers: Headers) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

interface Body {
  readonly headers: Headers;
  readonly bodyUsed: boolean;
  text(): Promise<string>;
  json(): Promise<any>;
  bytes(): Promise<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

interface Request extends Body {
  readonly url: string;
  readonly method: string;
}
declare const Request: { new (input: string | URL | Request, init?: RequestInit): Request };

interface Response extends Body {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly url: string;
}
declare const Response: {
  new (body?: RequestInit["body"], init?: { status?: number; statusText?: string; headers?: RequestInit["headers"] }): Response;
  json(value: unknown, init?: { status?: number; headers?: RequestInit["headers"] }): Response;
};

declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.csv" {
  const text: string;
  export default text;
}
declare module "*.html" {
  const text: string;
  export default text;
}
