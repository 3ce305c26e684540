package resource

import "github.com/wasmres/wasmres/abi"

// A Request is a request of a client to a [Source]. The methods that read a field stand beside it; the others ignore
// it.
type Request struct {
	URI abi.URI // Read, ReadDirectory

	RangeOffset uint64 // Read: first requested byte
	RangeLength uint64 // Read: requested bytes; 0 for all that follow
	IfNoneMatch string // Read: etag of the contents that the client has; empty for none
	Download    bool   // Read: the client asks for the bytes by a GET of HTTP, which needs another permission

	Template string    // Complete: text of the template
	Arg      string    // Complete: name of the variable
	Value    string    // Complete: what has been typed so far
	Vars     []abi.Var // Complete: variables that are known already

	Cursor string // List, Templates, ReadDirectory: where the page begins; empty for the start
	Limit  uint32 // List, Templates, ReadDirectory: the most entries; 0 for no limit

	Principal *abi.Principal // all: the client; nil on transports without authentication
	Meta      string         // all: JSON object, the request's _meta without reserved keys; empty for none
	Session   string         // all: the MCP session, for which a Source may hold state; empty for none
}
