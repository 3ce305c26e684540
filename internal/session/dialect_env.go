package session

import (
	"context"
	"errors"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// envKey begins the keys by which guests ask for variables of the environment, as for configuration values.
const envKey = "env:"

// envDialects are those of the power to read variables of the environment.
var envDialects = []*dialect{{
	service: abi.ServiceConfig, name: "env.get", capability: CapabilityEnv,
	places: "NAME", answers: []string{"value"},
	question: func() question { return &envQuestion{} }, response: func() response { return &envResponse{} },
}}

type envQuestion struct{ name string }

func (q *envQuestion) Decode(request []byte) error {
	var r abi.ConfigRequest
	err := r.Decode(request)
	q.name = strings.TrimPrefix(r.Key, envKey)
	return err
}

func (q *envQuestion) places() []*string { return []*string{&q.name} }

func (q *envQuestion) options() []string { return nil }

func (q *envQuestion) setOption(string, string) error { return errUnknown }

func (q *envQuestion) check() error {
	if q.name == "" {
		return errors.New("write it as: host env.get NAME")
	}
	return nil
}

type envResponse struct{ abi.ConfigResponse }

func (r *envResponse) check() error { return nil }

func (r *envResponse) members() []member { return []member{{"value", text(r.Value)}} }

func (r *envResponse) set(m member) error {
	if m.name != "value" {
		return errUnknown
	}
	return m.value.into(&r.Value)
}

// keys answers for the one service that gives two kinds of values by their keys.
type keys struct {
	config    capability.Service // nil when there is none
	variables *teller
}

// Call implements [capability.Service].
func (k keys) Call(ctx context.Context, request []byte) (capability.Response, error) {
	var r abi.ConfigRequest
	if err := r.Decode(request); err != nil {
		return capability.Response{}, err
	}
	switch {
	case strings.HasPrefix(r.Key, envKey):
		return k.variables.Call(ctx, request)
	case k.config == nil:
		return capability.Response{}, abi.Errorf(abi.CodeNotFound, "no configuration value %.64q", r.Key)
	}
	return k.config.Call(ctx, request)
}
