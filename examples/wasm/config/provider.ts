// The provider config serves the settings of an application: config://app/server/port is the setting port in the
// section server of /config/app.ini.

import { Entry, Failure, Page, provider, Reply, Request, text } from "wasmres";
import { json, objectOf } from "./json";
import { select } from "./selection";
import { load } from "./settings";

export { wasmres_v1 } from "wasmres"; // what the host calls

const WATCH_EVERY: i64 = 2000; // ms: how often the file is looked at while somebody follows settings
const ROOT = "config://app";

let listed: Entry[] = []; // by this request

const served = provider("config", "1.0.0")
  .title("Settings")
  .describe("The settings of an application, without its secrets.")
  .prefixes(["config://"]);
served.ask("fs", "reads the settings in /config/app.ini").params(`{"paths":["/config"],"access":["read"]}`);
served.ask("env", "has variables such as APP_SERVER_PORT override settings").optional();

served.resource(ROOT, readAll)
  .name("app").title("All settings").describe("Sections, each with its settings.").mime("application/json")
  .watch(WATCH_EVERY, version);
served.template(ROOT + "/{section}", readSection)
  .name("section").describe("The settings of a section.").mime("application/json")
  .complete("section", completeSection)
  .watch(WATCH_EVERY, version);
served.template(ROOT + "/{section}/{key}", readSetting)
  .name("setting").describe("One setting.").mime("text/plain")
  .complete("section", completeSection)
  .complete("key", completeKey)
  .watch(WATCH_EVERY, version);
served.list(list);

function readAll(r: Request): Reply {
  const found = select(r);
  const failure = found.failure;
  return failure !== null ? failure : text(json(found.sections) + "\n").etag(found.etag);
}

function readSection(r: Request): Reply {
  const found = select(r);
  const failure = found.failure;
  return failure !== null ? failure : text(objectOf(found.sections[0]) + "\n").etag(found.etag);
}

function readSetting(r: Request): Reply {
  const found = select(r);
  const failure = found.failure;
  return failure !== null ? failure : text(found.sections[0].settings[0].value + "\n").etag(found.etag);
}

function version(r: Request): string {
  const found = select(r);
  const failure = found.failure;
  if (failure !== null) r.fail(failure);
  return found.etag;
}

function list(r: Request, page: Page): Failure | null {
  const file = load();
  const failure = file.failure;
  if (failure !== null) return failure;
  listed = [];
  for (let i = 0; i < file.sections.length; i++) {
    const section = file.sections[i];
    const uri = ROOT + "/" + section.name;
    listed.push(new Entry(uri).mime("application/json"));
    for (let j = 0; j < section.settings.length; j++) {
      listed.push(new Entry(uri + "/" + section.settings[j].key).mime("text/plain"));
    }
  }
  return page.each(listed.length, (i: i32): Entry => listed[i]);
}

function completeSection(r: Request, typed: string): string[] {
  return beginning(typed, load().sections.map<string>((section) => section.name));
}

function completeKey(r: Request, typed: string): string[] {
  const section = load().section(r.var("section"));
  return section !== null ? beginning(typed, section.settings.map<string>((setting) => setting.key)) : [];
}

function beginning(typed: string, names: string[]): string[] {
  const found: string[] = [];
  for (let i = 0; i < names.length; i++) if (names[i].startsWith(typed)) found.push(names[i]);
  return found;
}
