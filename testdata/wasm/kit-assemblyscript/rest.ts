// A provider of what the SDK has and the kit does not ask for.

import {
  Audience, Dir, Entry, Failure, Icon, Page, Reply, Request, Source, Writer,
  bytes, log, notModified, notifyListChanged, notifyUpdated, now, provider, stream, text, timeLeft, unavailable,
} from "../../../guest-sdk/assemblyscript";

export { wasmres_v1 } from "../../../guest-sdk/assemblyscript";

const rest = provider("rest", "2.0.0").title("The rest").describe("Everything else.").prefixes(["rest://", "more://"])
  .configSchema(`{"type":"object"}`).deadline(1500).memory(100_000).maxBody(1 << 20).maxInstances(3).perSession();
rest.ask("fs", "reads files").params(`{"a":1}`).optional();

const files = new Dir("/files/");
rest.template("rest://file/{+path}", readFile).ranges();
rest.template("rest://head/{+path}", (r: Request): Reply => {
  const content = files.readText(r.var("path"));
  return content === null ? files.failure : text(content.substring(0, 5));
});
rest.template("rest://folder{/path*}", readFolder);

rest.template("rest://i32/{n}", (r: Request): Reply => text(r.int("n").toString()));
rest.template("rest://i64/{n}", (r: Request): Reply => text(r.int<i64>("n").toString()));
rest.template("rest://u8/{n}", (r: Request): Reply => text(r.int<u8>("n").toString()));
rest.template("rest://words/{n}", (r: Request): Reply => text("aü狐🦊".repeat(r.int("n"))));
rest.template("rest://lines/{n}", (r: Request): Reply => stream(new Lines(r.int("n"), false)).asText()).ranges();
rest.template("rest://broken/{n}", (r: Request): Reply => stream(new Lines(r.int("n"), true)).asText());
rest.template("rest://slice/{n}", (r: Request): Reply => {
  const b = new Uint8Array(r.int("n"));
  for (let i = 0; i < b.length; i++) b[i] = <u8>i;
  return bytes(b).meta(`{"k":1}`).lastModified(1_795_305_600_000);
}).ranges();
rest.template("rest://suggest/{a}{?b,c*}", (r: Request): Reply => notModified("v"))
  .name("suggest").title("Suggests").describe("It suggests.").mime("text/html").priority(0)
  .audience(Audience.User | Audience.Assistant).icon(new Icon("https://x/y.png").mime("image/png").size("48x48").dark())
  .meta(`{"m":1}`).ttl(60_000).asPublic()
  .completeFrom("a", ["Über", "ähnlich", "Upper"])
  .complete("c", (r: Request, typed: string): string[] => {
    const all = new Array<string>();
    for (let i = 0; i < 150; i++) all.push(r.var("a") + typed + i.toString());
    if (typed == "fail") r.fail(unavailable("not now", 250).data(`{"d":1}`).because("a test"));
    return all;
  });

rest.resource("rest://lone", (r: Request): Reply => text("a\ud83db\udd8a狐\ud83d"));
rest.resource("rest://pairs", (r: Request): Reply => text("x" + "🦊".repeat(50_000)));
rest.resource("rest://clock", (r: Request): Reply => {
  log.info("the time is told");
  r.progress(1, 2, "half");
  return text((now() > 1_600_000_000_000 && timeLeft() > 0 && !r.over()).toString());
}).size(4).lastModified(1_795_305_600_000).priority(0.5);
rest.resource("rest://notice", (r: Request): Reply => {
  const failure = notifyUpdated("rest://clock");
  return failure !== null ? failure : text((notifyListChanged() === null).toString());
});

rest.list((r: Request, page: Page): Failure | null => {
  page.ttl(5000).asPublic();
  let i = page.cursor.length > 0 ? I32.parseInt(page.cursor) : 0;
  while (i < 40 && page.add(new Entry(`more://${i}`).title("Zwölf").size(i).describe("x".repeat(1000)))) i++;
  if (i < 40) page.next(i.toString());
  return null;
});

function readFile(r: Request): Reply {
  const file = files.open(r.var("path"));
  if (file === null) return files.failure;
  return stream(file).etag(file.info.modified.toString()).lastModified(file.info.modified);
}

function readFolder(r: Request): Reply {
  const path = r.vars("path").join("/");
  const found = files.list(path.length > 0 ? path : ".");
  if (found === null) return files.failure;
  let lines = "";
  for (let i = 0; i < found.length; i++) lines += `${found[i].name} ${found[i].size} ${found[i].isDir}\n`;
  return text(lines);
}

/** Lines writes numbered lines of ten bytes, piece by piece. */
class Lines extends Source {
  private first: i32 = 0;

  constructor(private count: i32, private fails: bool) {
    super();
    this.size = <i64>count * 10;
  }

  skip(bytes: i64): bool {
    if (bytes % 10 != 0) return false;
    this.first = <i32>(bytes / 10);
    return true;
  }

  write(w: Writer): Failure | null {
    for (let i = this.first; i < this.count; i++) {
      if (this.fails && i == this.count - 1) return unavailable("the last line is missing");
      if (!w.text(i.toString().padStart(7, "0")) || !w.text("ü") || !w.byte(10)) break;
    }
    return null;
  }
}
