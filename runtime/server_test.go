package runtime

import (
	"context"
	"errors"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A failing source fails every read.
type failing struct {
	resource.Source
	err error
}

func (f failing) Read(context.Context, *resource.Request, abi.Sink) (*abi.Reply, error) {
	return nil, f.err
}

func (f failing) List(context.Context, *resource.Request) (*abi.Reply, error) { return nil, f.err }

// The protocol has phrases for what a provider answers without a word. They must not pass for the provider's.
func TestCallKeepsTheWordsOfProvidersOnly(t *testing.T) {
	for code := abi.CodeNotFound; code <= abi.CodeInternal; code++ {
		for _, words := range []string{"", "the moon is full"} {
			for _, method := range []string{"resources/read", "resources/list"} {
				t.Run(code.String()+"/"+words+"/"+method, func(t *testing.T) {
					s, err := NewServer(failing{err: &abi.Error{Code: code, Message: words}}, &ServerOptions{Name: "test", Version: "1"})
					if err != nil {
						t.Fatal(err)
					}
					_, err = s.Call(t.Context(), method, map[string]string{"uri": "x:y"})
					var got *abi.Error
					if !errors.As(err, &got) || got.Code != code || got.Message != words {
						t.Errorf("got %#v, want %v with %q", err, code, words)
					}
				})
			}
		}
	}
}

func TestPageSize(t *testing.T) {
	for items, want := range map[int]int{0: 1000, 1: 1, 100: 100, 1000: 1000, 10_000: 1000} {
		if got := pageSize(Limits{Items: items}); got != want {
			t.Errorf("at most %d items: got pages of %d, want %d", items, got, want)
		}
	}
}
