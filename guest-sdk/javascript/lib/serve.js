// One operation after the other.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { sendAnswer } from "./content.js";
import { Failure, NotFound, numberOf } from "./failure.js";
import { putManifest } from "./manifest.js";
import { begin, flushUnlessEnough, jsonOf, kindOf, stoppedCode } from "./out.js";
import { Page } from "./page.js";
import { registered } from "./provider.js";
import { Request } from "./request.js";

const maxCompletions = 100; // that MCP passes on

// The engine hands over the number of an operation and the fields of its request. It gets the code, or a promise of it.
host.serve((op, fields) => {
  begin();
  try {
    if (!registered) throw new Failure("internal", "the script does not call provider");
    if (op > abi.OP_EVENT || !(registered.ops & (1 << op))) return abi.CODE_UNSUPPORTED;
    const running = run(op, fields);
    return isPromise(running) ? running.then(finish).catch(fail) : finish();
  } catch (error) {
    return fail(error);
  }
});

const isPromise = (value) => typeof value?.then === "function";

/** Calls a function with a value, or with what it promises. */
const after = (value, then) => (isPromise(value) ? Promise.resolve(value).then(then) : then(value));

function run(op, fields) {
  switch (op) {
    case abi.OP_DESCRIBE:
      return describe();
    case abi.OP_LIST:
      return list(fields);
    case abi.OP_COMPLETE:
      return complete(fields);
  }
  const route = routeOf(fields);
  if (!route) throw new NotFound();
  const request = new Request(fields, route);
  switch (op) {
    case abi.OP_READ:
      return after(route.read(request), (answer) => sendAnswer(answer, request, route));
    case abi.OP_SUBSCRIBE:
      return host.number(14, route.watch?.every ?? 0);
    case abi.OP_POLL:
      return poll(request, route);
  }
  throw new Failure("unsupported");
}

/** What is wrong with the manifest is for who builds it. */
function describe() {
  try {
    putManifest(registered);
  } catch (error) {
    throw new Failure("internal", String(error), { cause: error });
  }
}

/** Who answers for what the host has routed. */
function routeOf({ route = 0, uri = "" }) {
  return route > 0 ? registered.templates[route - 1] : (registered.resources.get(uri) ?? registered.any);
}

function list(fields) {
  const { lister } = registered;
  const page = new Page(fields);
  const listed = after(lister.list(new Request(fields), page), (answer) => page.take(answer));
  return after(listed, () => page.finish(lister));
}

function poll(request, route) {
  if (!route.watch) throw new Failure("unsupported");
  return after(route.watch.version(request), (etag) => {
    if (typeof etag !== "string") throw new TypeError(`${route.uri}: watch: version gave ${kindOf(etag)}, not an etag`);
    host.begin(3);
    host.text(1, request.uri);
    host.text(7, etag);
    host.number(10, etag !== "" && etag === request.ifNoneMatch ? 1 : 0);
    host.end();
  });
}

function complete(fields) {
  const route = registered.templates.find((template) => template.uri === fields.uri);
  if (!route) throw new NotFound();
  const { argument = "", typed = "" } = fields;
  const source = Object.hasOwn(route.complete ?? {}, argument) ? route.complete[argument] : [];
  if (Array.isArray(source)) return putCompletions(source.filter((value) => beginsLike(value, typed)));
  return after(source(new Request(fields, route), typed), putCompletions);
}

const beginsLike = (value, typed) => value.toLowerCase().startsWith(typed.toLowerCase());

function putCompletions(values) {
  if (!Array.isArray(values)) throw new TypeError(`a completion is ${kindOf(values)} where it should be an array`);
  for (const value of values.slice(0, maxCompletions)) host.element(6, String(value));
  host.number(7, values.length);
  host.number(8, values.length > maxCompletions ? 1 : 0);
}

/** Sends what is left, and gives the code that the operation ends with. */
function finish() {
  if (stoppedCode() !== abi.CODE_OK) return stoppedCode(); // whatever the handler made of it
  flushUnlessEnough(); // the entries of a list; nothing follows that it could not do without
  return abi.CODE_OK;
}

function fail(error) {
  if (stoppedCode() !== abi.CODE_OK) return stoppedCode();
  host.drop();
  if (!(error instanceof Failure)) {
    host.fault(error);
    return abi.CODE_INTERNAL;
  }
  if (error.cause !== undefined) host.report(error.cause);
  putFailure(error);
  host.emit();
  return numberOf(error);
}

function putFailure({ message, data, retryAfter }) {
  host.begin(5);
  host.text(1, message);
  host.text(2, jsonOf(data));
  host.number(3, retryAfter ?? 0);
  host.end();
}
