// Package inflight bounds the memory of answers that clients have not read yet.
package inflight
