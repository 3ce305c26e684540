package fastpath

// Open is how many connections the Server has.
func (s *Server) Open() int { return len(s.open()) }
