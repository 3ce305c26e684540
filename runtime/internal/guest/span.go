package guest

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/trace"
)

// beginService begins the span of a service call; nil if the call is not traced.
func (c *Call) beginService(id abi.Service) *trace.Span {
	if c.span == nil {
		return nil
	}
	name, operation := nameOf(id)
	span := c.span.Child("capability " + name)
	span.Set(trace.Operation, operation)
	return span
}

// nameOf names the capability of a service, and what the service does with it.
func nameOf(id abi.Service) (capability, operation string) {
	switch id {
	case abi.ServiceKVGet:
		return "kv", "get"
	case abi.ServiceKVPut:
		return "kv", "put"
	case abi.ServiceKVDelete:
		return "kv", "delete"
	case abi.ServiceKVList:
		return "kv", "list"
	case abi.ServiceHTTP:
		return "http", "fetch"
	case abi.ServiceStream:
		return "http", "more"
	case abi.ServiceSQL:
		return "sql", "query"
	case abi.ServiceSQLRows:
		return "sql", "more"
	case abi.ServiceFileStat:
		return "fs", "stat"
	case abi.ServiceFileRead:
		return "fs", "read"
	case abi.ServiceFileList:
		return "fs", "list"
	case abi.ServiceFileWrite:
		return "fs", "write"
	case abi.ServiceFileRemove:
		return "fs", "remove"
	case abi.ServiceConfig:
		return "config", "get"
	case abi.ServiceNotifyUpdated, abi.ServiceNotifyList:
		return "notify", ""
	}
	return "other", ""
}
