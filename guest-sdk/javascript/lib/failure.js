// How a handler fails.
import * as abi from "./abi.js";

const codes = {
  not_found: abi.CODE_NOT_FOUND,
  invalid_params: abi.CODE_INVALID_PARAMS,
  denied: abi.CODE_DENIED,
  unavailable: abi.CODE_UNAVAILABLE,
  cancelled: abi.CODE_CANCELLED,
  deadline: abi.CODE_DEADLINE,
  too_large: abi.CODE_TOO_LARGE,
  unsupported: abi.CODE_UNSUPPORTED,
  internal: abi.CODE_INTERNAL,
};

export class Failure extends Error {
  constructor(code, message = "", { data, retryAfter, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (!Object.hasOwn(codes, code)) throw new TypeError(`a failure has no code ${JSON.stringify(code)}`);
    this.code = code;
    this.data = data;
    this.retryAfter = retryAfter;
  }
}
Failure.prototype.name = "Failure";

/** Makes the class of the failures with one code. */
function named(name, code) {
  const derived = class extends Failure {
    constructor(message, options) {
      super(code, message, options);
    }
  };
  Object.defineProperty(derived, "name", { value: name });
  derived.prototype.name = name;
  return derived;
}

export const NotFound = named("NotFound", "not_found");
export const Invalid = named("Invalid", "invalid_params");
export const Denied = named("Denied", "denied");
export const Unavailable = named("Unavailable", "unavailable");

const classes = {
  [abi.CODE_NOT_FOUND]: NotFound,
  [abi.CODE_INVALID_PARAMS]: Invalid,
  [abi.CODE_DENIED]: Denied,
  [abi.CODE_UNAVAILABLE]: Unavailable,
};

/** The failure with the number of a code, as a service of the host answers it. */
export function failureOf(number, message, options) {
  if (classes[number]) return new classes[number](message, options);
  const name = Object.keys(codes).find((name) => codes[name] === number);
  return new Failure(name ?? "internal", message, options);
}

/** The number of a failure's code. */
export const numberOf = (failure) => codes[failure.code] ?? abi.CODE_INTERNAL;
