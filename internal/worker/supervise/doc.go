// Package supervise keeps one worker alive: it starts the next when one has ended, slower each time, and stops trying so
// often when they end all the time.
//
// It owns when a worker is started, the count of starts and ends, and who is told to wait and who is refused meanwhile.
// The packages under internal/worker and those above them may import it; it imports only package abi, for its errors.
//
// Never done here: knowing what a worker is or does; judging why one ended, since every end counts alike; repeating a call
// that was at work in a worker that has ended; bounding how long a start takes, which is the starter's to do.
package supervise
