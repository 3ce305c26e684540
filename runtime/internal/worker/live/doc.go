// Package live bounds how many workers run: in number, in memory, and how many start in a minute. It decides who waits and
// which worker is stopped for another. It knows workers by an interface, and starts and stops none itself.
package live
