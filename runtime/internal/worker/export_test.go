package worker

// Slowdown is how much longer what is bounded by the clock may take in this build.
const Slowdown = slowdown
