/** Has `Math.random` begin anew for each request: an entry file that uses it exports this too. */
export function wasmres_v1_seed(seed: i64): void { NativeMath.seedRandom(seed); }

/** Stands in for the import `env.seed`, which no host of ours has: see `use` in `asconfig.json`. */
export function seed(): f64 {
  throw new Error("wasmres: Math.random: export wasmres_v1_seed beside wasmres_v1, and use it in requests only");
}
