// A provider of settings as clients may see them.

import { provider, redactValue, Reply, Request, text } from "../../../guest-sdk/assemblyscript";

export { wasmres_v1 } from "../../../guest-sdk/assemblyscript";

provider("redact", "1.0.0")
  .template("redact://{name}/{value}", (r: Request): Reply => text(redactValue(r.var("name"), r.var("value"))));
