// Package sqlitekv keeps values by key on disk: one SQLite file for each namespace, in a directory of its own.
//
// It owns those files. Several processes may have the same one open; SQLite's locks order what they change. A process
// that is killed loses nothing it was told is put; a machine that loses power may lose the last moments, never the
// store. What has expired is removed when a store is opened and, some at a time, with each change.
package sqlitekv
