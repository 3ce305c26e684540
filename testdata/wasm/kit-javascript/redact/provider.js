// A provider of settings as clients may see them.
import { provider, redactValue } from "wasmres";

provider({ name: "redact", version: "1.0.0", prefixes: ["redact://"] })
  .template("redact://{name}/{value}", ({ vars }) => redactValue(vars.name, vars.value));
