package mcp

import "encoding/json"

// Codes of errors, from JSON-RPC and from the specification.
const (
	CodeParseError         = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternalError      = -32603
	CodeHeaderMismatch     = -32020
	CodeUnsupportedVersion = -32022
	codeLegacyNotFound     = -32002 // a resource, in legacy revisions only
)

// An Error is a JSON-RPC error as the client sees it.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

	// Malformed says that the request breaks a rule for all requests of its revision. Over HTTP its status is then 400;
	// the status of any other CodeInvalidParams is 200.
	Malformed bool `json:"-"`

	cause error // never sent
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the failure of the [resource.Source] that caused e, for callers in this process; nil if there is none.
func (e *Error) Unwrap() error { return e.cause }
