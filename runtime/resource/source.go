package resource

import (
	"context"

	"github.com/wasmres/wasmres/abi"
)

// A Source has resources to serve. Its methods are safe for concurrent use and end soon after ctx has ended.
type Source interface {
	// List answers one page: Resources, NextCursor, TTLMillis, CacheScope. An unknown req.Cursor is
	// abi.CodeInvalidParams; req.Limit, unless it is 0, is how many entries there is room for. All pages of one list have
	// the same CacheScope, as the protocol demands; callers see one page at a time and cannot check it.
	List(ctx context.Context, req *Request) (*abi.Reply, error)

	// Templates answers one page of Templates, as List does.
	Templates(ctx context.Context, req *Request) (*abi.Reply, error)

	// Read passes the contents of req.URI to sink while it runs. The reply has TTLMillis and CacheScope. If Read fails,
	// the contents in sink are invalid. A Read without error has passed at least one content.
	//
	// A Read that can answer a part of a resource answers the range RangeOffset, RangeLength: then RangeTotal of a content
	// is the length of the whole and its bytes begin at RangeOffset. Otherwise contents are whole, and RangeTotal is zero.
	// A Read may answer a content of NotModified when that has the etag req.IfNoneMatch.
	Read(ctx context.Context, req *Request, sink abi.Sink) (*abi.Reply, error)

	// Complete answers Completions, CompletionTotal and CompletionMore for the variable req.Arg of the template
	// req.Template, given what was typed so far, req.Value, and the variables already known, req.Vars.
	Complete(ctx context.Context, req *Request) (*abi.Reply, error)

	// Subscribe reports changes to n until ctx ends: of the resources uris and, if list is set, of the list. It returns
	// soon, with those of uris that can be subscribed to, in their order; of several with one normal form it may accept the
	// first alone. It reports each change that begins after it has returned, and perhaps some before. A few calls of n may
	// follow the end of ctx.
	Subscribe(ctx context.Context, uris []abi.URI, list bool, n Notifier) (accepted []abi.URI, err error)
}

// A Notifier receives the changes of one subscription and merges those that it has not passed on yet. Its methods are
// safe for concurrent use, do not block and do not call the Source, so that a Source may call them from anywhere.
type Notifier interface {
	// Updated says that a resource has changed. uri is String of a subscribed URI, so that a Notifier stores a bounded
	// number of them.
	Updated(uri string)
	// ListChanged says that the list has changed.
	ListChanged()
}

// Notify has n receive a change of uri, or of the list if that is empty.
func Notify(n Notifier, uri string) {
	if uri == "" {
		n.ListChanged()
		return
	}
	n.Updated(uri)
}

// A NotifierFunc is a Notifier made of a function, which receives the empty string for the list.
type NotifierFunc func(uri string)

// Updated implements [Notifier].
func (f NotifierFunc) Updated(uri string) { f(uri) }

// ListChanged implements [Notifier].
func (f NotifierFunc) ListChanged() { f("") }

// A SessionEnder is a Source with state that belongs to sessions.
type SessionEnder interface {
	// EndSession discards the state of a session, whose name is that of Request.Session. It is safe for concurrent
	// use. An unknown session is no error.
	EndSession(session string)
}

// A Versioned is a Source whose pages of lists may be cached for their TTLMillis, until the list changes.
type Versioned interface {
	// ListVersion returns another number whenever the list may have changed. It is safe for concurrent use and does not
	// block.
	ListVersion() uint64
}

// An Owned is a Source that consists of providers with names, for permissions that are for some providers only.
type Owned interface {
	// Owner returns the provider to which a URI belongs. It is safe for concurrent use and does not block.
	Owner(uri abi.URI) (provider string, ok bool)
	// TemplateOwner returns the provider to which a template belongs. It is safe for concurrent use and does not block.
	TemplateOwner(template string) (provider string, ok bool)
}

// OwnerOf returns the provider to which a URI belongs if s is [Owned], for wrappers.
func OwnerOf(s Source, uri abi.URI) (provider string, ok bool) {
	if o, is := s.(Owned); is {
		return o.Owner(uri)
	}
	return "", false
}

// TemplateOwnerOf returns the provider to which a template belongs if s is [Owned], for wrappers.
func TemplateOwnerOf(s Source, template string) (provider string, ok bool) {
	if o, is := s.(Owned); is {
		return o.TemplateOwner(template)
	}
	return "", false
}

// An AfterResponder is a Source with work that must not delay a response, as resetting an instance.
type AfterResponder interface {
	// AfterResponse does that work, for all calls that have ended. The server calls it when it has written a response.
	// Calling it is optional; it is safe for concurrent use.
	AfterResponse()
}

// An Identity is what a server tells its clients about itself.
type Identity struct {
	Name         string
	Title        string // empty for none
	Version      string // never empty
	Instructions string // for the model; empty for none
}

// An Identified is a Source with an Identity, which a server uses if its options have none.
type Identified interface {
	// Identity says what the Source is. The server asks once.
	Identity() Identity
}
