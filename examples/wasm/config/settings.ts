// The file of the settings, and what is in it:
//
//     # Lines that begin with # or ; are comments.
//     [server]
//     port = 8080
//
// Names of sections and keys are letters, digits, "_", "-" and ".", the first one none of the last two. A value is what
// stands after the first "=", without the spaces around it. Each section stands there once, with each key once.

import { Code, Dir, Failure, FileInfo, internal, notFound } from "wasmres";

const FILE = "app.ini";
const BYTES: i64 = 1 << 20; // the file may have
const ITEMS: i32 = 1000; // sections and settings it may have

const LETTERS = "names have letters, digits, _, - and .";
const TOO_MANY = `there are more than ${ITEMS} sections and settings`;

const MISSING = `there is no ${FILE} in /config`;

const folder = new Dir("/config");

export class Setting {
  constructor(readonly key: string, readonly value: string) {}
}

export class Section {
  readonly settings: Setting[] = [];

  constructor(readonly name: string) {}

  /** Gives a setting; null when there is none. */
  setting(key: string): Setting | null {
    for (let i = 0; i < this.settings.length; i++) if (this.settings[i].key == key) return this.settings[i];
    return null;
  }
}

/** Settings are those of the file, as they stand there. */
export class Settings {
  readonly sections: Section[] = [];
  /** Names the version of the file. */
  etag: string = "";
  /** Why there are no settings; null when there are. */
  failure: Failure | null = null;

  private count: i32 = 0;

  /** Gives a section; null when there is none. */
  section(name: string): Section | null {
    for (let i = 0; i < this.sections.length; i++) if (this.sections[i].name == name) return this.sections[i];
    return null;
  }

  /** Adds what a line says, and tells what is wrong with it; nothing when all is well. */
  add(line: string): string {
    if (line.length == 0 || line.startsWith("#") || line.startsWith(";")) return "";
    if (line.startsWith("[")) return this.addSection(line);
    const equals = line.indexOf("=");
    if (equals < 0) return "it is no section, no comment and no key = value";
    return this.addSetting(line.substring(0, equals).trimEnd(), line.substring(equals + 1).trimStart());
  }

  private addSection(line: string): string {
    const name = line.substring(1, line.length - 1).trim();
    if (!line.endsWith("]") || !isName(name)) return "it is no [section]: " + LETTERS;
    if (this.section(name) !== null) return "the section is there already";
    if (++this.count > ITEMS) return TOO_MANY;
    this.sections.push(new Section(name));
    return "";
  }

  private addSetting(key: string, value: string): string {
    if (!isName(key)) return "the key is none: " + LETTERS;
    if (this.sections.length == 0) return "it stands before the first [section]";
    const section = this.sections[this.sections.length - 1];
    if (section.setting(key) !== null) return "the key is there already";
    if (++this.count > ITEMS) return TOO_MANY;
    section.settings.push(new Setting(key, value));
    return "";
  }
}

/** Reads the file. */
export function load(): Settings {
  const found = new Settings();
  const info = folder.stat(FILE);
  if (info === null) found.failure = folder.failure.code == Code.NotFound ? notFound(MISSING) : folder.failure;
  else if (info.isDir) found.failure = notFound(MISSING);
  else if (info.size > BYTES) found.failure = new Failure(Code.TooLarge, FILE + " has more than 1 MiB");
  else read(info, found);
  return found;
}

function read(info: FileInfo, to: Settings): void {
  to.etag = `${info.size}-${info.modified}`;
  const bytes = folder.read(FILE);
  to.failure = bytes !== null ? parse(bytes, to) : folder.failure;
}

/** Reads the lines of a file. A failure says which one is wrong, and never what it says: that may be a secret. */
function parse(file: Uint8Array, to: Settings): Failure | null {
  let number = 1;
  for (let at = 0; at < file.length; number++) {
    const found = file.indexOf(10 /* line feed */, at);
    const end = found < 0 ? file.length : found;
    const line = String.UTF8.decodeUnsafe(file.dataStart + at, end - at);
    const wrong = isText(line, end - at) ? to.add(line.trim()) : "it is no plain text in UTF-8";
    if (wrong.length > 0) return internal(`${FILE}, line ${number}: ${wrong}`);
    at = end + 1;
  }
  return null;
}

/** Whether a line that was decoded from `length` bytes is what they say, without control characters. */
function isText(line: string, length: i32): bool {
  if (String.UTF8.byteLength(line) != length) return false; // what is no UTF-8 is left out, or replaced
  const end = line.endsWith("\r") ? line.length - 1 : line.length;
  for (let i = 0; i < end; i++) if (line.charCodeAt(i) < 32 && line.charAt(i) != "\t") return false;
  return true;
}

function isName(name: string): bool {
  if (name.length == 0 || name.startsWith("-") || name.startsWith(".")) return false;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    const letter = unit | 32;
    const isLetter = letter >= 97 && letter <= 122;
    const isDigit = unit >= 48 && unit <= 57;
    if (!isLetter && !isDigit && unit != 95 && unit != 45 && unit != 46) return false;
  }
  return true;
}
