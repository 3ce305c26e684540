import { Section } from "./settings";

/** Sections as a JSON object of objects. */
export function json(sections: Section[]): string {
  return braced(sections.map<string>((section) => quoted(section.name) + ": " + objectOf(section, "  ")), "");
}

/** The settings of a section as a JSON object, whose lines begin with `indent` but for the first. */
export function objectOf(section: Section, indent: string = ""): string {
  return braced(section.settings.map<string>((setting) => quoted(setting.key) + ": " + quoted(setting.value)), indent);
}

function braced(members: string[], indent: string): string {
  if (members.length == 0) return "{}";
  const inner = "\n" + indent + "  ";
  return "{" + inner + members.join("," + inner) + "\n" + indent + "}";
}

/** A text as a JSON string. It has no control characters but tabs. */
function quoted(text: string): string {
  return "\"" + text.replaceAll("\\", "\\\\").replaceAll("\"", "\\\"").replaceAll("\t", "\\t") + "\"";
}
