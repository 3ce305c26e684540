// What the kit's provider does with what a host grants.
import { Conflict, DIRECTORY_TYPE, dir, env, fetch, kv, query } from "wasmres";

export const asks = [
  { name: "http", reason: "fetches pages", optional: true },
  { name: "sql", reason: "queries the database main", optional: true },
  { name: "kv", reason: "keeps values", optional: true },
  { name: "env", reason: "shows variables", optional: true },
  {
    name: "fs", reason: "reads and writes files", optional: true,
    params: { paths: ["/kit"], access: ["read", "write"] },
  },
];

const files = dir("/kit");

export function servePowers(kit) {
  kit
    .template("kit://fetch/{+url}", ({ vars }) => ({ bytes: fetch(vars.url).check().body }))
    .template("kit://post/{+url}", post)
    .template("kit://rows/{query}", rows)
    .template("kit://kv/{key}", ({ vars }) => kv.get(vars.key))
    .template("kit://keep/{key}/{value}", ({ vars }) => put(vars, { ttl: 1500, ifAbsent: true }))
    .template("kit://swap/{key}/{value}", ({ vars }) => {
      const version = kv.getEntry(vars.key)?.version;
      return version && put(vars, { ifVersion: version });
    })
    .template("kit://drop/{key}", ({ vars }) => {
      kv.delete(vars.key);
      return "gone";
    })
    .template("kit://keys/{prefix}", ({ vars }) => ({ text: keys(vars.prefix) }))
    .template("kit://file/{name}", ({ vars }) => ({ bytes: files.open(vars.name) }))
    .template("kit://write/{name}/{text}", ({ vars }) => {
      files.write(vars.name, vars.text);
      return String(files.append(vars.name, "\n").size);
    })
    .template("kit://remove/{name}", ({ vars }) => {
      files.remove(vars.name);
      return "gone";
    })
    .template(
      "kit://folder/{name}",
      { watch: { every: 1000, version: ({ vars }) => files.folderVersion(vars.name) } },
      ({ vars }) => files.folder(vars.name, "kit://in/"),
    )
    .template("kit://some/{name}", ({ vars }) =>
      files.folder(vars.name, "kit://in/", { maxFiles: 3, maxBytes: 1000, hidden: true, mimeType: typeOf }),
    )
    .template("kit://env/{name}", ({ vars }) => env(vars.name));
}

/** Lists a folder as a directory. */
export function* listFolder({ uri, vars }) {
  for (const { name, isDirectory } of files.list(vars.name)) {
    yield { uri: `${uri}/${name}`, mimeType: isDirectory ? DIRECTORY_TYPE : undefined };
  }
}

function typeOf(name, head, isText) {
  if (isText && name.endsWith(".kit")) return "text/x-kit";
  return String.fromCharCode(...head.subarray(0, 3)) === "KIT" ? "image/x-kit" : undefined;
}

function post({ vars }) {
  const headers = { "X-Kit": "sent" };
  const answer = fetch(vars.url, { method: "POST", headers, body: "from the kit", maxBytes: 1000, timeout: 1500 });
  return [answer.status, answer.url, answer.header("x-kit"), answer.text()].join("\n");
}

function rows({ vars }) {
  const found = query("main", vars.query, null, true, -7, 1.5, "té", Uint8Array.of(0, 255));
  return { text: lines(found) };
}

function* lines(rows) {
  yield rows.columns.map(({ name }) => name).join("|");
  for (const values of rows.values()) yield "\n" + values.map(shown).join("|");
}

/** Writes a value of a database. */
function shown(value) {
  if (!(value instanceof Uint8Array)) return String(value);
  return Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Puts a value on conditions, and says which version is there. */
function put({ key, value }, options) {
  try {
    return `put ${kv.put(key, value, options).version}`;
  } catch (error) {
    if (error instanceof Conflict && error.entry) return `is ${error.entry.version}`;
    throw error;
  }
}

function* keys(prefix) {
  for (const { key } of kv.keys(prefix)) yield `${key}\n`;
}
