package mcp

import (
	"context"

	"github.com/wasmres/wasmres/abi"
)

// A Source has resources to serve. Its methods are called from many goroutines at once and end soon after ctx does.
// Errors are classified by [abi.CodeOf]; only the message of an [abi.Error] reaches the client.
type Source interface {
	// List answers one page: Resources, NextCursor, TTLMillis, CacheScope. An unknown req.Cursor is
	// abi.CodeInvalidParams; req.Limit, unless it is 0, is how many entries there is room for. All pages of one list have
	// the same CacheScope: the protocol demands it, and nobody above sees more than a page.
	List(ctx context.Context, req *abi.Request) (*abi.Reply, error)

	// Templates answers one page of Templates, as List does.
	Templates(ctx context.Context, req *abi.Request) (*abi.Reply, error)

	// Read hands the contents of req.URI to sink while it runs. The reply carries TTLMillis and CacheScope. When it
	// fails, what sink got is void. A read without error has at least one content.
	//
	// Where it can, it answers the range RangeOffset, RangeLength: then RangeTotal of a content is the length of the whole
	// and its bytes begin at RangeOffset. Otherwise contents are whole, and RangeTotal is zero. It may answer a content
	// of NotModified when that has the etag req.IfNoneMatch.
	Read(ctx context.Context, req *abi.Request, sink abi.Sink) (*abi.Reply, error)

	// Complete answers Completions, CompletionTotal and CompletionMore for the variable req.Arg of the template
	// req.URI, given what was typed so far, req.Value, and the variables already known, req.Vars.
	Complete(ctx context.Context, req *abi.Request) (*abi.Reply, error)

	// Watch calls notify, from one goroutine at a time, until ctx ends: with a URI of uris, spelled as there, when that
	// resource has changed, and with the empty string when the list has. It returns at once with those of uris that can be
	// watched. notify must not block for long: changes that come meanwhile are merged, never queued without bound.
	Watch(ctx context.Context, uris []string, listChanged bool, notify func(uri string)) (watched []string, err error)
}

// A SessionEnder is a Source that keeps something for a session.
type SessionEnder interface {
	// EndSession forgets that. It is safe for concurrent use.
	EndSession(session string)
}

// A Settler is a Source that has work to do after an answer, which nobody need wait for.
type Settler interface {
	// Settle does that work. It is safe for concurrent use.
	Settle()
}
