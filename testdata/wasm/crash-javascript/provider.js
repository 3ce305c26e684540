// A provider that crashes as its URI says, after it has used what a host grants, the time and random numbers.
import { kv, provider } from "wasmres";

provider({ name: "crash", version: "1.0.0", asks: [{ name: "kv", reason: "keeps values", optional: true }] })
  .template("crash://{kind}/{n}", (request) => {
    kv.put("seed", request.vars.n);
    const value = kv.get("seed");
    const plain = request.config("plain") ?? "";
    let w = work(request.int("n") + value.length + plain.length, Math.floor(Math.random() * 500) + (Date.now() % 100));
    const kept = [];
    switch (request.vars.kind) {
      case "memory":
        for (;;) kept.push(new Uint8Array(2 ** 20 + w));
      case "objects":
        for (let i = w; ; i++) kept.push({ i, title: `note ${i}` });
      case "calls":
        for (;;) kv.get("seed");
      case "pattern":
        for (;;) kept[0] = /^(a+)+$/.test("a".repeat(20 + (w % 5)) + "b");
      case "sort":
        for (;;) kept[0] = Array.from({ length: 1000 }, (_, i) => (i * 7919 + w) % 1009).sort((a, b) => a - b);
    }
    for (;;) w = work(w, 1000);
  });

// Takes time that differs with what it is given.
function work(n, times) {
  for (let i = 0; i < times; i++) n = (n * 31 + i) % 100003;
  return n;
}
