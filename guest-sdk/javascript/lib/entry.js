// The fields that resources, in lists and in the manifest, have in common with templates.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { jsonOf, timeOf } from "./out.js";

const audiences = { user: abi.AUDIENCE_USER, assistant: abi.AUDIENCE_ASSISTANT };

/** Writes a resource; gives how many bytes the frame has. */
export function putEntry(field, entry) {
  host.begin(field);
  putCommon(entry.uri, entry.name ?? lastPart(entry.uri), entry);
  host.number(6, entry.size ?? 0);
  host.text(8, timeOf(entry.lastModified));
  return host.end();
}

/** Writes what a resource and a template have both. */
export function putCommon(uri, name, { title, description, mimeType, priority, audience, icons, meta }) {
  host.text(1, uri);
  host.text(2, name);
  host.text(3, title);
  host.text(4, description);
  host.text(5, mimeType);
  if (priority !== undefined) host.double(7, priority);
  if (audience !== undefined) host.number(9, audienceOf(audience));
  for (const icon of icons ?? []) putIcon(icon);
  host.text(11, jsonOf(meta));
}

function audienceOf(names) {
  let set = 0;
  for (const name of [names].flat()) {
    if (!Object.hasOwn(audiences, name)) throw new TypeError(`an audience is "user" or "assistant", not "${name}"`);
    set |= audiences[name];
  }
  return set;
}

function putIcon({ src, mimeType, sizes, theme }) {
  host.begin(10);
  host.text(1, src);
  host.text(2, mimeType);
  for (const size of [sizes ?? []].flat()) host.element(3, size);
  host.text(4, theme);
  host.end();
}

/** The last part of a URI, which serves as a name. */
function lastPart(uri) {
  const slash = uri.lastIndexOf("/");
  return slash >= 0 && slash + 1 < uri.length ? uri.slice(slash + 1) : uri;
}
