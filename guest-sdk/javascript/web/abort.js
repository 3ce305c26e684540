// AbortController and AbortSignal. Nothing of the SDK can be interrupted: they are for packages that look at them.

class AbortSignal {
  aborted = false;
  reason = undefined;
  onabort = null;
  #listeners = new Set();

  addEventListener(type, listener) {
    if (type === "abort") this.#listeners.add(listener);
  }

  removeEventListener(type, listener) {
    if (type === "abort") this.#listeners.delete(listener);
  }

  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }

  static abort(reason) {
    const controller = new AbortController();
    controller.abort(reason);
    return controller.signal;
  }

  static abortNow(signal, reason = new DOMException("the operation was aborted", "AbortError")) {
    if (signal.aborted) return;
    signal.aborted = true;
    signal.reason = reason;
    const event = { type: "abort", target: signal };
    signal.onabort?.(event);
    for (const listener of signal.#listeners) (listener.handleEvent ?? listener).call(listener, event);
  }
}

class AbortController {
  signal = new AbortSignal();

  abort(reason) {
    abortNow(this.signal, reason);
  }
}

const { abortNow } = AbortSignal;
delete AbortSignal.abortNow;
Object.assign(globalThis, { AbortController, AbortSignal });
