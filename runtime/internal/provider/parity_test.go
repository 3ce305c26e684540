package provider_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A transcript records all contents of a call, in order, independent of how they were cut into parts.
type transcript struct{ said [][]byte }

func (t *transcript) Content(c *abi.Content) error {
	head := *c
	head.Inline = nil
	t.said = append(t.said, fmt.Appendf(nil, "content %+v", head), []byte("body "))
	return nil
}

func (t *transcript) Body(p []byte) error {
	last := &t.said[len(t.said)-1]
	*last = append(*last, p...)
	return nil
}

func (t *transcript) Progress(p abi.Progress) {
	t.said = append(t.said, fmt.Appendf(nil, "progress %+v", p))
}

// An account is everything that a caller can see of a call.
type account struct {
	said    [][]byte
	reply   string
	failure string
	notices []string
	used    limits.Usage
	log     string
}

func (a *account) String() string {
	said := ""
	for _, s := range a.said {
		said += fmt.Sprintf("  %.200s (%d bytes)\n", s, len(s))
	}
	return fmt.Sprintf("%s  reply %.200s (%d bytes)\n  failure %s\n  notices %v\n  used %+v\n  log %.300s",
		said, a.reply, len(a.reply), a.failure, a.notices, a.used, a.log)
}

// describe gives the public parts of an error.
func describe(err error) string {
	var e *abi.Error
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	crashed := "no crash"
	if c := abi.CrashOf(err); c != nil {
		crashed = fmt.Sprintf("%s in %v of %s, said %q", c.Reason, c.Stack, c.URI, c.LastLines)
	}
	return fmt.Sprintf("%v: %s, data %s, retry after %v, %s", e.Code, e.Message, e.Data, e.RetryAfter, crashed)
}

// A play is a call, with what a puppet does in it.
type play struct {
	op     abi.Op // zero for a read
	req    abi.Request
	limits limits.Limits
	mute   bool // there is no sink
	// answer is the answer of the file service.
	answer func() (capability.Response, error)
	steps  []guesttest.Step
	code   abi.Code // the expected code
	// vague is set if the contents before a failure may differ.
	vague bool
}

// Call implements [capability.Service].
func (p *play) Call(context.Context, []byte) (capability.Response, error) { return p.answer() }

// perform gives the account of a play.
func (p *play) perform(t *testing.T, run guest.Runner) *account {
	t.Helper()
	a := &account{}
	var log syncBuffer
	plain := &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attr
	}}
	logger := slog.New(slog.NewTextHandler(&log, plain))
	puppet := &guesttest.Puppet{Next: steps(append(p.steps, guesttest.Return(p.returns()))...)}
	puppet.Manifest = abi.Manifest{Name: "puppet", Ops: 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete | 1<<abi.OpPoll, URIPrefixes: []string{"x:"}}
	services := puppet.Services()
	if p.answer != nil {
		services[abi.ServiceFileStat] = p
	}
	if p.limits.Timeout == 0 {
		p.limits.Timeout = time.Minute
	}
	m, err := provider.Open(t.Context(), provider.Config{
		Runner: logging(t, run, logger), Limits: p.limits, Services: services, Logger: logger,
		OnCall: func(_ context.Context, u limits.Usage) { u.CPU = 0; a.used = u },
	}, puppet.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.OnNotice(func(_ context.Context, uri string) { a.notices = append(a.notices, uri) })
	op, req, sink := p.op, p.req, abi.Sink(nil)
	if op == 0 {
		op = abi.OpRead
	}
	if req.URI == "" {
		req.URI = "x:o"
	}
	said := &transcript{}
	if !p.mute {
		sink = said
	}
	reply, err := m.Call(t.Context(), op, &req, sink)
	if err == nil {
		a.reply, a.said = string(reply.Append(nil)), said.said
	}
	a.failure = describe(err)
	if got := abi.CodeOf(err); got != p.code {
		t.Errorf("got %v, want %v", err, p.code)
	}
	if p.vague {
		a.used = limits.Usage{Op: a.used.Op, Code: a.used.Code}
	}
	a.log = log.String()
	return a
}

// returns is the code of the puppet's last step.
func (p *play) returns() abi.Code {
	if p.code <= abi.CodeInputRequired && !p.vague {
		return p.code
	}
	return abi.CodeOK
}

// entries are frames of that many entries each.
func entries(frames, each int) (all []guesttest.Step) {
	for f := range frames {
		var r abi.Reply
		for n := range each {
			r.Resources = append(r.Resources, abi.Resource{
				URI: fmt.Sprintf("x:%d/%d", f, n), Name: fmt.Sprint("entry ", n), Priority: 0.5, Size: uint64(n), MIMEType: "text/plain",
				Icons: []abi.Icon{{Source: "https://example.com/i.png", Sizes: []string{"48x48"}}}, Meta: `{"n":1}`,
			})
		}
		all = append(all, guesttest.Emit(r.Append(nil)))
	}
	return all
}

// heavy is an entry of nearly 256 KiB.
func heavy(n int) guesttest.Step {
	entry := abi.Resource{URI: fmt.Sprint("x:", n), Name: "heavy"}
	for range 15 {
		entry.Icons = append(entry.Icons, abi.Icon{Source: "data:image/png;base64," + strings.Repeat("i", 16_000)})
	}
	return guesttest.Emit((&abi.Reply{Resources: []abi.Resource{entry}}).Append(nil))
}

func completions(n int) *abi.Reply {
	r := &abi.Reply{CompletionTotal: 5000, CompletionMore: true}
	for i := range n {
		r.Completions = append(r.Completions, fmt.Sprintf("%d-%s", i, strings.Repeat("c", 1800)))
	}
	return r
}

func head(kind abi.Kind) guesttest.Step {
	return guesttest.Emit((&abi.Content{URI: "x:o", Kind: kind, MIMEType: "a/b", ETag: "e", Size: 3, Meta: `{"k":1}`, RangeTotal: 9}).Append(nil))
}

func inline(kind abi.Kind, p []byte) guesttest.Step {
	return guesttest.Emit((&abi.Content{URI: "x:i", Kind: kind, Inline: p, LastModified: "2026-01-02T03:04:05Z"}).Append(nil))
}

func failure(e abi.GuestError) guesttest.Step {
	return guesttest.Emit((&abi.Reply{Error: &e}).Append(nil))
}

func notice(uri string) guesttest.Step {
	return guesttest.Ask(abi.ServiceNotifyUpdated, (&abi.NotifyRequest{URI: uri}).Append(nil))
}

// pattern does not repeat at the size of a buffer.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

func answering(message, body int) func() (capability.Response, error) {
	return func() (capability.Response, error) {
		return capability.Response{Message: make([]byte, message), Body: make([]byte, body)}, nil
	}
}

func failing(err error) func() (capability.Response, error) {
	return func() (capability.Response, error) { return capability.Response{}, err }
}

var stat = guesttest.Ask(abi.ServiceFileStat, []byte("request"))

func plays() map[string]*play {
	large := pattern(1 << 20)
	blob, text := head(abi.KindBlob), head(abi.KindText)
	return map[string]*play{
		"inline text":        {steps: []guesttest.Step{inline(abi.KindText, []byte("fine"))}},
		"inline, empty":      {steps: []guesttest.Step{inline(abi.KindText, []byte{}), inline(abi.KindBlob, []byte{})}},
		"inline, large":      {steps: []guesttest.Step{inline(abi.KindBlob, large[:900<<10])}},
		"no body":            {steps: []guesttest.Step{head(abi.KindNone)}},
		"empty body":         {steps: []guesttest.Step{blob, guesttest.Body(nil)}},
		"not modified":       {steps: []guesttest.Step{guesttest.Emit((&abi.Content{URI: "x:o", ETag: "e", NotModified: true}).Append(nil))}},
		"short pieces":       {steps: []guesttest.Step{text, guesttest.Body([]byte("ab")).Times(5000)}},
		"pieces of the edge": {steps: []guesttest.Step{blob, guesttest.Body(large[:16<<10]), guesttest.Body(large[:16<<10+1]), guesttest.Body(large[:64<<10]), guesttest.Body(large[:64<<10+1]), guesttest.Body(large[:1])}},
		"a large piece":      {steps: []guesttest.Step{blob, guesttest.Body(large[:1000<<10]).Times(4)}},
		"several contents": {steps: []guesttest.Step{
			text, guesttest.Body([]byte("a")), inline(abi.KindBlob, []byte("b")), guesttest.Body([]byte("more")), blob, head(abi.KindNone), blob, guesttest.Body(large[:100<<10]),
			guesttest.Emit(append((&abi.Content{URI: "x:1", Kind: abi.KindText, Inline: []byte("one")}).Append(nil), (&abi.Content{URI: "x:2", Kind: abi.KindText, Inline: []byte("two")}).Append(nil)...)),
		}},
		"many contents":        {steps: []guesttest.Step{inline(abi.KindText, []byte("x")).Times(10_000)}},
		"too many contents":    {steps: []guesttest.Step{inline(abi.KindText, []byte("x")).Times(10_001)}, code: abi.CodeTooMany, vague: true},
		"64 MiB":               {steps: []guesttest.Step{blob, guesttest.Body(large[:512<<10]).Times(128)}},
		"more than 64 MiB":     {steps: []guesttest.Step{blob, guesttest.Body(large[:512<<10]).Times(128), guesttest.Body([]byte("x"))}, code: abi.CodeTooLarge, vague: true},
		"text is not UTF-8":    {steps: []guesttest.Step{text, guesttest.Body([]byte("a\xff\xfeb\xc3"))}},
		"URI is not UTF-8":     {steps: []guesttest.Step{guesttest.Emit((&abi.Content{URI: "x:\xff"}).Append(nil))}, code: abi.CodeProtocol, vague: true},
		"URI of another":       {steps: []guesttest.Step{guesttest.Emit((&abi.Content{URI: "y:o"}).Append(nil))}, code: abi.CodeInvalidURI, vague: true},
		"body of nothing":      {steps: []guesttest.Step{guesttest.Body([]byte("x"))}, code: abi.CodeProtocol, vague: true},
		"malformed":            {steps: []guesttest.Step{guesttest.Emit([]byte{0x1a, 0x7f, 0x0a})}, code: abi.CodeProtocol, vague: true},
		"no resource function": {mute: true, steps: []guesttest.Step{inline(abi.KindText, []byte("x"))}, code: abi.CodeProtocol, vague: true},
		"freshness":            {steps: []guesttest.Step{inline(abi.KindText, []byte("x")), guesttest.Emit((&abi.Reply{TTLMillis: 5000, CacheScope: abi.CachePublic}).Append(nil))}},
		"progress":             {steps: []guesttest.Step{guesttest.Emit((&abi.Progress{Done: 1, Total: 3, Message: "a third"}).Append(nil)), inline(abi.KindText, []byte("x")), guesttest.Emit((&abi.Progress{Done: 2}).Append(nil))}},
		"10,000 entries":       {op: abi.OpList, steps: append(entries(10, 1000), guesttest.Emit((&abi.Reply{NextCursor: "more", TTLMillis: 7}).Append(nil)))},
		"10,001 entries":       {op: abi.OpList, steps: append(entries(10, 1000), entries(1, 1)...), code: abi.CodeTooMany, vague: true},
		"no entries":           {op: abi.OpList},
		"entries, limited":     {op: abi.OpList, req: abi.Request{Limit: 3}, steps: entries(5, 2)},
		"heavy entries":        {op: abi.OpList, steps: []guesttest.Step{heavy(1), heavy(2), heavy(3), heavy(4), heavy(5), heavy(6)}},
		"a list of contents":   {op: abi.OpList, steps: []guesttest.Step{inline(abi.KindText, []byte("x"))}},
		"completions":          {op: abi.OpComplete, steps: []guesttest.Step{guesttest.Emit(completions(500).Append(nil)), guesttest.Emit(completions(500).Append(nil))}},
		"no completions":       {op: abi.OpComplete},
		"not implemented":      {op: abi.OpSubscribe, code: abi.CodeUnsupported, vague: true},
		"poll":                 {op: abi.OpPoll, steps: []guesttest.Step{guesttest.Emit((&abi.Content{URI: "x:o", ETag: "v2"}).Append(nil)), guesttest.Emit((&abi.Reply{PollMillis: 100}).Append(nil))}},
		"request": {req: abi.Request{
			URI: "x:" + strings.Repeat("u", 2000), Vars: []abi.Var{{Name: "a", Value: strings.Repeat("é", 20_000)}}, Meta: `{"a":1}`, Route: 3,
			Principal: &abi.Principal{Subject: "ada", Scopes: []string{"a", "b"}}, IfNoneMatch: "e", RangeOffset: 7, MaxBytes: 9,
		}, steps: []guesttest.Step{inline(abi.KindText, []byte("x"))}},
		"request, too large": {req: abi.Request{Value: strings.Repeat("v", abi.MaxRequest)}, code: abi.CodeInvalidParams, vague: true},
		"session":            {req: abi.Request{Session: strings.Repeat("s", 256)}, steps: []guesttest.Step{inline(abi.KindText, []byte("x"))}},
		"failure":            {steps: []guesttest.Step{failure(abi.GuestError{Message: "gone\nforged", Data: `{"a":[1]}`, RetryAfterMillis: 1234})}, code: abi.CodeUnavailable},
		"failure, wordy":     {steps: []guesttest.Step{failure(abi.GuestError{Message: strings.Repeat("é", 5000), Data: `{"a":"` + strings.Repeat("d", abi.MaxMeta-20) + `"}`, RetryAfterMillis: 1 << 60})}, code: abi.CodeNotFound},
		"failure, no JSON":   {steps: []guesttest.Step{failure(abi.GuestError{Data: "}"}), guesttest.Return(abi.CodeNotFound)}, code: abi.CodeProtocol, vague: true},
		"failure, late":      {steps: []guesttest.Step{blob, guesttest.Body(large[:1000<<10]), failure(abi.GuestError{Message: "half"})}, code: abi.CodeNotFound},
		"status of the host": {steps: []guesttest.Step{guesttest.Return(99)}, code: abi.CodeInternal, vague: true},
		"trap":               {steps: []guesttest.Step{blob, guesttest.Body(large[:1000<<10]), guesttest.Trap()}, code: abi.CodeTrap},
		"fuel":               {limits: limits.Limits{Fuel: 1e6}, steps: []guesttest.Step{guesttest.Spin()}, code: abi.CodeFuel},
		"host calls":         {limits: limits.Limits{HostCalls: 500}, steps: []guesttest.Step{stat.Times(1000)}, code: abi.CodeHostCalls},
		"deadline":           {limits: limits.Limits{Timeout: 500 * time.Millisecond}, steps: []guesttest.Step{guesttest.Spin()}, code: abi.CodeDeadline, vague: true},
		"log":                {steps: []guesttest.Step{guesttest.Log(abi.LogWarn, "a\nforged=1 \x1b[2J\xff"), guesttest.Log(abi.LogDebug, "unheard"), guesttest.Log(abi.LogError, strings.Repeat("l", 3000)), inline(abi.KindText, []byte("x"))}},
		"notices": {steps: []guesttest.Step{
			notice("x:1"), notice("x:2").Times(100), notice("y:1"), notice("x:\x00"), guesttest.Ask(abi.ServiceNotifyList, nil), inline(abi.KindText, []byte("x")), notice("x:" + strings.Repeat("n", 2046)), notice("x:" + strings.Repeat("n", 2047)),
		}},
		"service":            {answer: answering(10, 10), steps: []guesttest.Step{stat.Times(300), inline(abi.KindText, []byte("x"))}},
		"service, large":     {answer: answering(1<<20, 16<<20), steps: []guesttest.Step{stat.Times(2), inline(abi.KindText, []byte("x"))}},
		"service, too large": {answer: answering(2<<20, 0), steps: []guesttest.Step{stat, inline(abi.KindText, []byte("x"))}},
		"service, huge body": {answer: answering(0, 17<<20), steps: []guesttest.Step{stat, inline(abi.KindText, []byte("x"))}},
		"service, refused":   {answer: failing(abi.Errorf(abi.CodeDenied, "no")), steps: []guesttest.Step{stat, inline(abi.KindText, []byte("x"))}},
		"service, unknown":   {steps: []guesttest.Step{guesttest.Ask(63, nil), guesttest.Ask(4_000_000_000, nil), inline(abi.KindText, []byte("x"))}},
		"service, broken":    {answer: failing(errors.New("the disk")), steps: []guesttest.Step{stat, inline(abi.KindText, []byte("x"))}},
		"service, panic":     {answer: func() (capability.Response, error) { panic("the host") }, steps: []guesttest.Step{stat, inline(abi.KindText, []byte("x"))}, code: abi.CodeInternal, vague: true},
	}
}

// A caller sees the same of a call wherever its guest runs.
func TestACallIsTheSameEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes thousands of calls")
	}
	for name, p := range plays() {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.Contains(name, "64 MiB") {
				t.Skip("it is large")
			}
			var accounts []*account
			both(t, func(t *testing.T, run guest.Runner) { accounts = append(accounts, p.perform(t, run)) })
			if len(accounts) < 2 {
				return
			}
			here, there := accounts[0], accounts[1]
			if !slices.EqualFunc(here.said, there.said, bytes.Equal) || here.reply != there.reply || here.failure != there.failure ||
				!slices.Equal(here.notices, there.notices) || here.used != there.used || here.log != there.log {
				t.Errorf("in process:\n%v\nin a worker:\n%v", here, there)
			}
		})
	}
}
