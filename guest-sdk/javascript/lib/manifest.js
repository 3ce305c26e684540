// The manifest.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { putCommon, putEntry } from "./entry.js";
import { checkOptions } from "./options.js";
import { jsonOf } from "./out.js";

const sdk = "javascript/1.0.0";

const lifecycles = {
  fresh: abi.LIFECYCLE_FRESH,
  session: abi.LIFECYCLE_SESSION,
  shared: abi.LIFECYCLE_SHARED,
};

export function putManifest({ options, templates, resources, ops }) {
  host.begin(9);
  host.text(2, options.name);
  host.text(3, options.version);
  host.text(4, options.title);
  host.text(5, options.description);
  for (const template of templates) putTemplate(template);
  for (const resource of Object.values(resources)) putEntry(7, resource);
  host.number(8, ops);
  for (const capability of options.asks ?? []) putCapability(capability);
  putLimits(options);
  for (const prefix of options.prefixes ?? []) host.element(11, prefix);
  host.text(12, sdk);
  host.text(13, jsonOf(options.configSchema));
  host.end();
}

function putTemplate(route) {
  host.begin(6);
  putCommon(route.uri, route.name ?? route.uri, route);
  for (const variable of Object.keys(route.complete ?? {})) host.element(12, variable);
  host.number(13, route.ranges ? 1 : 0);
  host.number(14, route.ttl);
  host.number(15, route.scope);
  host.end();
}

function putCapability(capability) {
  checkOptions(capability, ["name", "reason", "optional", "params"], "asks");
  host.begin(9);
  host.text(1, capability.name);
  host.text(2, jsonOf(capability.params));
  host.number(3, capability.optional ? 1 : 0);
  host.text(4, capability.reason);
  host.end();
}

function putLimits({ limits = {}, lifecycle = "fresh" }) {
  checkOptions(limits, ["memory", "deadline", "maxBody", "maxInstances"], "limits");
  if (!Object.hasOwn(lifecycles, lifecycle)) throw new TypeError(`provider: there is no lifecycle "${lifecycle}"`);
  host.begin(10);
  host.number(1, Math.ceil((limits.memory ?? 0) / 65536));
  host.number(2, limits.deadline ?? 0);
  host.number(3, limits.maxBody ?? 0);
  host.number(4, limits.maxInstances ?? 0);
  host.number(5, lifecycles[lifecycle]);
  host.end();
}
