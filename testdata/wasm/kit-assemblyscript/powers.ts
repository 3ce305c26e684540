// What the kit's provider does with powers.

import {
  bytes, Dir, DIRECTORY_TYPE, Entry, Failure, fetch, FolderOptions, HTTPRequest, internal, KVEntry, KVStore, notFound, Page, Provider,
  PutOptions, query, Reply, Request, Rows, Source, SQLKind, stream, text, Writer,
} from "../../../guest-sdk/assemblyscript";

const store = new KVStore();
const files = new Dir("/kit");

export function servePowers(kit: Provider): void {
  kit.ask("http", "fetches what the kit asks for").optional();
  kit.ask("sql", "queries what the kit asks for").params(`{"connections":["main"]}`).optional();
  kit.ask("kv", "keeps what the kit puts").optional();
  kit.ask("env", "reads what the kit asks for").optional();
  kit.ask("fs", "reads and writes what the kit asks for").params(`{"paths":["/kit"],"access":["read","write"]}`).optional();

  kit.template("kit://fetch/{+url}", (r: Request): Reply => stream(fetch(r.var("url"))));
  kit.template("kit://post/{+url}", post);
  kit.template("kit://rows/{query}", rows);
  kit.template("kit://kv/{key}", (r: Request): Reply => {
    const value = store.get(r.var("key"));
    return value !== null ? bytes(value) : store.failure;
  });
  kit.template("kit://keep/{key}/{value}", (r: Request): Reply => {
    return put(store.putText(r.var("key"), r.var("value"), new PutOptions().ttl(1500).ifAbsent()));
  });
  kit.template("kit://swap/{key}/{value}", (r: Request): Reply => {
    const old = store.getEntry(r.var("key"));
    if (old === null) return store.failure;
    return put(store.putText(r.var("key"), r.var("value"), new PutOptions().ifVersion(old.version)));
  });
  kit.template("kit://drop/{key}", (r: Request): Reply => store.delete(r.var("key")) ? text("gone") : store.failure);
  kit.template("kit://keys/{prefix}", keys);
  kit.template("kit://file/{name}", (r: Request): Reply => {
    const file = files.open(r.var("name"));
    return file !== null ? stream(file) : files.failure;
  });
  kit.template("kit://write/{name}/{text}", write);
  kit.template("kit://remove/{name}", (r: Request): Reply => {
    return files.remove(r.var("name")) ? text("gone") : files.failure;
  });
  kit.template("kit://folder/{name}", (r: Request): Reply => files.folder(r.var("name"), "kit://in/"))
    .watch(1000, version);
  kit.template("kit://some/{name}", (r: Request): Reply => {
    const options = new FolderOptions().maxFiles(3).maxBytes(1000).hidden().mime(typeOf);
    return files.folder(r.var("name"), "kit://in/", options);
  });
  kit.template("kit://env/{name}", (r: Request): Reply => {
    const value = r.env(r.var("name"));
    return value !== null ? text(value) : notFound();
  });
}

/** Lists a folder as a directory. */
export function listFolder(r: Request, page: Page): Failure | null {
  const all = files.list(r.var("name"));
  if (all === null) return files.failure;
  for (let i = 0; i < all.length; i++) {
    const entry = new Entry(r.uri + "/" + all[i].name);
    if (all[i].isDir) entry.mime(DIRECTORY_TYPE);
    if (!page.add(entry)) break;
  }
  return null;
}

function version(r: Request): string {
  const etag = files.folderVersion(r.var("name"));
  if (etag !== null) return etag;
  r.fail(files.failure);
  return "";
}

function typeOf(name: string, head: Uint8Array, isText: bool): string {
  if (isText && name.endsWith(".kit")) return "text/x-kit";
  return head.length > 2 && head[0] == 0x4b && head[1] == 0x49 && head[2] == 0x54 ? "image/x-kit" : "";
}

function post(r: Request): Reply {
  const answer = new HTTPRequest(r.var("url"), "POST").header("X-Kit", "sent").text("from the kit")
    .maxBytes(1000).timeout(1500).send();
  const body = answer.text();
  if (body !== null) return text(`${answer.status}\n${answer.url}\n${answer.header("x-kit")}\n${body}`);
  const failure = answer.failure;
  return failure !== null ? failure : internal();
}

function rows(r: Request): Reply {
  const raw = new Uint8Array(2);
  raw[1] = 255;
  const found = query("main", r.var("query")).null().bool(true).int(-7).float(1.5).text("té").bytes(raw).rows();
  return stream(new Table(found)).asText();
}

/** A Table writes rows as lines. */
class Table extends Source {
  constructor(private rows: Rows) { super(); }

  write(w: Writer): Failure | null {
    const columns = this.rows.columns;
    for (let i = 0; i < columns.length; i++) w.text(i > 0 ? "|" : "") && w.text(columns[i].name);
    while (w.text("\n") && this.rows.next()) {
      for (let i = 0; i < columns.length; i++) w.text(i > 0 ? "|" : "") && w.text(shown(this.rows, i));
    }
    return this.rows.failure;
  }
}

function shown(row: Rows, column: i32): string {
  if (row.isNull(column)) return "null";
  if (row.kind(column) != SQLKind.Bytes) return row.text(column);
  const raw = row.bytes(column);
  let digits = "";
  for (let i = 0; i < raw.length; i++) digits += raw[i].toString(16).padStart(2, "0");
  return digits;
}

function put(entry: KVEntry | null): Reply {
  return entry !== null ? text((entry.conflict ? "is " : "put ") + entry.version.toString()) : store.failure;
}

function keys(r: Request): Reply {
  const found = store.keys(r.var("prefix"));
  if (found === null) return store.failure;
  return text(found.map<string>((entry) => entry.key + "\n").join(""));
}

function write(r: Request): Reply {
  const name = r.var("name");
  if (files.writeText(name, r.var("text")) === null) return files.failure;
  const info = files.appendText(name, "\n");
  return info !== null ? text(info.size.toString()) : files.failure;
}
