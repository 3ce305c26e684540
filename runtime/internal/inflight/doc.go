// Package inflight bounds the memory that answers take until their clients have taken them.
package inflight
