package app

import (
	"encoding/json"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/mcp"
)

// phrases are what the protocol says of failures a provider answered without a word.
var phrases = []string{
	"Not found", "Resource not found", "Invalid params", "Denied", "Unavailable, try again later", "Cancelled",
	"The time limit has passed", "The result is too large", "Not supported by this provider", "Internal error",
}

// failure gives an error of the protocol back its class, and the provider's words instead of the protocol's.
func failure(e *mcp.Error) *abi.Error {
	var data struct{ Code, Reason string }
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return abi.Errorf(abi.CodeInternal, "%s", e.Message)
	}
	message := e.Message
	if data.Reason != "" {
		message = data.Reason
	}
	if slices.Contains(phrases, message) {
		message = ""
	}
	return &abi.Error{Code: codeNamed(data.Code), Message: message}
}

func codeNamed(name string) abi.Code {
	for code := abi.CodeNotFound; code <= abi.CodeBusy; code++ {
		if code.String() == name {
			return code
		}
	}
	return abi.CodeInternal
}
