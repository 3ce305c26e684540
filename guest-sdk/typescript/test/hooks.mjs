// How Node.js imports what a provider imports: the SDK, files in TypeScript, and data.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { transform } from "esbuild";

const own = {
  wasmres: "../lib/index.js",
  "wasmres:host": "./host.mjs",
  "wasmres/mcp": "../mcp.ts",
  "wasmres/test": "./index.mjs",
};
const sdk = new URL("../", import.meta.url).href;

export async function resolve(specifier, context, next) {
  if (Object.hasOwn(own, specifier)) return { url: new URL(own[specifier], import.meta.url).href, shortCircuit: true };
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!specifier.startsWith(".")) throw error;
    for (const other of [specifier.replace(/js$/, "ts"), `${specifier}.ts`, `${specifier}/index.ts`]) {
      try {
        return await next(other, context);
      } catch {} // the first error is the one to tell
    }
    throw error;
  }
}

export async function load(url, context, next) {
  const [, extension] = /\.(\w+)(?:\?.*)?$/.exec(url) ?? [];
  switch (url.startsWith("file:") ? extension : undefined) {
    case "ts":
    case "mts": {
      const file = fileURLToPath(url);
      const options = { loader: "ts", format: "esm", target: "node20", sourcemap: "inline", sourcefile: file };
      const { code } = await transform(await text(url), options);
      return { format: "module", source: code, shortCircuit: true };
    }
    case "json":
      return module(`JSON.parse(${JSON.stringify(await text(url))})`);
    case "txt":
    case "md":
    case "csv":
    case "html":
      return module(JSON.stringify(await text(url)));
  }
  if (url.startsWith(sdk)) return { format: "module", source: await text(url), shortCircuit: true };
  return next(url, context);
}

const text = (url) => readFile(fileURLToPath(url), "utf8");

const module = (value) => ({ format: "module", source: `export default ${value};`, shortCircuit: true });
