import * as abi from "./abi";
import { Asked } from "./asked";
import { Content, Contents } from "./content";
import { Decoder } from "./decoder";
import { Failure, invalid } from "./failure";
import { Folder } from "./folder";
import * as host from "./host";
import * as out from "./out";
import { ListHandler, Page } from "./page";
import { Provider, theProvider } from "./provider";
import { Route } from "./route";

const COMPLETIONS: i32 = 100; // as many as MCP allows in one answer
const received = memory.data(65536);

/** The function the host calls: the entry file must export it. */
export function wasmres_v1(op: u32, length: u32): u32 {
  const p = theProvider();
  if (!p.implements(op)) return abi.CODE_UNSUPPORTED;
  out.begin();
  const r = new Asked();
  const code = out.finish(receive(r, length) ? run(p, op, r) : invalid("malformed request"));
  if (p.lasts) __collect(); // here, where nothing but globals refers to anything
  return code;
}

function receive(r: Asked, length: u32): bool {
  if (length > abi.MAX_REQUEST) return false;
  return r.decode(new Decoder(received, received + host.take(abi.CHANNEL_REQUEST, received, 0, length)));
}

/** Runs an operation. Null when it went well. */
function run(p: Provider, op: u32, r: Asked): Failure | null {
  if (op == abi.OP_DESCRIBE) return describe(p);
  if (op == abi.OP_LIST) return list(p.listing!, r);
  if (op == abi.OP_LIST_DIR) return list(p.directoryListing!, r);
  if (op == abi.OP_COMPLETE) return complete(p.templateOf(r.uri), r);
  const route = p.route(r.route, r.uri);
  if (route === null) return new Failure(abi.CODE_NOT_FOUND);
  if (op == abi.OP_READ) return read(route, r);
  if (op == abi.OP_POLL) return poll(route, r);
  out.frame.number(14, route.every);
  return null;
}

function describe(p: Provider): Failure | null {
  const manifest = out.frame.begin(9);
  p.encode(out.frame);
  out.frame.end(manifest);
  return null;
}

function list(handler: ListHandler, r: Asked): Failure | null {
  const page = new Page(r.cursor, r.limit);
  const failure = handler(r, page);
  if (failure !== null) return failure;
  page.end();
  return null;
}

function read(route: Route, r: Asked): Failure | null {
  const reply = route.read(r);
  if (out.failed !== null) return null;
  if (reply instanceof Failure) return reply as Failure;
  out.frame.number(10, route.fresh).number(11, route.scope);
  if (reply instanceof Folder) return (reply as Folder).send(r, route);
  if (!(reply instanceof Contents)) return sendOne(reply as Content, route, r);
  return sendAll((reply as Contents).all, route, r);
}

function sendOne(content: Content, route: Route, r: Asked): Failure | null {
  content.compare(r.ifNoneMatch);
  return content.send(r, route);
}

function sendAll(all: Content[], route: Route, r: Asked): Failure | null {
  if (all.length == 0) return new Failure(abi.CODE_NOT_FOUND);
  if (all.length == 1) return sendOne(all[0], route, r);
  for (let i = 0; i < all.length && !out.stopped(); i++) {
    const failure = all[i].send(r, route);
    if (failure !== null) return failure;
  }
  return null;
}

function poll(route: Route, r: Asked): Failure | null {
  const version = route.version;
  if (version === null) return new Failure(abi.CODE_UNSUPPORTED);
  const etag = version(r);
  const content = out.frame.begin(3);
  out.frame.text(1, r.uri).text(7, etag).flag(10, etag.length > 0 && etag == r.ifNoneMatch).end(content);
  return null;
}

function complete(route: Route | null, r: Asked): Failure | null {
  if (route === null) return new Failure(abi.CODE_NOT_FOUND);
  const values = route.suggest(r, r.argument, r.typed);
  for (let i = 0; i < min(values.length, COMPLETIONS); i++) out.frame.element(6, values[i]);
  out.frame.number(7, values.length).flag(8, values.length > COMPLETIONS);
  return null;
}
