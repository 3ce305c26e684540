// Package sqlitekv stores values by key on disk: one SQLite file for each namespace, in a private directory.
//
// It owns those files. Several processes may have the same file open; SQLite's locks order their changes. A process that is
// killed loses no acknowledged change. A machine that loses power may lose the last changes, never the store. Expired
// values are removed when a store is opened and, some at a time, with each change.
package sqlitekv
