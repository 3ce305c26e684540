// The provider of package abitest, made with the AssemblyScript SDK.

import {
  Content, DIRECTORY_TYPE, Entry, Failure, Page, Reply, Request, Source, Writer, bytes, contents, notFound, provider, stream, text,
} from "../../../guest-sdk/assemblyscript";
import { listFolder, servePowers } from "./powers";

export { wasmres_v1 } from "../../../guest-sdk/assemblyscript";

const kit = provider("kit", "1.0.0");

kit.resource("kit://text", (): Reply => text("The quick brown fox.\nZwölf Boxkämpfer. 狐 🦊\n").etag(`"v1"`))
  .watch(1000, (): string => `"v1"`);
kit.resource("kit://blob", (): Reply => {
  const b = new Uint8Array(256);
  for (let i = 0; i < b.length; i++) b[i] = <u8>i;
  return bytes(b);
});
kit.resource("kit://empty", (): Reply => text(""));
kit.resource("kit://several", (): Reply => {
  const two = new Uint8Array(1);
  two[0] = 2;
  return contents([text("one").uri("kit://several/1"), bytes(two).uri("kit://several/2")]);
});
kit.resource("kit://principal", (r: Request): Reply => {
  const p = r.principal;
  return p === null ? text("nobody") : text(p.subject + "/" + p.tenant);
});
kit.readAny((): Reply => notFound("nothing here"));

kit.template("kit://echo/{value}", (r: Request): Reply => text(r.var("value")))
  .completeFrom("value", ["alpha", "beta", "bravo"]);
kit.template("kit://join{/part*}", (r: Request): Reply => text(r.vars("part").join("|")));
kit.template("kit://fail/{code}", fail);
kit.template("kit://stream/{n}", (r: Request): Reply => stream(new Counting(r.int<i64>("n")))).ranges();
kit.template("kit://many/{i}", (r: Request): Reply => {
  const i = r.int("i");
  return i < 1 || i > 25 ? notFound("nothing here") : text(i.toString());
});
kit.template("kit://config/{key}", (r: Request): Reply => {
  const value = r.config(r.var("key"));
  return value === null ? notFound("nothing here") : text(value);
});

servePowers(kit);

kit.list((r: Request, page: Page): Failure | null => page.each(25, many));

function many(i: i32): Entry { return new Entry(`kit://many/${i + 1}`); }

kit.listDirectory((r: Request, page: Page): Failure | null => {
  if (r.var("name").length > 0) return listFolder(r, page);
  if (r.uri == "kit://many") return page.each(26, child);
  return r.uri == "kit://many/none" ? null : notFound("nothing here");
});

function child(i: i32): Entry { return i < 25 ? many(i) : new Entry("kit://many/none").mime(DIRECTORY_TYPE); }

function fail(r: Request): Reply {
  const code = r.int("code");
  return new Failure(code, "failed as asked").retryAfter(code == 4 ? 1500 : 0);
}

/** Counting writes bytes of which number i is i&0xff. */
class Counting extends Source {
  private first: i64 = 0;

  constructor(size: i64) {
    super();
    this.size = size;
  }

  skip(bytes: i64): bool {
    this.first = bytes;
    return true;
  }

  write(w: Writer): Failure | null {
    const piece = new Uint8Array(48 << 10); // a multiple of 256, so that all pieces are the same
    for (let i = 0; i < piece.length; i++) piece[i] = <u8>(this.first + i);
    for (let at = this.first; at < this.size; at += piece.length) {
      if (!w.bytes(piece, <i32>min<i64>(piece.length, this.size - at))) break;
    }
    return null;
  }
}
