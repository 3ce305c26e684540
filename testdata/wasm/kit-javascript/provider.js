// The provider of package abitest, made with the SDK for JavaScript.
import { DIRECTORY_TYPE, Failure, NotFound, provider, Unavailable } from "wasmres";
import { asks, listFolder, servePowers } from "./powers.js";
import { text } from "./text.js";

const etag = '"v1"';
const codes = [
  "", "not_found", "invalid_params", "denied", "unavailable", "cancelled", "deadline", "too_large", "unsupported",
  "internal",
];

const kit = provider({ name: "kit", version: "1.0.0", asks })
  .resource("kit://text", { watch: { every: 1000, version: () => etag } }, () => ({ text, etag }))
  .resource("kit://blob", () => Uint8Array.from({ length: 256 }, (_, i) => i))
  .resource("kit://empty", () => "")
  .resource("kit://several", () => [
    { uri: "kit://several/1", text: "one" },
    { uri: "kit://several/2", bytes: new Uint8Array([2]) },
  ])
  .resource("kit://principal", ({ principal }) =>
    principal ? `${principal.subject}/${principal.tenant}` : "nobody",
  )
  .readAny(() => {
    throw new NotFound("nothing here");
  })
  .template("kit://echo/{value}", { complete: { value: ["alpha", "beta", "bravo"] } }, ({ vars }) => vars.value)
  .template("kit://join{/part*}", async ({ vars }) => vars.part.join("|"))
  .template("kit://fail/{code}", fail)
  .template("kit://stream/{n}", { ranges: true }, (request) => {
    const size = request.int("n", 0);
    return { bytes: counting(size), size };
  })
  .template("kit://many/{i}", ({ vars }) => {
    if (!entries.includes(`kit://many/${vars.i}`)) throw new NotFound("nothing here");
    return vars.i;
  })
  .template("kit://config/{key}", (request) => {
    const value = request.config(request.vars.key);
    if (value === undefined) throw new NotFound("nothing here");
    return value;
  })
  .list((request, page) => page.each(entries))
  .listDirectory((request, page) => {
    if (request.vars.name) return listFolder(request);
    if (request.uri === "kit://many") return [...entries, { uri: "kit://many/none", mimeType: DIRECTORY_TYPE }];
    if (request.uri === "kit://many/none") return [];
    throw new NotFound("nothing here");
  });
servePowers(kit);

const entries = Array.from({ length: 25 }, (_, i) => `kit://many/${i + 1}`);

function fail(request) {
  const code = codes[request.int("code", 1, 9)];
  if (code === "unavailable") throw new Unavailable("failed as asked", { retryAfter: 1500 });
  throw new Failure(code, "failed as asked");
}

/** Gives n bytes, of which byte i is i & 0xff. */
function* counting(n) {
  const chunk = Uint8Array.from({ length: 48 << 10 }, (_, i) => i);
  for (let at = 0; at < n; at += chunk.length) yield chunk.subarray(0, n - at);
}
