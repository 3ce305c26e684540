package mcp

import (
	"context"
	"net/url"

	"github.com/wasmres/wasmres/abi"
)

// metaLink is the key of _meta that says where a resource can be downloaded: a reference relative to the endpoint's
// URL.
const metaLink = "io.github.wasmres/download"

// linkSize is from what size on resources have a link, in bytes: smaller ones are as well read.
const linkSize = 1 << 20

// A Download asks for one resource as bytes.
type Download struct {
	URI         string
	Offset      uint64 // the part that is wanted, if the provider can cut: first byte
	Length      uint64 // bytes; 0 for all that follows
	IfNoneMatch string // the etag the asker has, as the provider says it; empty for none
	Session     string // as Message.Session
}

// Download hands one content of a resource to sink: that of the URI asked for, else the first one. The rules are those
// of a read; the bytes are as the provider says them.
//
// When the provider has cut, RangeTotal of the content is the length of the whole, and its bytes begin at Offset; they
// may be more than were wanted. Otherwise RangeTotal is zero, and the bytes are the whole. Content is called once at
// most, with a Kind, or with NotModified when IfNoneMatch is current. The sink may answer [ErrEnough]. After an error
// what it got is void.
func (c *Core) Download(ctx context.Context, d *Download, sink abi.Sink) (failure *Error) {
	r := &request{method: "download", modern: true, session: d.Session}
	defer c.catch(ctx, r, &failure)
	if len(d.URI) <= abi.MaxURI {
		r.uri = d.URI
	}
	if err := c.download(ctx, d, sink); err != nil {
		return c.fail(ctx, r, err)
	}
	return nil
}

func (c *Core) download(ctx context.Context, d *Download, sink abi.Sink) error {
	if err := abi.CheckURI(d.URI); err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "%v", err)
	}
	req := &abi.Request{
		URI: d.URI, RangeOffset: d.Offset, RangeLength: d.Length, IfNoneMatch: d.IfNoneMatch, Session: d.Session,
	}
	_, err := c.readSingle(ctx, req, newSingle(d.URI, headed{sink, d.IfNoneMatch != ""}))
	return err
}

// headed is the [abi.Sink] that holds the head of a downloaded content to the rules.
type headed struct {
	abi.Sink
	conditional bool
}

// Unwrap says who may keep the guest waiting.
func (h headed) Unwrap() abi.Sink { return h.Sink }

// Content implements [abi.Sink].
func (h headed) Content(c *abi.Content) error {
	switch {
	case c.Kind == abi.KindText || c.Kind == abi.KindBlob:
	case !c.NotModified:
		return abi.Errorf(abi.CodeProtocol, "A content is neither text nor blob")
	case !h.conditional:
		return abi.Errorf(abi.CodeProtocol, "A content is not modified, which was not asked")
	}
	return h.Sink.Content(c)
}

// appendLink appends, after another member, the one that says where a resource can be downloaded.
func appendLink(b []byte, uri string) []byte {
	return appendMember(b, metaLink, "?uri="+url.QueryEscape(abi.NormalURI(uri)))
}

// appendResourceMeta appends the member _meta of a resource in a list; with links, a large one says where to download
// it.
func appendResourceMeta(b []byte, r *abi.Resource, links bool) []byte {
	begin := len(b)
	b = appendMeta(b, r.Meta, "", "")
	if !links || r.Size < linkSize {
		return b
	}
	if len(b) == begin {
		b = append(b, `,"_meta":{}`...)
	}
	first := len(b)-begin == len(`,"_meta":{}`)
	b = appendLink(b[:len(b)-1], r.URI)
	if first { // the comma has nothing before it
		at := begin + len(`,"_meta":{`)
		b = append(b[:at], b[at+1:]...)
	}
	return append(b, '}')
}
