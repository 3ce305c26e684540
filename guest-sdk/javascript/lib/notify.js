// What the host is told of changes.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { failureOf } from "./failure.js";

function notify(service, uri) {
  const code = host.notify(service, uri);
  if (code !== abi.CODE_OK) throw failureOf(code, "the host refused a notification");
}

export const notifyUpdated = (uri) => notify(abi.SERVICE_NOTIFY_UPDATED, uri);
export const notifyListChanged = () => notify(abi.SERVICE_NOTIFY_LIST, undefined);
