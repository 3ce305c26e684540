package session

import (
	"context"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// envKey begins the keys by which guests ask for variables of the environment, as for configuration values.
const envKey = "env:"

// A configService answers for the one service that gives two kinds of values by their keys.
type configService struct {
	config    capability.Service // nil when there is none
	variables *replayService
}

// Call implements [capability.Service].
func (s configService) Call(ctx context.Context, request []byte) (capability.Response, error) {
	var r abi.ConfigRequest
	if err := r.Decode(request); err != nil {
		return capability.Response{}, err
	}
	switch {
	case strings.HasPrefix(r.Key, envKey):
		return s.variables.Call(ctx, request)
	case s.config == nil:
		return capability.Response{}, abi.Errorf(abi.CodeNotFound, "no configuration value %.64q", r.Key)
	}
	return s.config.Call(ctx, request)
}
