// The options of a provider and of its routes: what there is no option for is a mistake.
import { kindOf } from "./out.js";

/** Throws when options have a name that is not known. */
export function checkOptions(options, known, where) {
  if (options === null || typeof options !== "object") {
    throw new TypeError(`${where}: the options are ${kindOf(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new TypeError(`${where}: there is no option ${name}, but ${known.join(", ")}`);
    }
  }
}

export function checkFunction(value, what, where) {
  if (typeof value !== "function") throw new TypeError(`${where}: ${what} is ${kindOf(value)}, not a function`);
}

/** Throws when an option is there and no number above zero. */
export function checkPositive(value, what, where) {
  if (value === undefined || (typeof value === "number" && value > 0)) return;
  throw new TypeError(`${where}: ${what} is ${typeof value === "number" ? value : kindOf(value)}, not above zero`);
}
