// Package fastpath answers plain requests before net/http reads them, in a fraction of the time.
//
// A [Server] is an HTTP/1.1 server of endpoints of package streamable. It puts a connection of its own under net/http.
// While net/http waits in Read for the next request, that connection looks at the bytes that have come. A plain request
// of one exact shape is answered there, on the same goroutine, in one write. Any other request goes to net/http as it
// came, whole and without a byte of the next. So net/http and the endpoint define what is right, and the tests send both
// ways the same bytes.
//
// The package can be removed: an [http.Server] serves the same endpoints, but without a bound on connections.
package fastpath
