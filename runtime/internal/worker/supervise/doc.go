// Package supervise keeps one worker running: it starts the next one when a worker has ended, after a longer wait each
// time, and refuses callers at once while workers keep ending.
//
// It owns when a worker is started and the counts of starts and exits. It imports only package abi, for its errors.
//
// It does not know what a worker is or does, does not judge why one ended, since every exit counts alike, does not repeat
// a call of a worker that has ended, and does not bound how long a start takes: Config.Start does that.
package supervise
