package check_test

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A source is a provider without fault, until a test replaces one of its parts.
type source struct {
	manifest *abi.Manifest
	list     func(req *resource.Request) (*abi.Reply, error)
	read     func(req *resource.Request) ([]answer, error)
	complete func(req *resource.Request) (*abi.Reply, error)
}

// An answer is one content of a read.
type answer struct {
	abi.Content
	body []byte
}

const (
	note     = "note://n1"
	noteText = "the first note"
	logo     = "data://logo"
	template = "data://{id}"
)

var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x02\x08\x02\x00\x00\x00")

// faultless has three notes in its list, a resource in its manifest, and a template with completion and ranges.
func faultless() *source {
	s := &source{manifest: &abi.Manifest{
		Name: "faultless", URIPrefixes: []string{"note://", "data://"},
		Ops:       1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete,
		Resources: []abi.Resource{{URI: note, Name: "n1", MIMEType: "text/plain", Size: uint64(len(noteText)), Priority: math.NaN()}},
		Templates: []abi.Template{{
			URITemplate: template, Name: "data", MIMEType: "image/png", Completes: []string{"id"}, Ranges: true, Priority: math.NaN(),
		}},
	}}
	s.list, s.read, s.complete = s.listAll, s.readWell, s.completeWell
	return s
}

func (s *source) listAll(req *resource.Request) (*abi.Reply, error) {
	return page(s.manifest.Resources, req)
}

// page answers a page of a list, whose cursor counts what is listed already.
func page(all []abi.Resource, req *resource.Request) (*abi.Reply, error) {
	begin := 0
	if req.Cursor != "" {
		if n, err := fmt.Sscanf(req.Cursor+"$", "c%d$", &begin); n != 1 || err != nil || begin > len(all) {
			return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
		}
	}
	end := len(all)
	if req.Limit > 0 {
		end = min(end, begin+int(req.Limit))
	}
	reply := &abi.Reply{Resources: all[begin:end]}
	if end < len(all) {
		reply.NextCursor = fmt.Sprintf("c%d", end)
	}
	return reply, nil
}

func (s *source) readWell(req *resource.Request) ([]answer, error) {
	switch {
	case req.URI.String() == note || strings.HasPrefix(req.URI.String(), "note://more/") && !strings.Contains(req.URI.String(), "no-such"):
		return []answer{text(req, noteText)}, nil
	case req.URI.String() == logo:
		return []answer{picture(req)}, nil
	}
	return nil, abi.Errorf(abi.CodeNotFound, "no such resource")
}

func text(req *resource.Request, body string) answer {
	return answer{abi.Content{URI: req.URI.String(), MIMEType: "text/plain", Kind: abi.KindText}, []byte(body)}
}

// picture honours etags and ranges.
func picture(req *resource.Request) answer {
	c := abi.Content{URI: req.URI.String(), MIMEType: "image/png", ETag: "v1"}
	if req.IfNoneMatch == "v1" {
		c.NotModified = true
		return answer{c, nil}
	}
	c.Kind = abi.KindBlob
	body := png
	if req.RangeLength > 0 {
		c.RangeTotal = uint64(len(png))
		body = png[req.RangeOffset:min(req.RangeOffset+req.RangeLength, uint64(len(png)))]
	}
	return answer{c, body}
}

func (s *source) completeWell(req *resource.Request) (*abi.Reply, error) {
	if strings.HasPrefix("logo", req.Value) {
		return &abi.Reply{Completions: []string{"logo"}, CompletionTotal: 1}, nil
	}
	return &abi.Reply{}, nil
}

// List implements resource.Source.
func (s *source) List(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.list(req)
}

// Templates implements resource.Source.
func (s *source) Templates(context.Context, *resource.Request) (*abi.Reply, error) {
	return &abi.Reply{Templates: s.manifest.Templates}, nil
}

// Read implements resource.Source.
func (s *source) Read(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	answers, err := s.read(req)
	if err != nil {
		return nil, err
	}
	for i := range answers {
		if err := sink.Content(&answers[i].Content); err != nil {
			return nil, err
		}
		for _, b := range answers[i].body { // in the smallest pieces there are
			if err := sink.Body([]byte{b}); err != nil {
				return nil, err
			}
		}
	}
	return &abi.Reply{}, nil
}

// Complete implements resource.Source.
func (s *source) Complete(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.complete(req)
}

// Watch implements resource.Source.
func (s *source) Subscribe(context.Context, []abi.URI, bool, resource.Notifier) ([]abi.URI, error) {
	return nil, nil
}
