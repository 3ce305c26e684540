package admin

import "net/http"

// Permitted returns the handler of a Server, for requests of root.
func Permitted(s *Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handler.ServeHTTP(w, r.WithContext(contextWithPeer(r.Context(), peer{known: true})))
	})
}

// Unknown returns the handler of a Server, for requests of a connection that was not asked for its user.
func Unknown(s *Server) http.Handler { return s.handler }
