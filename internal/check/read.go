package check

import (
	"context"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A target is a resource to read.
type target struct {
	uri       string
	listed    *entry // nil if not from the list
	completed bool   // expanded from completed values
}

// readListed reads the resources of the manifest and samples of the other listed ones.
func (r *run) readListed(ctx context.Context) {
	var others []*entry
	for i := range r.entries {
		e := &r.entries[i]
		switch {
		case e.isDirectory(): // which need not be readable: see checkDirectories
		case r.isStatic(e.uri):
			r.readOne(ctx, target{uri: e.uri, listed: e})
		default:
			others = append(others, e)
		}
	}
	for i := range r.cfg.Manifest.Resources { // a failed list may lack them
		if m := &r.cfg.Manifest.Resources[i]; m.MIMEType != abi.DirectoryType {
			r.readOne(ctx, target{uri: m.URI})
		}
	}
	for _, e := range r.sample(others) {
		r.readOne(ctx, target{uri: e.uri, listed: e})
	}
}

// sample returns as many entries as the check has samples, evenly spread.
func (r *run) sample(all []*entry) []*entry {
	n := r.cfg.Samples
	if n == 0 || n >= len(all) {
		return all
	}
	some := make([]*entry, n)
	for i := range some {
		some[i] = all[evenly(i, n, len(all))]
	}
	return some
}

// evenly returns the index of sample i of n in a list of total elements, from the first to the last.
func evenly(i, n, total int) int {
	if n == 1 {
		return 0
	}
	return i * (total - 1) / (n - 1)
}

// readNamed reads the URIs of Config.
func (r *run) readNamed(ctx context.Context) {
	for _, uri := range r.cfg.URIs {
		r.readOne(ctx, target{uri: uri})
	}
}

// readOne reads a resource, unless it has been read before, and checks its contents.
func (r *run) readOne(ctx context.Context, c target) {
	normal := abi.NormalURI(c.uri)
	if r.seen[normal] || ctx.Err() != nil || abi.CheckURI(c.uri) != nil {
		return
	}
	r.seen[normal] = true
	r.report.Read++
	from := r.routeOf(c.uri)
	if from != nil {
		from.sampled = true
	}
	got, err := r.read(ctx, c.uri, &resource.Request{})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.report.addFailure(ruleFor(c, err), c.uri, "read failed", err)
		return
	}
	r.checkContents(c, from, got)
	r.checkAgain(ctx, c.uri, from, got)
}

// ruleFor returns the rule that a failed read breaks. A completed value need not lead to a resource, which is a rule of
// its own.
func ruleFor(c target, err error) string {
	switch abi.CodeOf(err) {
	case abi.CodeInvalidText:
		return ruleTextInvalid
	case abi.CodeInvalidURI:
		return ruleURIInvalid
	case abi.CodeNotFound, abi.CodeInvalidParams, abi.CodeDenied:
		if c.completed {
			return ruleCompletionDangling
		}
	}
	return ruleReadFails
}

func (r *run) checkContents(c target, from *route, got *reading) {
	for i := range got.contents {
		r.checkContent(c.uri, &got.contents[i])
	}
	main := got.main(c.uri)
	if main == nil || main.NotModified {
		return
	}
	if c.listed != nil {
		r.compareMIME(c.uri, "the list", c.listed.mimeType, main.MIMEType)
		if c.listed.size > 0 && c.listed.size != main.size {
			r.report.add(ruleSizeDiffers, c.uri, "the list says %d bytes, but the content has %d", c.listed.size, main.size)
		}
	}
	if from != nil {
		r.compareMIME(c.uri, "the template "+from.declared.URITemplate, from.declared.MIMEType, main.MIMEType)
	}
}

func (r *run) checkContent(asked string, c *content) {
	if err := abi.CheckURI(c.URI); err != nil {
		r.report.add(ruleURIInvalid, asked, "the URI of a content: %v", err)
	} else if !isSameOrBelow(abi.NormalURI(asked), abi.NormalURI(c.URI)) {
		r.report.add(ruleContentURI, asked, "a content has the URI %s", c.URI)
	}
	if c.NotModified {
		r.report.add(ruleETagMatch, asked, "a read without an etag answers not modified")
		return
	}
	if c.invalid {
		r.report.add(ruleTextInvalid, asked, "a content of kind text is not UTF-8")
	}
	if c.Size > 0 && c.Size != c.size {
		r.report.add(ruleSizeDiffers, asked, "the content says %d bytes, but has %d", c.Size, c.size)
	}
	if c.Kind == abi.KindBlob && c.MIMEType == "" {
		r.report.add(ruleMIMEMissing, asked, "a blob of %d bytes has no MIME type", c.size)
	}
	r.checkMIME(asked, c.MIMEType)
	r.checkMeta(asked, abi.ReservedMeta(c.Meta))
	r.sniff(asked, c)
}

// isSameOrBelow reports whether uri equals asked, or is a part or child of it.
func isSameOrBelow(asked, uri string) bool {
	rest, ok := strings.CutPrefix(uri, strings.TrimSuffix(asked, "/"))
	return ok && (rest == "" || strings.HasSuffix(asked, ":") || strings.ContainsAny(rest[:1], "/?#"))
}
