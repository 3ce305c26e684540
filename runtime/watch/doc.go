// Package watch reports changes of files in a directory.
//
// It leaves out hidden files and temporary files of editors, and merges changes that belong together. It reads no file.
// cmd/wasmres may import it; no other package imports fsnotify.
package watch
