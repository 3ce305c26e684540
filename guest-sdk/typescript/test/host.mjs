// What the SDK imports as wasmres:host, for Node.js: it collects an answer as an object, and has the services of a
// stand-in for wasmres. See engine/frame.c and engine/service.c of the SDK for JavaScript.
import { TextDecoder, TextEncoder } from "node:util"; // not those that the SDK defines

import * as abi from "../lib/abi.js";
import { answerService } from "./services.mjs";

let serveOperation; // the function of the SDK that answers requests
let Request; // the SDK's class
let templates; // the routes, by number from 1 on
let resources; // the routes, by URI
let open = []; // messages that have begun, [field, fields]
let fields = []; // of the answer
let content; // the last one whose bytes follow
let part; // the bytes beside the last answer of a service
let failure; // what ended the request, when it was no failure that a client is told of
let current; // the stand-in whose provider is asked
let last = Promise.resolve(); // the request before

const nodeConsole = globalThis.console; // which the SDK replaces
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Runs one operation, after those before it. Gives its code, and the fields of what it answered, [field, value], where
 * the value of a message is an array of its fields.
 */
export function run(standIn, operation, request) {
  const done = last.then(() => operate(standIn, operation, request));
  last = done.catch(() => undefined);
  return done;
}

async function operate(standIn, operation, request) {
  if (!templates) throw new TypeError("no provider was imported: import it before the first request");
  current = standIn;
  fields = [];
  failure = content = part = undefined;
  try {
    const code = await serveOperation(operation, ...asked(operation, request));
    return { code, fields, failure };
  } finally {
    current = undefined;
    open = [];
  }
}

/** Makes the object that a handler gets, and finds the route it is about. */
function asked(operation, fields) {
  const { uri = "", route = 0, vars = [] } = fields;
  let found;
  if (operation === abi.OP_COMPLETE) found = templates.find((template) => template.uri === uri);
  else if (operation !== abi.OP_LIST) found = route > 0 ? templates[route - 1] : resources[uri];
  return [new Request(uri, decoded(vars, found?.variables), fields), found];
}

/** Makes an object of decoded variables; exploded ones are arrays, also when they have one element. */
function decoded(pairs, variables) {
  const found = Object.create(null);
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const name = pairs[i];
    if (!variables?.[name]) found[name] = pairs[i + 1];
    else (found[name] ??= []).push(pairs[i + 1]);
  }
  return found;
}

export function serve(run, answered, failed, sample) {
  serveOperation = run;
  Request = sample.constructor;
}

export function routes(byNumber, byURI) {
  templates = byNumber;
  resources = byURI;
}

export const stop = () => undefined;
export const stoppedCode = () => abi.CODE_OK;

export function fault(error) {
  failure = error;
}

export const locate = () => undefined;
export const report = (error) => log(3, `${error?.stack ?? error}`);

const put = (field, value) => (open.at(-1)?.[1] ?? fields).push([field, value]);

export function begin(field) {
  open.push([field, []]);
}

export function end() {
  const [field, message] = open.pop();
  put(field, message);
  if (open.length === 0) content = message;
  return 0; // bytes of the frame, which leaves at once
}

export function text(field, value) {
  if (value !== undefined && value !== null && value !== "") put(field, String(value));
}

export const element = (field, value) => put(field, String(value));
export const bytes = (field, value) => put(field, new Uint8Array(value));

export function number(field, value) {
  if (value >= 1) put(field, Math.floor(value));
}

export const double = (field, value) => put(field, Number(value));

export function drop() {
  fields = [];
  open = [];
}

export const emit = () => 0;

export function body(chunk) {
  (content.parts ??= []).push(typeof chunk === "string" ? encoder.encode(chunk) : new Uint8Array(chunk));
  return 0;
}

export const endBody = () => 0;

export function call(service, asked, message) {
  if (!current) return 8; // services answer handlers only, not the top level
  const { answer, bytes: beside } = answerService(current, service, message);
  part = beside;
  return answer;
}

export function taken(length = Infinity) {
  const bytes = (part ?? new Uint8Array()).slice(0, length);
  part = undefined;
  return bytes;
}

const levels = ["debug", "info", "warn", "error"];

export function log(level, message) {
  if (current) current.logs.push({ level: levels[level], message });
  else nodeConsole[levels[level]](message); // of the test itself, or of the top level
}

export const info = (id) => (id === 2 ? 60e9 : id === 0 ? Date.now() * 1e6 : performance.now() * 1e6);
export const encode = (value) => encoder.encode(value);
export const decode = (value) => decoder.decode(value);
