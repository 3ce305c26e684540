// Lets Node.js import providers: node --import ./wasmres/test/register.mjs --test tests/*.test.ts
import { register } from "node:module";

process.setSourceMapsEnabled(true);
register("./hooks.mjs", import.meta.url);
