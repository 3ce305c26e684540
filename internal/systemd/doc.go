// Package systemd tells the service manager what a server is doing, and takes the sockets that the manager has opened for it.
// No other package imports github.com/coreos/go-systemd.
//
// All of it does nothing where no service manager has started the process, and on systems without one.
package systemd
