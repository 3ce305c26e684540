package provider_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/resource"
)

// page is what a guest emits that lists a directory.
func page(next string, uris ...string) guesttest.Step {
	r := &abi.Reply{NextCursor: next}
	for _, uri := range uris {
		r.Resources = append(r.Resources, abi.Resource{URI: uri, Name: "e"})
	}
	return guesttest.Emit(r.Append(nil))
}

// Whatever a guest lists, a directory has direct children alone, bounded in number.
func TestHostileDirectories(t *testing.T) {
	text := abi.Content{URI: "x://d/a", Kind: abi.KindText, Inline: []byte("x")}
	for _, tt := range []struct {
		name string
		step func(n int) guesttest.Step // 0 is the first
		ends int                        // steps
		code abi.Code
	}{
		{"children", func(int) guesttest.Step { return page("", "x://d/a", "x://d/b") }, 1, abi.CodeOK},
		{"itself", func(int) guesttest.Step { return page("", "x://d") }, 1, abi.CodeInvalidURI},
		{"its parent", func(int) guesttest.Step { return page("", "x://d/..") }, 1, abi.CodeInvalidURI},
		{"a grandchild", func(int) guesttest.Step { return page("", "x://d/a/b") }, 1, abi.CodeInvalidURI},
		{"another directory", func(int) guesttest.Step { return page("", "x://e/a") }, 1, abi.CodeInvalidURI},
		{"an entry twice", func(int) guesttest.Step { return page("", "x://d/a", "x://d/%61") }, 1, abi.CodeProtocol},
		{"its own cursor", func(int) guesttest.Step { return page("c", "x://d/a") }, 1, abi.CodeProtocol},
		{"a content", func(int) guesttest.Step { return guesttest.Emit(text.Append(nil)) }, 1, abi.CodeProtocol},
		{"no message", func(int) guesttest.Step { return guesttest.Emit([]byte{0x0a, 0xff, 0xff}) }, 1, abi.CodeProtocol},
		{"no end", func(n int) guesttest.Step { return page("", fmt.Sprintf("x://d/%d", n)) }, 1 << 30, abi.CodeTooMany},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openPuppet(t, provider.Config{Limits: limits.Limits{Items: 100, HostCalls: 2000, Timeout: time.Minute}}, &guesttest.Puppet{
				Manifest: abi.Manifest{Ops: 1 << abi.OpListDir},
				Next: func(_ context.Context, _ abi.Op, n int, _ *abi.Request) guesttest.Step {
					if n >= tt.ends {
						return guesttest.Return(abi.CodeOK)
					}
					return tt.step(n)
				},
			})
			_, err := p.ReadDirectory(t.Context(), &resource.Request{URI: abi.MustParseURI("x://d"), Cursor: "c"})
			if abi.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %v", err, tt.code)
			}
		})
	}
}

func TestAProviderWithoutDirectories(t *testing.T) {
	p := openPuppet(t, provider.Config{}, &guesttest.Puppet{Manifest: abi.Manifest{Ops: 1 << abi.OpList}})
	_, err := p.ReadDirectory(t.Context(), &resource.Request{URI: abi.MustParseURI("x://d")})
	if resource.HasDirectories(p) || abi.CodeOf(err) != abi.CodeInvalidParams {
		t.Errorf("got %v, want that it has none", err)
	}
}
