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

// A Cell says who may use an endpoint.
type Cell struct {
	Method, Path string
	May          []Role
	Own          bool
}

// Cells are those of all endpoints.
func Cells() (all []Cell) {
	for _, e := range endpoints {
		all = append(all, Cell{e.method, e.path, e.may, e.own})
	}
	return all
}
