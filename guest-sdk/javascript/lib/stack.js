// Names the places of a stack by the files that a bundle was made of.
import * as host from "wasmres:host";
import { mappings, sources } from "./sourcemap.js";

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Decodes a segment, and adds it to the one before. */
function advance(at, segment) {
  let field = 0;
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = digits.indexOf(digit);
    value |= (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    at[field++] += value & 1 ? -(value >> 1) : value >> 1;
    value = shift = 0;
  }
}

/** The last place of a line that is not after a column: [column, file, line, column]; undefined when there is none. */
function placeIn(line, column) {
  const at = [0, 0, 0, 0];
  let found;
  for (const segment of line.split(",")) {
    advance(at, segment);
    if (found && at[0] > column) break;
    found = [...at];
  }
  return found;
}

/** The place in a source of one in the bundle: of the project with the column, of a package or the SDK without. */
function nameOf(lines, number, column) {
  let first = number;
  while (first > 0 && lines[first] === "") first--;
  if (!lines[first]) return undefined;
  const [, file, line, start] = placeIn(lines[first], column);
  if (/^(node_modules\/|wasmres:)/.test(sources[file])) return `${sources[file]}:${line + 1 + number - first}`;
  return first === number ? `${sources[file]}:${line + 1}:${start + 1}` : undefined;
}

/** Gives a stack in which the places of the bundle are those of its sources, as far as the map knows them. */
export function located(stack) {
  if (mappings === "") return stack;
  const lines = mappings.split(";");
  return stack.replace(/\bprovider\.js:([0-9]+):([0-9]+)/g, (place, line, column) =>
    nameOf(lines, line - 1, column - 1) ?? place,
  );
}

if (mappings !== "") host.locate(located);
