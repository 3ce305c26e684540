// The spelling of the official TypeScript SDK for servers of MCP, for its servers of resources: what they import from
// "@modelcontextprotocol/server", or from "@modelcontextprotocol/sdk/server/mcp.js" and its neighbours, they import from
// "wasmres/mcp". It has resources, templates, lists, completion and notifications. Tools and prompts are refused.

import {
  Failure, Invalid, NotFound, log, notifyListChanged, notifyUpdated, provider,
  type Content, type Entry, type Provider, type ProviderOptions, type Request, type ResourceOptions,
} from "wasmres";

export interface Implementation {
  name: string;
  version: string;
  title?: string;
  description?: string;
}

export interface ServerOptions {
  /** Ignored: what a server is capable of follows from what it registers. */
  capabilities?: object;
  instructions?: string;
  cacheHints?: Record<string, CacheHint>;
  /** What this SDK adds: what the operator is asked for, and other options of the provider. */
  wasmres?: Omit<ProviderOptions, "name" | "version" | "title" | "description">;
}

export interface CacheHint {
  ttlMs?: number;
  cacheScope?: "public" | "private";
}

export interface ResourceMetadata {
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  icons?: ResourceOptions["icons"];
  annotations?: { audience?: ("user" | "assistant")[]; priority?: number; lastModified?: string };
  cacheHint?: CacheHint;
  _meta?: object;
}

export type Variables = Record<string, string | string[]>;

export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  /** Base64. */
  blob?: string;
  _meta?: object;
}

export interface ReadResourceResult extends CacheHint {
  contents: ResourceContents[];
  _meta?: object;
}

export interface ListResourcesResult {
  resources: (ResourceMetadata & { uri: string; name: string })[];
  nextCursor?: string;
}

/** What a callback is given beside its arguments. */
export interface ServerContext {
  /** The request as the SDK of wasmres has it. */
  readonly request: Request;
  readonly mcpReq: {
    readonly _meta: object | undefined;
    /** Writes to the log of the operator. */
    log(level: string, data: unknown): Promise<void>;
    /** Sends notifications/progress; others are refused. */
    notify(notification: { method: string; params?: { progress?: number; total?: number; message?: string } }): Promise<void>;
  };
  readonly authInfo: { clientId: string; scopes: string[]; extra: object } | undefined;
  readonly sessionId: undefined;
}

export type ReadResourceCallback = (uri: URL, context: ServerContext) => ReadResourceResult | Promise<ReadResourceResult>;
export type ReadResourceTemplateCallback = (
  uri: URL,
  variables: Variables,
  context: ServerContext,
) => ReadResourceResult | Promise<ReadResourceResult>;
export type ListResourcesCallback = (context: ServerContext) => ListResourcesResult | Promise<ListResourcesResult>;
export type CompleteResourceTemplateCallback = (
  value: string,
  context?: { arguments?: Record<string, string> },
) => string[] | Promise<string[]>;

export class ResourceTemplate {
  constructor(
    readonly uriTemplate: string,
    readonly callbacks: {
      list: ListResourcesCallback | undefined;
      complete?: Record<string, CompleteResourceTemplateCallback>;
    },
  ) {}
}

/** Codes of errors. */
export const ProtocolErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  ResourceNotFound: -32002,
} as const;
export { ProtocolErrorCode as ErrorCode };

/** An error that the client is told of: as not found, as invalid parameters, or as internal. */
export class ProtocolError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.name = "ProtocolError";
  }
}
export { ProtocolError as McpError };

export class ResourceNotFoundError extends ProtocolError {
  constructor(uri: string, message = `Resource not found: ${uri}`) {
    super(ProtocolErrorCode.ResourceNotFound, message, { uri });
  }
}

/** What register methods return. What a provider serves is fixed once it has started, so that nothing can be changed. */
export interface RegisteredResource {
  update(updates: object): never;
  enable(): never;
  disable(): never;
  remove(): never;
}

interface Template {
  template: ResourceTemplate;
  metadata: ResourceMetadata;
}

export class McpServer {
  readonly #provider: Provider;
  readonly #hints: Record<string, CacheHint>;
  readonly #listed: Template[] = [];
  /** The lower level of the server, as far as servers of resources use it. */
  readonly server = lowLevel;

  constructor({ name, version, title, description }: Implementation, options: ServerOptions = {}) {
    this.#hints = options.cacheHints ?? {};
    this.#provider = provider({
      name, version, title, description: description ?? options.instructions, ...options.wasmres,
    });
  }

  registerResource(name: string, uri: string, metadata: ResourceMetadata, read: ReadResourceCallback): RegisteredResource;
  registerResource(
    name: string,
    template: ResourceTemplate,
    metadata: ResourceMetadata,
    read: ReadResourceTemplateCallback,
  ): RegisteredResource;
  registerResource(
    name: string,
    at: string | ResourceTemplate,
    metadata: ResourceMetadata,
    read: ReadResourceCallback | ReadResourceTemplateCallback,
  ): RegisteredResource {
    const options = { name, ...shown(metadata), ...cached({ ...this.#hints["resources/read"], ...metadata.cacheHint }) };
    if (typeof at === "string") {
      this.#provider.resource(at, options, (request) => answer(request, (read as ReadResourceCallback)(...fixed(request))));
      return registered;
    }
    const { size: _, lastModified: __, ...templateOptions } = options;
    const { list, complete } = at.callbacks;
    this.#provider.template(at.uriTemplate, { ...templateOptions, complete: completions(complete) }, (request) =>
      answer(request, (read as ReadResourceTemplateCallback)(new URL(request.uri), request.vars, contextOf(request))),
    );
    if (list) this.#list({ template: at, metadata });
    return registered;
  }

  /** The spelling of version 1: metadata may be left out. */
  resource(name: string, at: string | ResourceTemplate, ...rest: unknown[]): RegisteredResource {
    const [metadata, read] = rest.length > 1 ? rest : [{}, rest[0]];
    return this.registerResource(name, at as string, metadata as ResourceMetadata, read as ReadResourceCallback);
  }

  #list(template: Template): void {
    this.#listed.push(template);
    if (this.#listed.length > 1) return;
    const { ttl, public: isPublic } = cached(this.#hints["resources/list"] ?? {});
    const listed = this.#listed;
    this.#provider.list({ ttl, public: isPublic }, async function* (request) {
      for (const { template, metadata } of listed) {
        const { resources } = await template.callbacks.list!(contextOf(request));
        for (const { uri, name, ...own } of resources) yield { uri, name, ...shown({ ...metadata, ...own }) } as Entry;
      }
    });
  }

  registerTool(name: string, ..._: unknown[]): never {
    return refuse("tool", name, "--tools offers the resources as tools to clients that have only those");
  }

  registerPrompt(name: string, ..._: unknown[]): never {
    return refuse("prompt", name, "serve its text as a resource");
  }

  tool(name: string, ..._: unknown[]): never {
    return this.registerTool(name);
  }

  prompt(name: string, ..._: unknown[]): never {
    return this.registerPrompt(name);
  }

  sendResourceListChanged(): void {
    notifyListChanged();
  }

  async sendLoggingMessage({ level, data }: { level: string; data: unknown }): Promise<void> {
    write(level, data);
  }

  /** Does nothing: wasmres is connected already. */
  async connect(_transport?: unknown): Promise<void> {}
  async close(): Promise<void> {}
  readonly isConnected = () => true;
}

/** Does nothing: wasmres serves the provider as its command line says. */
export class StdioServerTransport {}

/** Calls the function that makes the server. */
export function serveStdio(make: (context: { era: "modern" }) => unknown): void {
  make({ era: "modern" });
}

export const SubscribeRequestSchema = "resources/subscribe";
export const UnsubscribeRequestSchema = "resources/unsubscribe";

const lowLevel = {
  /** Accepts handlers of subscriptions, and does not call them: wasmres knows which client follows what. */
  setRequestHandler(method: string, _handler: (request: { params: { uri: string } }) => unknown): void {
    if (method === SubscribeRequestSchema || method === UnsubscribeRequestSchema) return;
    throw new TypeError(`wasmres answers ${String(method)} itself: register resources, and remove the handler`);
  },
  async sendResourceUpdated({ uri }: { uri: string }): Promise<void> {
    notifyUpdated(uri);
  },
  async sendResourceListChanged(): Promise<void> {
    notifyListChanged();
  },
  async sendLoggingMessage({ level, data }: { level: string; data: unknown }): Promise<void> {
    write(level, data);
  },
};

function refuse(kind: string, name: string, instead: string): never {
  throw new TypeError(`wasmres serves resources, and no ${kind}s: remove the ${kind} ${JSON.stringify(name)}; ${instead}`);
}

const unchangeable = (): never => {
  throw new TypeError("what a provider registers is fixed once it has started: register a template with a list instead");
};
const registered: RegisteredResource = {
  update: unchangeable, enable: unchangeable, disable: unchangeable, remove: unchangeable,
};

/** The fields of metadata as the SDK of wasmres names them. */
function shown({ title, description, mimeType, size, icons, annotations = {}, _meta }: ResourceMetadata) {
  const { audience, priority, lastModified } = annotations;
  return { title, description, mimeType, size, icons, audience, priority, lastModified, meta: _meta };
}

const cached = ({ ttlMs, cacheScope }: CacheHint) => ({ ttl: ttlMs, public: cacheScope === "public" });

function completions(complete: Record<string, CompleteResourceTemplateCallback> = {}) {
  return Object.fromEntries(
    Object.entries(complete).map(([name, callback]) => [
      name,
      (request: Request, typed: string) => callback(typed, { arguments: { ...request.vars } }),
    ]),
  );
}

const fixed = (request: Request): [URL, ServerContext] => [new URL(request.uri), contextOf(request)];

function contextOf(request: Request): ServerContext {
  const { principal } = request;
  return {
    request,
    mcpReq: {
      _meta: request.meta,
      log: async (level, data) => write(level, data),
      notify: async ({ method, params = {} }) => {
        if (method !== "notifications/progress") throw new TypeError(`wasmres sends no ${method} for a provider`);
        request.progress(params.progress ?? 0, params.total, params.message);
      },
    },
    authInfo: principal && { clientId: principal.subject, scopes: principal.scopes, extra: principal.claims ?? {} },
    sessionId: undefined,
  };
}

function write(level: string, data: unknown): void {
  const known = { debug: log.debug, info: log.info, notice: log.info, warning: log.warn } as Record<string, typeof log.info>;
  (known[level] ?? log.error)(data);
}

async function answer(request: Request, result: ReadResourceResult | Promise<ReadResourceResult>): Promise<Content[]> {
  try {
    return (await result).contents.map(contentOf);
  } catch (error) {
    throw error instanceof ProtocolError ? failureOf(error) : error;
  }
}

function contentOf({ uri, mimeType, text, blob, _meta }: ResourceContents): Content {
  const fields = { uri, mimeType, meta: _meta };
  if (blob === undefined) return { ...fields, text: text ?? "" };
  return { ...fields, bytes: Uint8Array.from(atob(blob), (character) => character.charCodeAt(0)) };
}

function failureOf(error: ProtocolError): Failure {
  const options = { cause: error, data: error.data as object | undefined };
  switch (error.code) {
    case ProtocolErrorCode.ResourceNotFound:
      return new NotFound(error.message);
    case ProtocolErrorCode.InvalidParams:
      return new Invalid(error.message, { data: options.data });
  }
  return new Failure("internal", error.message, options);
}
