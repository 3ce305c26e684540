// What a provider imports from "wasmres". wasmres.d.ts, which says what all of it does, is the reference. wasmres build
// leaves out the exports whose names no script has.
import "./log.js"; // for console
import "./serve.js";
import "./stack.js";
import "./text.js";
import "./globals.js";

export { DIRECTORY_TYPE } from "./abi.js";
export { env } from "./config.js";
export { Denied, Failure, Invalid, NotFound, Unavailable } from "./failure.js";
export { dir } from "./files.js";
export { fetch } from "./http.js";
export { Conflict, kv } from "./kv.js";
export { log } from "./log.js";
export { notifyListChanged, notifyUpdated } from "./notify.js";
export { provider } from "./provider.js";
export { redactText, redactValue } from "./redact.js";
export { query, queryRow } from "./sql.js";
