package mcp

import (
	"context"
	"net/url"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// metaLink is the key of _meta for the URL of a resource's bytes: a reference relative to the endpoint's URL.
const metaLink = "io.github.wasmres/download"

// DownloadMethod stands for a download in the logs. It is no method of the protocol.
const DownloadMethod = "download"

// linkSize is the size from which resources have a link, in bytes. Smaller ones are as quickly read.
const linkSize = 1 << 20

// A Download asks for one resource as bytes.
type Download struct {
	URI         string
	Offset      uint64 // first byte; a provider without ranges returns the whole
	Length      uint64 // bytes; 0 for all that follows
	IfNoneMatch string // the etag the client has, as the provider spells it; empty for none
	Session     string // as Message.Session
}

// Download passes one content of a resource to sink: the one with the requested URI, else the first. The rules are those
// of a read; the bytes are not encoded.
//
// If the provider returns a range, RangeTotal of the content is the length of the whole, and the bytes begin at Offset;
// there may be more than requested. Otherwise RangeTotal is zero, and the bytes are the whole. Content is called at
// most once, with a Kind, or with NotModified if IfNoneMatch is current. The sink may return [ErrEnough]. After an
// error the sink must discard what it got.
func (c *Core) Download(ctx context.Context, d *Download, sink abi.Sink) (failure *Error) {
	r := &request{method: DownloadMethod, params: new(params), modern: true, session: d.Session}
	defer c.recoverPanic(ctx, r, &failure)
	if len(d.URI) <= abi.MaxURI {
		r.uri = d.URI
	}
	if err := c.download(ctx, d, sink); err != nil {
		return c.fail(ctx, r, err)
	}
	return nil
}

func (c *Core) download(ctx context.Context, d *Download, sink abi.Sink) error {
	uri, err := abi.ParseURI(d.URI)
	if err != nil {
		return err
	}
	req := &resource.Request{
		URI: uri, RangeOffset: d.Offset, RangeLength: d.Length, IfNoneMatch: d.IfNoneMatch, Session: d.Session,
		Download: true,
	}
	_, err = c.readFirstContent(ctx, req, newFirstContentSink(uri, downloadSink{sink, d.IfNoneMatch != ""}))
	return err
}

// A downloadSink is the [abi.Sink] that checks the head of a downloaded content.
type downloadSink struct {
	abi.Sink
	conditional bool
}

// Unwrap returns the sink that may keep the guest waiting.
func (h downloadSink) Unwrap() abi.Sink { return h.Sink }

// Content implements [abi.Sink].
func (h downloadSink) Content(c *abi.Content) error {
	switch {
	case c.Kind == abi.KindText || c.Kind == abi.KindBlob:
	case !c.NotModified:
		return abi.Errorf(abi.CodeProtocol, "A content is neither text nor blob")
	case !h.conditional:
		return abi.Errorf(abi.CodeProtocol, "A content is not modified, but the request has no etag")
	}
	return h.Sink.Content(c)
}

// appendLink appends, after another member, the member metaLink.
func appendLink(b []byte, uri string) []byte {
	return appendMember(b, metaLink, "?uri="+url.QueryEscape(abi.NormalURI(uri)))
}

// appendResourceMeta appends the member _meta of a resource in a list; with links, that of a large one has metaLink.
func appendResourceMeta(b []byte, r *abi.Resource, links bool) []byte {
	begin := len(b)
	b = appendMeta(b, r.Meta, "", "", "")
	if !links || r.Size < linkSize {
		return b
	}
	if len(b) == begin {
		b = append(b, `,"_meta":{}`...)
	}
	first := len(b)-begin == len(`,"_meta":{}`)
	b = appendLink(b[:len(b)-1], r.URI)
	if first { // no comma before the first
		at := begin + len(`,"_meta":{`)
		b = append(b[:at], b[at+1:]...)
	}
	return append(b, '}')
}
