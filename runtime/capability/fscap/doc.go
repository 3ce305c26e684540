// Package fscap is the power to read files of granted directories, and to write them where that is granted too.
//
// It owns the file services. A grant maps a host directory to a path guests see; only regular files and folders
// inside it exist for them: links that lead out, devices, pipes and sockets do not. It holds one descriptor for each
// grant and none for guests, so a call leaves nothing open behind it.
package fscap
