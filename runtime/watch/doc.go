// Package watch tells when files of a folder have changed.
//
// It owns what is worth telling: not what is hidden, not the files editors keep while they write, and not each of many
// changes that belong together. It reads no file. cmd/wasmres may import it; no other package imports fsnotify.
package watch
