// URI templates (RFC 6570), matched as wasmres matches them: see abi/uritemplate. A URI is read from its end, so that
// later variables take as little as they can. The expression that does so is written backwards, for the URI backwards.

import { TextDecoder } from "node:util"; // that of the SDK, once it is imported, has no fatal

const keepsEscaped = 0xe000; // added to an octet that stays escaped: a character for private use
const broken = "\uffff"; // what is no UTF-8

/** A URI, or a literal, in normal form: as characters, in which only octets that have a meaning are escaped. */
function normal(uri) {
  const text = uri.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const octets = Uint8Array.from(escapes.match(/[0-9a-f]{2}/gi), (hex) => parseInt(hex, 16));
    let found = "";
    for (let at = 0; at < octets.length; ) {
      const size = octets[at] < 0x80 ? 1 : octets[at] < 0xe0 ? 2 : octets[at] < 0xf0 ? 3 : 4;
      found += character(octets.subarray(at, at + size));
      at += size;
    }
    return found;
  });
  return [...text.replace(/%/g, broken)];
}

function character(octets) {
  if (octets.length === 1 && octets[0] < 0x80) {
    const text = String.fromCharCode(octets[0]);
    return /[A-Za-z0-9._~-]/.test(text) ? text : String.fromCharCode(keepsEscaped + octets[0]);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(octets);
  } catch {
    return broken;
  }
}

const decoded = (text) =>
  text.replace(/[\ue000-\ue07f]/g, (escaped) => String.fromCharCode(escaped.charCodeAt(0) - keepsEscaped));

const backwards = (text) => [...text].reverse().join("");
const without = (characters, mark) => characters.replace(mark === "." ? "._" : mark, mark === "." ? "_" : "");
const quoted = (text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

const others = "\\u{a0}-\\u{d7ff}\\ue020-\\ue07e\\u{f000}-\\u{fffd}\\u{10000}-\\u{10ffff}";
const plain = `A-Za-z0-9._~\\-${others}`;
const reserved = `${plain}:/?#\\[\\]@!$&'()*+,;=`;

const operators = {
  "": { sep: ",", class: plain },
  "+": { sep: ",", class: reserved },
  "#": { marker: "#", sep: ",", class: reserved },
  ".": { marker: ".", sep: ".", class: plain },
  "/": { marker: "/", sep: "/", class: plain },
  ";": { marker: ";", sep: ";", class: plain, named: true },
  "?": { marker: "?", sep: "&", class: `${plain}/:@`, named: true },
  "&": { marker: "&", sep: "&", class: `${plain}/:@`, named: true },
};

/** A template as a regular expression for the URI backwards, with a group for each variable, or each named expression. */
export class Template {
  #parts; // literals, and { operator, variables }
  #groups = []; // the variables, or the expression, of each group
  #pattern;

  constructor(template) {
    this.text = template;
    this.#parts = template.split(/(\{[^{}]*\})/).map((part) => (part.startsWith("{") ? expression(part) : part));
    const later = (i, marks) =>
      this.#parts.slice(i + 1).some((part) => (typeof part === "string" ? part.includes(marks) : part.operator.marker === marks));
    let pattern = "";
    for (let i = this.#parts.length - 1; i >= 0; i--) {
      const part = this.#parts[i];
      pattern +=
        typeof part === "string" ? quoted(normal(part).reverse().join("")) : this.#expression(part, (m) => later(i, m));
    }
    this.#pattern = new RegExp(`^${pattern}$`, "u");
  }

  #expression({ operator, variables, name }, later) {
    let allowed = operator.class;
    if (name === "+") for (const mark of "?#") if (later(mark)) allowed = without(allowed, mark);
    if (operator.named) {
      this.#groups.push({ operator, variables });
      const pair = `(?:[${allowed},]*=)?[A-Za-z0-9._~%\\-]+`;
      return `((?:${pair}[${operator.sep}])*${pair}[${operator.marker}])?`;
    }
    let pattern = "";
    variables.forEach((variable, i) => {
      const list = variable.explode ? operator.sep : "";
      const own = list ? allowed + list : variables.length > 1 ? without(allowed, operator.sep) : allowed;
      const least = i === 0 && !operator.marker ? 1 : 0;
      const group = `([${own}]{${least},${variable.limit ?? ""}}?)`;
      this.#groups.push({ variable, list });
      // Backwards, a later variable comes first, and only where the one before it is there.
      if (i === 0) pattern = group + quoted(operator.marker ?? "");
      else pattern = `(?:${group}${quoted(operator.sep)})?${pattern}`;
    });
    // The groups of this expression are in the pattern from the last variable to the first.
    const own = this.#groups.splice(this.#groups.length - variables.length);
    this.#groups.push(...own.reverse());
    return operator.marker ? `(?:${pattern})?` : pattern;
  }

  /** The names and values of a URI's variables by turns, as the engine has them; undefined when it does not match. */
  match(uri) {
    const found = this.#pattern.exec(normal(uri).reverse().join(""));
    if (!found) return undefined;
    const values = new Map();
    for (const [i, group] of this.#groups.entries()) {
      if (found[i + 1] === undefined) continue;
      const text = backwards(found[i + 1]);
      if (group.variables) {
        if (!takePairs(values, group, text)) return undefined;
      } else values.set(group.variable.name, group.list ? text.split(group.list) : [text]);
    }
    return this.#ordered(values);
  }

  #ordered(values) {
    const all = [];
    for (const part of this.#parts) {
      for (const { name } of part.variables ?? []) {
        for (const value of values.get(name) ?? []) all.push(name, decoded(value));
      }
    }
    const unsafe = all.some((value, i) => i % 2 === 1 && (value === "." || value.split(/[/\\]/).includes("..")));
    return unsafe ? undefined : all;
  }

  /** What stands at each position, the more specific the less. */
  get shape() {
    return this.#parts.flatMap((part) => {
      if (typeof part === "string") return normal(part).map(() => 0);
      if (part.name === "+" || part.name === "#") return [4];
      return [part.variables.some(({ explode }) => explode) ? 3 : 2];
    });
  }

  get count() {
    return this.#parts.reduce((n, { variables = [] }) => n + variables.length, 0);
  }
}

function expression(text) {
  const [, name, list] = /^\{([+#./;?&]?)(.*)\}$/s.exec(text);
  const variables = list.split(",").map((spec) => {
    const [, name, limit, explode] = /^([^:*]*)(?::(\d+))?(\*)?$/.exec(spec) ?? [];
    if (!name) throw new TypeError(`the URI template has the expression ${text}, which is none of RFC 6570`);
    return { name, limit: limit && Number(limit), explode: explode !== undefined };
  });
  return { name, operator: operators[name], variables };
}

const tooLong = (value, { limit }) => limit !== undefined && (value.includes(",") || [...value].length > limit);

/** Takes the pairs of {?…}, {&…} and {;…}; false when one has no variable, or comes twice. */
function takePairs(values, { operator, variables }, text) {
  for (const pair of text.slice(1).split(operator.sep)) {
    const [, key, equals, value] = /^([^=]*)(=?)(.*)$/s.exec(pair);
    const variable = variables.find(({ name }) => normal(name).join("") === key);
    if (!variable || (!equals && operator.marker !== ";") || tooLong(value, variable)) return false;
    if (values.has(variable.name) && !variable.explode) return false;
    values.set(variable.name, [...(values.get(variable.name) ?? []), ...value.split(",")]);
  }
  return true;
}

/** Which of two templates is tried first, as a comparing function. */
export function compare(a, b) {
  const [x, y] = [a.shape, b.shape];
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const difference = (x[i] ?? 1) - (y[i] ?? 1);
    if (difference !== 0) return difference;
  }
  return a.count - b.count || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
}
