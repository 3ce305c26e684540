// Package wasi is the part of WASI preview 1 that guests compiled for it need to start and run: clocks, randomness,
// sleeping, and writing to standard output and error, which become log lines.
//
// It owns those host functions. Everything else of preview 1 can be linked against and answers an error: there are no
// files, sockets, arguments or environment variables. It keeps no state, so an instance can be reset to an earlier
// moment, and nothing a guest writes reaches the host's own standard output. Whose time and random numbers a guest gets
// is for its [Host] to say. Only runtime imports it.
package wasi
