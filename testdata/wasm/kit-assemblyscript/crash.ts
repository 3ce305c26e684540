// A provider that crashes as its URI says, after it has used what a host grants, the time and random numbers.

import { KVStore, now, Reply, Request, provider, text } from "../../../guest-sdk/assemblyscript";

export { wasmres_v1 } from "../../../guest-sdk/assemblyscript";

const store = new KVStore();
let zero = 0;
let kept: Uint8Array[] = [];

const crashes = provider("crash", "1.0.0");
crashes.ask("kv", "keeps values").optional();
crashes.template("crash://{kind}/{n}", crash);

function crash(r: Request): Reply {
  const n = r.int("n");
  if (store.putText("seed", r.var("n")) === null) return store.failure;
  const value = store.get("seed");
  if (value === null) return store.failure;
  const plain = r.config("plain");
  const w = work(n + value.length + (plain === null ? 0 : plain.length), <i32>(now() % 5000));
  const kind = r.var("kind");
  if (kind == "unreachable") unreachable();
  if (kind == "assert") assert(w < 0, "no such note");
  if (kind == "index") return text(value[w + value.length].toString());
  if (kind == "divide") return text((w / zero).toString());
  if (kind == "stack") return text(deeper(w).toString());
  if (kind == "memory") while (true) kept.push(new Uint8Array((1 << 20) + w));
  if (kind == "calls") while (true) store.get("seed");
  let i = w;
  while (i != -1) i = work(i, 1000);
  return text("");
}

// Takes time that differs with what it is given.
function work(n: i32, times: i32): i32 {
  for (let i = 0; i < times; i++) n = (n * 31 + i) % 100003;
  return n;
}

function deeper(n: i32): i32 { return deeper(n + 1) + 1; }
