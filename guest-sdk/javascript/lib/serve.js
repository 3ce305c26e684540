// One operation after the other.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { sendAnswer } from "./content.js";
import { Failure, NotFound, numberOf } from "./failure.js";
import { putManifest } from "./manifest.js";
import { flushUnlessEnough, jsonOf, kindOf } from "./out.js";
import { Page } from "./page.js";
import { registered } from "./provider.js";
import { Request, hiddenOf } from "./request.js";

const maxCompletions = 100; // that MCP passes on

// The engine calls these functions, for the code of an operation, or a promise of it. It calls the handlers of reads
// itself, if it knows the route, and sends most short texts itself.
host.serve(
  (op, request, route) => (serves(op) ? ending(() => run(op, request, route)) : abi.CODE_UNSUPPORTED),
  (answer, request, route) => ending(() => after(answer, (answer) => sendAnswer(answer, request, route))),
  fail,
  new Request(),
);

/** Gives the code that an operation ends with, or a promise of it. */
function ending(operation) {
  try {
    const running = operation();
    return isPromise(running) ? running.then(finish).catch(fail) : finish();
  } catch (error) {
    return fail(error);
  }
}

const isPromise = (value) => typeof value?.then === "function";

/** Calls a function with a value, or with what it promises. */
const after = (value, then) => (isPromise(value) ? Promise.resolve(value).then(then) : then(value));

/** Whether the provider has said that it answers an operation. */
const serves = (op) => op < 32 && (registered.ops & (1 << op)) !== 0;

function run(op, request, known) {
  switch (op) {
    case abi.OP_DESCRIBE:
      return describe();
    case abi.OP_LIST:
      return list(registered.lister, request);
    case abi.OP_LIST_DIR:
      return list(registered.directoryLister, request);
    case abi.OP_COMPLETE:
      return complete(request, known);
  }
  const route = known ?? (hiddenOf(request).route > 0 ? undefined : registered.any);
  if (!route) throw new NotFound();
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

function list(lister, request) {
  const page = new Page(hiddenOf(request));
  const listed = after(lister.list(request, page), (answer) => page.take(answer));
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

function complete(request, route) {
  if (!route) throw new NotFound();
  const { argument, typed } = hiddenOf(request);
  const source = Object.hasOwn(route.complete ?? {}, argument) ? route.complete[argument] : [];
  if (Array.isArray(source)) return putCompletions(source.filter((value) => beginsLike(value, typed)));
  return after(source(request, typed), putCompletions);
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
  if (host.stoppedCode() !== abi.CODE_OK) return host.stoppedCode(); // whatever the handler made of it
  flushUnlessEnough(); // the entries of a list; nothing follows that it could not do without
  return abi.CODE_OK;
}

function fail(error) {
  if (host.stoppedCode() !== abi.CODE_OK) return host.stoppedCode();
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
