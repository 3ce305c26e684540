// Package fscap is the capability to read files of granted directories, and to write them where that is granted too.
//
// It owns the file services. A grant maps a directory of the host to a path that guests see. Guests see only regular files
// and directories inside it, not links that lead out, devices, pipes or sockets. The package holds one descriptor for each
// grant. A call closes what it opens.
package fscap
