import { Failure, notFound, redactValue, Request } from "wasmres";
import { load, Section, Setting, Settings } from "./settings";

/** A Selection is what a request asks for: all sections, one of them, or one with a single setting. */
export class Selection {
  readonly sections: Section[] = [];
  /** Why there are none; null when there are. */
  failure: Failure | null = null;

  private overrides: u64 = 0; // a sum of those that are shown; 0 without any

  constructor(private r: Request, private file: Settings) { this.failure = file.failure; }

  /** Names the version of the file, and of what overrides it. */
  get etag(): string {
    return this.overrides == 0 ? this.file.etag : this.file.etag + "-" + this.overrides.toString(36);
  }

  /** Adds a section with one of its settings, or with all when the key is empty. */
  add(section: Section, key: string): void {
    const shown = new Section(section.name);
    for (let i = 0; i < section.settings.length; i++) {
      const setting = section.settings[i];
      if (key.length == 0 || setting.key == key) shown.settings.push(this.shown(section.name, setting));
    }
    this.sections.push(shown);
  }

  /** The setting as clients may see it. */
  private shown(section: string, setting: Setting): Setting {
    const name = section + "." + setting.key;
    const value = instead(this.r, section, setting.key);
    if (value === null) return new Setting(setting.key, redactValue(name, setting.value));
    const shown = redactValue(name, value);
    this.overrides = sum(this.overrides, `${name}=${shown}`);
    return new Setting(setting.key, shown);
  }
}

/** Gives what the variables section and key of a request name. */
export function select(r: Request): Selection {
  const file = load();
  const selection = new Selection(r, file);
  if (file.failure !== null) return selection;
  const name = r.var("section");
  const key = r.var("key");
  if (name.length == 0) {
    for (let i = 0; i < file.sections.length; i++) selection.add(file.sections[i], "");
    return selection;
  }
  const section = file.section(name);
  if (section === null) selection.failure = notFound("there is no section " + name);
  else if (key.length > 0 && section.setting(key) === null) {
    selection.failure = notFound(`there is no ${key} in ${name}`);
  } else selection.add(section, key);
  return selection;
}

/** What the operator says instead: the configuration value server.port, or the variable APP_SERVER_PORT; or null. */
function instead(r: Request, section: string, key: string): string | null {
  const configured = r.config(section + "." + key);
  if (configured !== null) return configured;
  return r.env(`APP_${section}_${key}`.toUpperCase().replaceAll("-", "_").replaceAll(".", "_"));
}

/** FNV-1a. */
function sum(before: u64, text: string): u64 {
  let hash: u64 = before == 0 ? 0xcbf29ce484222325 : before;
  for (let i = 0; i < text.length; i++) hash = (hash ^ <u64>text.charCodeAt(i)) * 0x100000001b3;
  return hash;
}
