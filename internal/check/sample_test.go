package check_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/runtime/resource"
)

func TestSelect(t *testing.T) {
	withTemplates := func(templates ...abi.Template) *source {
		s := faultless()
		s.manifest.Templates = templates
		return s
	}
	manyStatic := func() *source {
		s := faultless()
		s.manifest.Resources = nil
		for i := range 100 {
			s.manifest.Resources = append(s.manifest.Resources, abi.Resource{URI: fmt.Sprintf("note://n%d", i), Name: "n"})
		}
		return s
	}
	broken := faultless()
	broken.list = func(*resource.Request) (*abi.Reply, error) { return nil, errors.New("no list") }
	listed := faultless()
	listed.list = func(req *resource.Request) (*abi.Reply, error) {
		all := []abi.Resource{{URI: note}, {URI: "data://other"}, {URI: "note://free"}, {URI: "no uri"}}
		return &abi.Reply{Resources: all}, nil
	}
	static, made := check.Sample{URI: note}, check.Sample{URI: logo, Template: template}
	for name, tt := range map[string]struct {
		source *source
		most   int
		want   check.Selection
	}{
		"completed":   {faultless(), 10, check.Selection{Samples: []check.Sample{static, made}}},
		"broken list": {broken, 10, check.Selection{Samples: []check.Sample{static, made}}},
		"listed": {listed, 10, check.Selection{
			Samples: []check.Sample{static, {URI: "data://other", Template: template}, {URI: "note://free"}},
		}},
		"no room for the manifest": {faultless(), 1, check.Selection{Samples: []check.Sample{made}, Omitted: 1}},
		"evenly": {manyStatic(), 4, check.Selection{
			Samples: []check.Sample{{URI: "note://n0"}, {URI: "note://n49"}, {URI: "note://n99"}, made}, Omitted: 97,
		}},
		"no completion": {
			withTemplates(abi.Template{URITemplate: "data://{id}", Name: "data"}), 10,
			check.Selection{
				Samples:   []check.Sample{static},
				Unsampled: []check.Unsampled{{Template: "data://{id}", Why: "the template does not complete its variable id"}},
			},
		},
		"taken by a more specific template": {
			withTemplates(abi.Template{URITemplate: "data://logo", Name: "logo"}, abi.Template{
				URITemplate: template, Name: "data", Completes: []string{"id"},
			}), 10,
			check.Selection{
				Samples:   []check.Sample{static, {URI: logo, Template: "data://logo"}},
				Unsampled: []check.Unsampled{{Template: template, Why: "no completed value names a resource of the template"}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := check.Select(t.Context(), tt.source, tt.source.manifest, tt.most)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestSelectEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := check.Select(ctx, faultless(), faultless().manifest, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
