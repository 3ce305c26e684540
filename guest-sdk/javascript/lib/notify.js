// What the host is told of changes.
import * as abi from "./abi.js";
import { ask } from "./service.js";

const shapes = ["s", ""];

function notify(service, uri) {
  ask(service, shapes, [uri], "a notification");
}

export const notifyUpdated = (uri) => notify(abi.SERVICE_NOTIFY_UPDATED, uri);
export const notifyListChanged = () => notify(abi.SERVICE_NOTIFY_LIST, undefined);
