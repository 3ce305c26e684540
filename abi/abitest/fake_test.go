package abitest_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
)

// TestFakeGuest holds the kit to itself: a guest in memory that does what the kit's provider is said to do passes.
func TestFakeGuest(t *testing.T) {
	abitest.Run(t, func(_ testing.TB, op abi.Op, x *abitest.Exchange) uint32 {
		return uint32(fake{x}.serve(op))
	})
}

// A fake is the kit's provider in Go.
type fake struct{ x *abitest.Exchange }

var fakeTemplates = []string{
	"kit://many/{i}", "kit://config/{key}", "kit://stream/{n}", "kit://fail/{code}", "kit://join{/part*}",
	"kit://fetch/{+url}", "kit://post/{+url}", "kit://rows/{query}", "kit://kv/{key}", "kit://keep/{key}/{value}",
	"kit://swap/{key}/{value}", "kit://drop/{key}", "kit://keys/{prefix}", "kit://file/{name}",
	"kit://write/{name}/{text}", "kit://remove/{name}", "kit://env/{name}", "kit://folder/{name}", "kit://some/{name}", "kit://echo/{value}",
}

func (g fake) serve(op abi.Op) abi.Code {
	b := make([]byte, len(g.x.Request))
	if g.x.Take(abi.ChannelRequest, b, 0) != uint32(len(b)) {
		return abi.CodeInternal
	}
	var req abi.Request
	if err := req.Decode(b); err != nil {
		return abi.CodeInvalidParams
	}
	switch op {
	case abi.OpDescribe:
		return g.describe()
	case abi.OpList:
		return g.list(&req)
	case abi.OpRead:
		return g.read(&req)
	case abi.OpListDir:
		return g.listDirectory(&req)
	case abi.OpComplete:
		return g.complete(&req)
	case abi.OpSubscribe:
		return g.reply(&abi.Reply{PollMillis: 1000})
	case abi.OpPoll:
		if req.Route > 0 {
			return g.pollFolder(&req)
		}
		return g.content(abi.Content{URI: req.URI, ETag: `"v1"`, NotModified: req.IfNoneMatch == `"v1"`})
	}
	return abi.CodeUnsupported
}

func (g fake) reply(r *abi.Reply) abi.Code {
	if g.x.Emit(r.Append(nil)) < 0 {
		return abi.CodeInternal
	}
	return abi.CodeOK
}

func (g fake) fail(code abi.Code, e abi.GuestError) abi.Code {
	g.reply(&abi.Reply{Error: &e})
	return code
}

// content emits a content and its body, if that is not inline.
func (g fake) content(c abi.Content, body ...byte) abi.Code {
	if g.x.Emit(c.Append(nil)) < 0 || len(body) > 0 && g.x.Body(body) < 0 {
		return abi.CodeInternal
	}
	return abi.CodeOK
}

func (g fake) text(uri, s string) abi.Code {
	return g.content(abi.Content{URI: uri, MIMEType: "text/plain", Kind: abi.KindText, Inline: []byte(s)})
}

func (g fake) describe() abi.Code {
	m := &abi.Manifest{Name: "kit", Version: "1.0.0"}
	for _, op := range []abi.Op{abi.OpDescribe, abi.OpList, abi.OpRead, abi.OpComplete, abi.OpSubscribe, abi.OpPoll, abi.OpListDir} {
		m.Ops |= 1 << op
	}
	for _, text := range fakeTemplates {
		m.Templates = append(m.Templates, abi.Template{URITemplate: text, Name: text, Ranges: strings.Contains(text, "stream")})
	}
	m.Templates[len(m.Templates)-1].Completes = []string{"value"}
	return g.reply(&abi.Reply{Manifest: m})
}

func (g fake) list(req *abi.Request) abi.Code { return g.page(req, many()) }

// many gives the entries of the list.
func many() (all []abi.Resource) {
	for i := range 25 {
		all = append(all, abi.Resource{URI: fmt.Sprintf("kit://many/%d", i+1), Name: "many"})
	}
	return all
}

func (g fake) listDirectory(req *abi.Request) abi.Code {
	switch {
	case req.Route > 0:
		return g.listFolder(req)
	case req.URI == "kit://many":
		return g.page(req, append(many(), abi.Resource{URI: "kit://many/none", Name: "none", MIMEType: abi.DirectoryType}))
	case req.URI == "kit://many/none":
		return abi.CodeOK
	}
	return g.fail(abi.CodeNotFound, abi.GuestError{Message: "nothing here"})
}

// page emits the entries from the cursor on.
func (g fake) page(req *abi.Request, entries []abi.Resource) abi.Code {
	start := 0
	if req.Cursor != "" {
		var err error
		if start, err = strconv.Atoi(req.Cursor); err != nil || start < 0 || start > len(entries) {
			return abi.CodeInvalidParams
		}
	}
	for i := start; i < len(entries); i++ {
		switch g.x.Emit((&abi.Reply{Resources: entries[i : i+1]}).Append(nil)) {
		case abi.SignalMore:
		case abi.SignalEnough:
			if i < len(entries)-1 {
				return g.reply(&abi.Reply{NextCursor: strconv.Itoa(i + 1)})
			}
		default:
			return abi.CodeInternal
		}
	}
	return abi.CodeOK
}

func (g fake) complete(req *abi.Request) abi.Code {
	words := slices.DeleteFunc([]string{"alpha", "beta", "bravo"}, func(s string) bool { return !strings.HasPrefix(s, req.Value) })
	return g.reply(&abi.Reply{Completions: words, CompletionTotal: uint32(len(words))})
}

func (g fake) read(req *abi.Request) abi.Code {
	if req.Route > 0 {
		return g.readTemplate(req, fakeTemplates[req.Route-1])
	}
	switch req.URI {
	case "kit://text":
		c := abi.Content{URI: req.URI, MIMEType: "text/plain", Kind: abi.KindText, Inline: []byte(abitest.Text), ETag: `"v1"`}
		if req.IfNoneMatch == c.ETag {
			c = abi.Content{URI: req.URI, ETag: c.ETag, NotModified: true}
		}
		return g.content(c)
	case "kit://blob":
		return g.blob(abi.Content{URI: req.URI, MIMEType: "application/octet-stream"}, 0, 256)
	case "kit://empty":
		return g.text(req.URI, "")
	case "kit://several":
		if code := g.text("kit://several/1", "one"); code != abi.CodeOK {
			return code
		}
		return g.content(abi.Content{URI: "kit://several/2", Kind: abi.KindBlob, Inline: []byte{2}})
	case "kit://principal":
		if req.Principal == nil {
			return g.text(req.URI, "nobody")
		}
		return g.text(req.URI, req.Principal.Subject+"/"+req.Principal.Tenant)
	}
	return g.fail(abi.CodeNotFound, abi.GuestError{Message: "nothing here"})
}

func (g fake) readTemplate(req *abi.Request, template string) abi.Code {
	value := ""
	if len(req.Vars) > 0 {
		value = req.Vars[0].Value
	}
	n, _ := strconv.Atoi(value)
	switch template {
	case "kit://echo/{value}":
		return g.text(req.URI, value)
	case "kit://join{/part*}":
		var parts []string
		for _, v := range req.Vars {
			parts = append(parts, v.Value)
		}
		return g.text(req.URI, strings.Join(parts, "|"))
	case "kit://fail/{code}":
		e := abi.GuestError{Message: "failed as asked"}
		if abi.Code(n) == abi.CodeUnavailable {
			e.RetryAfterMillis = 1500
		}
		return g.fail(abi.Code(n), e)
	case "kit://stream/{n}":
		return g.stream(req, uint64(n))
	case "kit://many/{i}":
		if n >= 1 && n <= 25 {
			return g.text(req.URI, value)
		}
	case "kit://config/{key}":
		return g.config(req, value)
	default:
		return g.service(req, template)
	}
	return abi.CodeNotFound
}

func (g fake) config(req *abi.Request, key string) abi.Code {
	answer := g.x.Call(uint32(abi.ServiceConfig), (&abi.ConfigRequest{Key: key}).Append(nil))
	if abi.Code(answer>>32) != abi.CodeOK {
		return abi.CodeNotFound
	}
	b := make([]byte, uint32(answer))
	g.x.Take(abi.ChannelResponse, b, 0)
	var resp abi.ConfigResponse
	if err := resp.Decode(b); err != nil {
		return abi.CodeInternal
	}
	return g.text(req.URI, resp.Value)
}

func (g fake) stream(req *abi.Request, n uint64) abi.Code {
	start, end, c := uint64(0), n, abi.Content{URI: req.URI}
	if req.RangeOffset > 0 || req.RangeLength > 0 {
		start = min(req.RangeOffset, n)
		if req.RangeLength > 0 {
			end = min(start+req.RangeLength, n)
		}
		c.RangeTotal = n
	}
	return g.blob(c, start, end)
}

// blob pushes bytes that count up, in chunks.
func (g fake) blob(c abi.Content, start, end uint64) abi.Code {
	c.Kind, c.Size = abi.KindBlob, end-start
	if code := g.content(c); code != abi.CodeOK {
		return code
	}
	const chunk = 48 << 10
	counting := make([]byte, chunk)
	for i := range counting {
		counting[i] = byte(start + uint64(i)) // chunk is a multiple of 256
	}
	for ; start < end; start += chunk {
		switch g.x.Body(counting[:min(chunk, end-start)]) {
		case abi.SignalMore:
		case abi.SignalTooLarge:
			return abi.CodeTooLarge
		default:
			return abi.CodeInternal
		}
	}
	return abi.CodeOK
}

func TestExchangeKeepsTheFirstViolation(t *testing.T) {
	text := func(c abi.Content) []byte { return c.Append(nil) }
	for name, c := range map[string]struct {
		run    func(x *abitest.Exchange)
		status uint32
		ok     bool
	}{
		"nothing at all":      {func(*abitest.Exchange) {}, 0, true},
		"host's code":         {func(*abitest.Exchange) {}, 32, false},
		"bad frame":           {func(x *abitest.Exchange) { x.Emit([]byte{0}) }, 0, false},
		"bad frame and error": {func(x *abitest.Exchange) { x.Emit([]byte{0}) }, 9, false},
		"body first":          {func(x *abitest.Exchange) { x.Body([]byte("a")) }, 0, false},
		"body of nothing": {func(x *abitest.Exchange) {
			x.Emit(text(abi.Content{URI: "a://b"}))
			x.Body([]byte("a"))
		}, 0, false},
		"bad uri": {func(x *abitest.Exchange) { x.Emit(text(abi.Content{URI: "a b"})) }, 0, false},
		"split character": {func(x *abitest.Exchange) {
			x.Emit(text(abi.Content{URI: "a://b", Kind: abi.KindText}))
			x.Body([]byte("\xc3"))
			x.Body([]byte("\xbc"))
		}, 0, true},
		"half a character": {func(x *abitest.Exchange) {
			x.Emit(text(abi.Content{URI: "a://b", Kind: abi.KindText}))
			x.Body([]byte("\xc3"))
		}, 0, false},
		"wrong size":     {func(x *abitest.Exchange) { x.Emit(text(abi.Content{URI: "a://b", Kind: abi.KindText, Size: 1})) }, 0, false},
		"error and ok":   {func(x *abitest.Exchange) { x.Emit((&abi.Reply{Error: &abi.GuestError{}}).Append(nil)) }, 0, false},
		"log level":      {func(x *abitest.Exchange) { x.Log(4, nil) }, 0, false},
		"channel":        {func(x *abitest.Exchange) { x.Take(3, nil, 0) }, 0, false},
		"nameless entry": {func(x *abitest.Exchange) { x.Emit((&abi.Reply{Resources: []abi.Resource{{URI: "a://b"}}}).Append(nil)) }, 0, false},
		"frame of 1 MiB and more": {func(x *abitest.Exchange) {
			x.Emit(bytes.Repeat([]byte{0xf8, 1, 1, 0xf8, 1, 1}, abi.MaxFrame/6+1))
		}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := &abitest.Exchange{}
			c.run(x)
			if _, err := x.Outcome(c.status); (err == nil) != c.ok {
				t.Errorf("got %v, want ok %v", err, c.ok)
			}
		})
	}
}
