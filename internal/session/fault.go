package session

import (
	"bytes"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
)

// A Scrub replaces secrets in a text by something else; nil replaces none.
type Scrub func(string) string

// OfFault makes the session of a recorded call that failed. comment is the text before the first section, and config the
// configuration of the provider. Every text of the session goes through scrub; what that changes makes the crash inexact. The
// session is smaller than MaxSize. It is nil for a fault without a record.
func OfFault(f *runtime.Fault, comment string, config map[string]string, scrub Scrub) *Session {
	if f.Record == nil {
		return nil
	}
	m := maker{scrub: scrub}
	record := f.Record
	s := &Session{Comment: comment, Time: record.Clock.Time, Seed: record.Clock.Seed, Limits: limitsOf(&record.Limits)}
	for _, id := range slices.Sorted(slices.Values(record.Services)) {
		if format := findFormat(id, ""); format != nil {
			s.Grants.Services = append(s.Grants.Services, format.name)
			if !s.Grants.Has(format.capability) {
				s.Grants.Capabilities = append(s.Grants.Capabilities, format.capability)
			}
		} else if id != abi.ServiceConfig {
			m.fail("a service of the provider cannot be recorded")
		}
	}
	for key, value := range config {
		if s.Grants.Config == nil {
			s.Grants.Config = map[string]string{}
		}
		s.Grants.Config[m.text(key)] = m.text(value)
	}
	s.Host = m.exchanges(record.Start)
	c := &Crash{
		Op: f.Used.Op, Time: record.Origin.Time, Seed: record.Origin.Seed, Digest: f.Digest, Code: f.Used.Code, Fuel: f.Used.Fuel,
		HostCalls: f.Used.HostCalls, Memory: f.Used.Memory,
	}
	if f.Crash != nil {
		c.Reason = m.text(f.Crash.Reason)
		c.Stack = slices.Clone(f.Crash.Stack)
	}
	c.Request = m.request(f.Request)
	step := &Step{Request: Request{Kind: Crashed, Op: c.Op, URI: c.Request.URI}, Crash: c, Host: m.exchanges(record.Call)}
	if c.Inexact = record.Inexact; c.Inexact == "" {
		c.Inexact = m.inexact
	}
	s.Steps = []*Step{step}
	return s
}

// limitsOf returns the limits that sessions have.
func limitsOf(l *runtime.Limits) runtime.Limits {
	return runtime.Limits{
		Memory: l.Memory, Fuel: l.Fuel, Timeout: l.Timeout, Stack: l.Stack, Table: l.Table, Output: l.Output, Items: l.Items, Log: l.Log,
		LogLines: l.LogLines, HostCalls: l.HostCalls,
	}
}

// A maker makes a session of a fault.
type maker struct {
	scrub   Scrub
	inexact string // why the session is not exact; empty if it is
}

// fail says why the session is not exact.
func (m *maker) fail(why string) {
	if m.inexact == "" {
		m.inexact = why
	}
}

// text returns a text without secrets.
func (m *maker) text(s string) string {
	if m.scrub == nil || s == "" {
		return s
	}
	clean := m.scrub(s)
	if clean != s {
		m.fail("the call had a secret, which the session does not have")
	}
	return clean
}

// bytes is text for bytes, which need not be a text.
func (m *maker) bytes(b []byte) []byte {
	if m.scrub == nil || len(b) == 0 {
		return b
	}
	// A scrub may make its text UTF-8. That is no secret, so the bytes count as unchanged if only that differs.
	if s := string(b); m.scrub(s) != string(bytes.ToValidUTF8(b, []byte("\uFFFD"))) {
		return []byte(m.text(s))
	}
	return b
}

// request returns a request without secrets, as files can hold it.
func (m *maker) request(r *abi.Request) abi.Request {
	f := fileOfRequest(r)
	for _, s := range []*string{&f.URI, &f.Cursor, &f.IfNoneMatch, &f.Arg, &f.Value, &f.Meta} {
		*s = m.text(*s)
	}
	f.Vars = slices.Clone(f.Vars)
	for i := range f.Vars {
		f.Vars[i].Value = m.text(f.Vars[i].Value)
	}
	if p := f.Principal; p != nil {
		clean := *p
		clean.Subject, clean.Claims = m.text(p.Subject), m.text(p.Claims)
		f.Principal = &clean
	}
	clean := f.request()
	c := Crash{Code: abi.CodeTrap, Request: clean}
	again, err := parseCrash(&Request{}, []byte(c.String()))
	if err != nil || !bytes.Equal(again.Request.Append(nil), clean.Append(nil)) {
		m.fail("the request has bytes that a session cannot hold")
	}
	return clean
}

// maxAgain bounds how often an answer stands in a file one after the other.
const maxAgain = 1000

// exchanges returns answers as files have them.
func (m *maker) exchanges(list []runtime.Exchange) []Exchange {
	host := newStepHost(nil)
	for i := range list {
		e, size := m.exchange(&list[i])
		if e == nil {
			continue
		}
		again := list[i].Again
		if i == len(list)-1 {
			again = 0 // a replay repeats it
		}
		if again > maxAgain {
			m.fail("the provider asked the same too often")
			again = maxAgain
		}
		for range again + 1 {
			host.add(e, size)
		}
	}
	return host.recorded()
}

// exchange returns one answer, and its size; nil for one that a replay gives by itself.
func (m *maker) exchange(x *runtime.Exchange) (_ *Exchange, size int) {
	format := findFormat(x.Service, "")
	if format == nil {
		return nil, 0 // it is not granted in a replay either
	}
	if x.Service == abi.ServiceConfig {
		var r abi.ConfigRequest
		if r.Decode(x.Request) != nil || len(r.Key) < len(envKey) || r.Key[:len(envKey)] != envKey {
			return nil, 0 // it is in the configuration
		}
	}
	asked, err := format.decodeRequest(m.bytes(x.Request))
	if err != nil {
		return nil, 0 // a replay refuses it in the same way
	}
	e := &Exchange{format: format, question: format.question(asked), code: x.Code, response: zero(format.response)}
	if x.Code != abi.CodeOK {
		return e, len(e.question)
	}
	e.body = m.bytes(x.Body)
	if err := e.decodeResponse(m.bytes(x.Response)); err != nil {
		m.fail("a session cannot hold the answer to " + truncate(e.question))
		return nil, 0
	}
	if !bytes.Equal(e.response.Append(nil), x.Response) {
		m.fail("a session cannot hold the answer to " + truncate(e.question) + " as it was encoded")
	}
	return e, len(x.Body) + len(x.Response)
}
