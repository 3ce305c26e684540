// structuredClone.

const copied = [Boolean, Number, String, BigInt]; // objects that stand for a value
const errors = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

function clone(value, seen) {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new DOMException(`${String(value)} could not be cloned`, "DataCloneError");
  }
  if (typeof value !== "object" || value === null) return value;
  if (!seen.has(value)) cloneObject(value, seen);
  return seen.get(value);
}

function cloneObject(value, seen) {
  const keep = (made) => {
    seen.set(value, made);
    return made;
  };
  if (Array.isArray(value)) return fill(keep(new Array(value.length)), value, seen);
  if (value instanceof Map) {
    const made = keep(new Map());
    for (const [key, element] of value) made.set(clone(key, seen), clone(element, seen));
    return made;
  }
  if (value instanceof Set) {
    const made = keep(new Set());
    for (const element of value) made.add(clone(element, seen));
    return made;
  }
  if (value instanceof Error) return cloneError(keep, value, seen);
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (value instanceof DataView) return keep(new DataView(clone(value.buffer, seen), value.byteOffset, value.byteLength));
  if (ArrayBuffer.isView(value)) {
    return keep(new value.constructor(clone(value.buffer, seen), value.byteOffset, value.length));
  }
  if (copied.some((type) => value instanceof type)) return keep(Object(value.valueOf()));
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
    throw new DOMException(`${Object.prototype.toString.call(value)} could not be cloned`, "DataCloneError");
  }
  return fill(keep({}), value, seen);
}

function cloneError(keep, error, seen) {
  const made = keep(new (errors[error.name] ?? Error)(error.message));
  Object.defineProperty(made, "stack", { value: error.stack, writable: true, configurable: true });
  if (Object.hasOwn(error, "cause")) {
    Object.defineProperty(made, "cause", { value: clone(error.cause, seen), writable: true, configurable: true });
  }
  return made;
}

function fill(made, value, seen) {
  for (const key of Object.keys(value)) made[key] = clone(value[key], seen);
  return made;
}

globalThis.structuredClone = function structuredClone(value) {
  return clone(value, new Map());
};
