// Package supervise keeps one worker running: when a worker has ended it starts the next one, after a longer wait each
// time. While workers keep ending, it refuses callers at once.
//
// It stops a worker that no caller uses, if it is told to, and starts the next one for the next caller. Each caller says
// when it has ended its use.
//
// It decides when workers start and stop, and counts starts and exits. It imports only package abi, for its errors.
//
// It does not know what a worker does, treats all exits alike, repeats no call of a worker that has ended, and does not
// bound the time of a start: Config.Start does that.
package supervise
