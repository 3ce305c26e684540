package streamable

import (
	"net/http"
	"sync/atomic"
)

// CountGeneral counts the requests that net/http is given. It is to be called before Serve.
func (s *Server) CountGeneral() *atomic.Int64 {
	n, inner := new(atomic.Int64), s.http.Handler
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		inner.ServeHTTP(w, r)
	})
	return n
}

// Open is how many connections the Server holds.
func (s *Server) Open() int { return len(s.open()) }
