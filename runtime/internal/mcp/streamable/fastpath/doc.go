// Package fastpath answers plain requests before net/http reads them, in a fraction of the time.
//
// A [Server] is an HTTP/1.1 server of endpoints of package streamable. It puts its own connection under net/http. While
// net/http waits in Read for the next request, that connection parses the received bytes. It answers a plain request of
// one exact shape there, on the same goroutine, in one write. net/http gets any other request unchanged, whole and
// without a byte of the next. So net/http and the endpoint define the right answer, and the tests send the same bytes
// both ways.
//
// The package can be removed: an [http.Server] serves the same endpoints, but without a bound on connections.
package fastpath
