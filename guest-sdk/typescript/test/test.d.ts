// What tests of a provider, which Node.js runs, import from "wasmres/test".

declare module "wasmres/test" {
  import type { Entry } from "wasmres";

  /**
   * A stand-in for wasmres, which asks the provider that the test has imported. It runs the code of the SDK that the
   * sandbox runs. Globals of the provider last from one request to the next, as they do not in the sandbox, and there are
   * no limits.
   */
  export class Host {
    constructor(options?: HostOptions);
    /** Lines of the log so far. */
    readonly logs: { level: "debug" | "info" | "warn" | "error"; message: string }[];
    /** URIs of notifyUpdated so far, and "" for notifyListChanged. */
    readonly notices: string[];
    /** Reads as a client does. It throws a RequestError for what the client is told of, and for other errors. */
    read(uri: string, options?: ReadOptions): Promise<ReadContent[]>;
    /** The text of a resource that has one content. */
    text(uri: string, options?: ReadOptions): Promise<string>;
    /** All pages: the fixed resources first. */
    list(): Promise<Entry[]>;
    /** All pages of the direct children of a directory resource. An entry that is none is an error, as for the host. */
    listDirectory(uri: string): Promise<Entry[]>;
    templates(): Promise<(Omit<Entry, "uri"> & { uriTemplate: string })[]>;
    complete(uriTemplate: string, argument: string, typed?: string, vars?: Record<string, string>): Promise<string[]>;
    manifest(): Promise<Manifest>;
  }

  /** What is granted. What is absent is not. */
  export interface HostOptions {
    config?: Record<string, string>;
    env?: Record<string, string>;
    /** Folders of this machine, by the paths that the provider uses. */
    dirs?: Record<string, string>;
    /** True for a store that is empty at first. */
    kv?: boolean;
    /** Answers requests of fetch; undefined is a 404. */
    fetch?(request: { method: string; url: string; headers: [string, string][]; body?: Uint8Array }):
      | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array }
      | undefined;
    /** Answers queries with rows, by connection. */
    sql?: Record<string, (statement: string, ...args: unknown[]) => Record<string, unknown>[]>;
  }

  export interface ReadOptions {
    range?: { offset: number; length: number };
    ifNoneMatch?: string;
    maxBytes?: number;
    principal?: { subject: string; tenant?: string; scopes?: string[]; claims?: object };
    meta?: object;
  }

  export interface ReadContent {
    uri: string;
    mimeType: string;
    text?: string;
    bytes?: Uint8Array;
    notModified?: true;
    etag?: string;
    lastModified?: string;
    rangeTotal?: number;
    meta?: object;
  }

  export interface Manifest {
    name: string;
    version?: string;
    title?: string;
    description?: string;
    resources: Entry[];
    templates: (Omit<Entry, "uri"> & { uriTemplate: string })[];
    prefixes: string[];
  }

  /** Why a request failed. Its cause is the error, unless that was a Failure of the SDK. */
  export class RequestError extends Error {
    readonly code: import("wasmres").Code;
    readonly data?: object;
    /** Milliseconds. */
    readonly retryAfter?: number;
  }
}
