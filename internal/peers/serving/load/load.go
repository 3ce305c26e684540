package load

// HTTP is a load on a server of Streamable HTTP, at the path /mcp.
type HTTP struct {
	Addr        string // as in 127.0.0.1:8080
	Revision    Revision
	Call        Call
	Connections int
}

// A Stdio is a load on a server at the other ends of two pipes, with Depth requests under way, at most 1024. The Rate of
// its Load must be 0. The Pipe can be used again when it has ended well.
type Stdio struct {
	Pipe  *Pipe
	Call  Call
	Depth int
}
