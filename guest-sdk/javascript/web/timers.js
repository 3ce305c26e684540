// setTimeout and its like. A provider cannot wait: a timer runs when nothing else is left to do, the earliest first, and
// time does not go on for it. Timers that are left when a request has its answer do not run.
import * as host from "wasmres:host";

const timers = new Map(); // by number: { at, run, every }
let last = 0;
let now = 0; // the time that timers have reached, in milliseconds

function start(callback, delay, args, repeats) {
  if (typeof callback !== "function") throw new TypeError("a timer is given what is not a function");
  const every = Math.max(Number(delay) || 0, 1);
  timers.set(++last, { at: now + every, run: () => callback(...args), every: repeats ? every : 0 });
  return last;
}

/** Runs the earliest timer; false when there is none. */
function runNext() {
  let next;
  for (const [number, timer] of timers) if (!next || timer.at < next[1].at) next = [number, timer];
  if (!next) return false;
  const [number, timer] = next;
  now = Math.max(now, timer.at);
  if (timer.every > 0) timer.at = now + timer.every;
  else timers.delete(number);
  timer.run();
  return true;
}

function clear(number) {
  timers.delete(number);
}

host.idle(runNext);
Object.assign(globalThis, {
  setTimeout: (callback, delay, ...args) => start(callback, delay, args, false),
  setInterval: (callback, delay, ...args) => start(callback, delay, args, true),
  setImmediate: (callback, ...args) => start(callback, 0, args, false),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
});
