package mcptest

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Greeting is the one template of every [Source]. Its variable completes to what is in [Names], and reading it greets.
const Greeting = "greeting://{name}"

// Names returns the values the variable of [Greeting] completes to.
func Names() []string { return []string{"Ada", "Alan", "Barbara", "Edsger", "Grace"} }

// A Handler answers reads of one URI.
type Handler func(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error)

// A Source has resources in memory. Its exported fields are set before it is used.
type Source struct {
	PageSize   int            // resources on a page; 0 for all
	TTLMillis  uint64         // of everything
	CacheScope abi.CacheScope // of everything

	turnout *sync.Cond // of mu: the number of watchers has changed

	mu        sync.Mutex // guards the fields below
	resources map[string]abi.Resource
	handlers  map[string]Handler
	watchers  map[*watcher]struct{}
}

// New makes a Source without resources.
func New() *Source {
	s := &Source{
		resources: make(map[string]abi.Resource), handlers: make(map[string]Handler), watchers: make(map[*watcher]struct{}),
	}
	s.turnout = sync.NewCond(&s.mu)
	return s
}

// Handle adds or replaces a resource, and tells those who watch it or the list.
func (s *Source) Handle(r abi.Resource, h Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.resources[r.URI]
	s.resources[r.URI], s.handlers[r.URI] = r, h
	if known {
		s.publishLocked(r.URI)
	} else {
		s.publishLocked("")
	}
}

// Text adds or replaces a resource of text.
func (s *Source) Text(uri, text string) { s.content(uri, "text/plain", abi.KindText, []byte(text)) }

// Blob adds or replaces a resource of bytes.
func (s *Source) Blob(uri string, blob []byte) {
	s.content(uri, "application/octet-stream", abi.KindBlob, blob)
}

func (s *Source) content(uri, mimeType string, kind abi.Kind, body []byte) {
	name := uri[strings.LastIndexAny(uri, "/:")+1:]
	r := abi.Resource{URI: uri, Name: name, MIMEType: mimeType, Size: uint64(len(body)), Priority: math.NaN()}
	s.Handle(r, func(_ context.Context, _ *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		err := Send(sink, &abi.Content{URI: uri, MIMEType: mimeType, Kind: kind, Size: uint64(len(body))}, body)
		return s.reply(), err
	})
}

// Send hands a content and its bytes to a sink, in pieces that fit nothing.
func Send(sink abi.Sink, c *abi.Content, body []byte) error {
	const piece = 65_521
	if err := sink.Content(c); err != nil {
		return err
	}
	for p := range slices.Chunk(body, piece) {
		if err := sink.Body(p); err != nil {
			return err
		}
	}
	return nil
}

// Remove takes a resource away.
func (s *Source) Remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resources, uri)
	delete(s.handlers, uri)
	s.publishLocked("")
}

func (s *Source) reply() *abi.Reply {
	return &abi.Reply{TTLMillis: s.TTLMillis, CacheScope: s.CacheScope}
}

// List implements resource.Source. A cursor is the number of resources already listed.
func (s *Source) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uris := slices.Sorted(maps.Keys(s.resources))
	begin, err := strconv.Atoi(req.Cursor)
	if req.Cursor != "" && (err != nil || begin <= 0 || begin > len(uris)) {
		return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
	}
	end := len(uris)
	if s.PageSize > 0 {
		end = min(begin+s.PageSize, end)
	}
	const each = 512 // bytes of memory that an entry takes, its texts aside, which all pages share
	if !inflight.Of(ctx).Take(each * (end - begin)) {
		return nil, inflight.Busy(0)
	}
	reply := s.reply()
	for _, uri := range uris[begin:end] {
		reply.Resources = append(reply.Resources, s.resources[uri])
	}
	if end < len(uris) {
		reply.NextCursor = strconv.Itoa(end)
	}
	return reply, nil
}

// Templates implements resource.Source.
func (s *Source) Templates(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	if req.Cursor != "" {
		return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
	}
	reply := s.reply()
	reply.Templates = []abi.Template{{URITemplate: Greeting, Name: "greeting", MIMEType: "text/plain", Priority: math.NaN()}}
	return reply, nil
}

// Read implements resource.Source.
func (s *Source) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	s.mu.Lock()
	h := s.handlers[req.URI.String()]
	s.mu.Unlock()
	if h != nil {
		return h(ctx, req, sink)
	}
	name, ok := strings.CutPrefix(req.URI.String(), "greeting://")
	if !ok || strings.Contains(name, "/") {
		return nil, abi.Errorf(abi.CodeNotFound, "there is no such resource")
	}
	c := &abi.Content{URI: req.URI.String(), MIMEType: "text/plain", Kind: abi.KindText}
	return s.reply(), Send(sink, c, []byte("Hello, "+name+"!"))
}

// Complete implements resource.Source.
func (s *Source) Complete(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	if req.Template != Greeting || req.Arg != "name" {
		return nil, abi.Errorf(abi.CodeUnsupported, "nothing completes here")
	}
	reply := &abi.Reply{}
	for _, name := range Names() {
		if strings.HasPrefix(name, req.Value) {
			reply.Completions = append(reply.Completions, name)
		}
	}
	reply.CompletionTotal = uint32(len(reply.Completions))
	return reply, nil
}
