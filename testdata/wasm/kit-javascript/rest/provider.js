// What the SDK for JavaScript can do beyond the conformance kit.
import { Denied, log, provider } from "wasmres";
import { seven } from "./lib/numbers.js";
import { servePowers } from "./powers.js";
import data from "./data.json" with { type: "json" };
import text from "./text.txt" with { type: "text" };

const word = "aü狐🦊";

const served = provider({
  name: "rest",
  version: "2.0.0",
  title: "The rest",
  description: "Everything else.",
  prefixes: ["rest://", "more://"],
  asks: [{ name: "fs", reason: "reads files", optional: true, params: { a: 1 } }],
  configSchema: { type: "object" },
  limits: { memory: 100_000, deadline: 1500, maxBody: 1 << 20, maxInstances: 3 },
  lifecycle: "session",
});

served
  .template("rest://words/{n}", (request) => word.repeat(request.int("n", 0)))
  .template("rest://stream/{n}", (request) => ({ text: words(request.int("n", 0)) }))
  .template("rest://async/{n}", async (request) => ({ text: wordsLater(request.int("n", 0)) }))
  .template("rest://whole/{n}", { ranges: true }, (request) => counting(0, request.int("n")))
  .template("rest://chunks/{n}", { ranges: true }, (request) => {
    const size = request.int("n");
    return { bytes: chunks(size), size };
  })
  .template("rest://later/{n}", { ranges: true }, async (request) => {
    const size = request.int("n");
    return { bytes: chunksLater(size), size };
  })
  .template("rest://vars/{a}/{b}{?c,d*}", ({ vars }) => JSON.stringify(vars))
  .template(
    "rest://suggest/{a}{?b,c*}",
    {
      name: "suggest",
      title: "Suggests",
      description: "It suggests.",
      mimeType: "text/html",
      audience: ["user", "assistant"],
      icons: [{ src: "https://x/y.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }],
      meta: { m: 1 },
      ttl: 60_000,
      public: true,
      complete: {
        a: ["Upper", "lower"],
        c: async ({ vars }, typed) => Array.from({ length: 150 }, (_, i) => vars.a + typed + i),
      },
    },
    ({ vars }) => vars.a,
  );

function* words(n) {
  for (let i = 0; i < n; i++) yield word;
}

async function* wordsLater(n) {
  for (let i = 0; i < n; i++) yield await word;
}

/** Gives the bytes from start to end of those that count up. */
const counting = (start, end) => Uint8Array.from({ length: end - start }, (_, i) => start + i);

function* chunks(n) {
  for (let at = 0; at < n; at += 48 << 10) yield counting(at, Math.min(at + (48 << 10), n));
}

async function* chunksLater(n) {
  yield* chunks(n);
}

served
  .resource("rest://lone", () => "a\ud800b\udc00狐\udbff")
  .resource("rest://short", async () => ({ text: "ü", uri: "rest://other", mimeType: "text/x", etag: "e" }))
  .resource("rest://bytes", { mimeType: "image/x", ttl: 7, public: true }, () => ({
    bytes: Uint8Array.of(0, 255),
    uri: null,
  }))
  .resource("rest://buffer", () => ({ then: (resolve) => resolve(Uint8Array.of(1, 2).buffer) }))
  .resource("rest://both", () => ({ text: "a", bytes: Uint8Array.of(1) }))
  .resource("rest://getter", () => ({ get text() { throw new Denied("not this"); } }))
  .resource("rest://thrown", () => {
    throw new TypeError("secret");
  })
  .resource("rest://rejected", async () => {
    await null;
    throw "no error at all";
  })
  .resource("rest://never", () => new Promise(() => {}))
  .resource("rest://nothing", async () => undefined)
  .resource("rest://odd", () => 42)
  .resource("rest://refused", () => {
    throw new Denied("not you", { cause: new Error("the operator reads this") });
  })
  .resource("rest://midway", () => ({ text: broken() }))
  .resource("rest://deep", function deep(request) {
    return deep(request) + 1;
  })
  .resource(
    "rest://slow",
    { size: 4, lastModified: new Date("2026-11-22T00:00:00Z"), priority: 0.5 },
    (request) => {
      request.progress(1, 2, "half");
      log.debug("half", { done: 1 });
      return String(request.timeLeft() >= 0);
    },
  )
  .resource("rest://globals", globals)
  .resource("rest://imports", () => `${seven + data.none}, ${text}`)
  .list({ ttl: 5000, public: true }, function* () {
    for (let i = 0; i < 40; i++) yield { uri: `more://${i}`, title: "Zwölf", description: "x".repeat(1000), size: i };
  });

servePowers(served);

function* broken() {
  yield "a";
  throw new Error("the rest is missing");
}

function globals() {
  const encoded = new TextEncoder().encode(word);
  const decoder = new TextDecoder();
  let decoded = "";
  for (const byte of encoded) decoded += decoder.decode(Uint8Array.of(byte), { stream: true });
  decoded += decoder.decode();
  if (decoded !== word || new TextDecoder().decode(encoded.buffer) !== word) return `decoded ${decoded}`;
  if (new TextDecoder().decode(Uint8Array.of(0xff, 0x61)) !== "\ufffda") return "bytes that are not UTF-8";
  if (atob(btoa("abc")) !== "abc") return "base64";
  const drawn = [Math.random(), Math.random()];
  if (drawn[0] === drawn[1] || !drawn.every((n) => n >= 0 && n < 1)) return `random: ${drawn}`;
  if (!(performance.now() >= 0)) return "performance";
  console.log("a line", { of: [1, 2n] }, new Map([[1, 2]]));
  return "all there";
}
