package wasmres

import (
	"strconv"
	"time"
	"unsafe"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// A Request is what a handler is asked. It is of no use after the handler returned.
type Request struct {
	URI  string // what is read or watched; empty for listings; for completions the template
	Meta string // the request's _meta, a JSON object; empty for none

	// Range is the part that is wanted; zero for all. It is set only when the Route says Ranges.
	Range Range
	// IfNoneMatch is the etag the asker has; empty for none. wasmres sends it when it polls what is
	// watched, and when a client that has downloaded the resource asks whether it has changed.
	IfNoneMatch string
	// MaxBytes is how many bytes the answer may have; 0 when unknown. wasmres does not tell yet.
	MaxBytes uint64
	// Principal is who asks; nil when nobody had to say. wasmres knows no principals yet.
	Principal *Principal

	route    uint32
	vars     []variable
	cursor   string
	limit    uint32
	argument string
	prefix   string
	out      out
	room     [4]variable // for vars, which are seldom more
	sole     [1]Content  // what is answered, when that is one
}

// A Range is a part of a resource, in bytes.
type Range struct {
	Offset uint64
	Length uint64 // 0 for all from Offset on
}

// A Principal is the authenticated asker. wasmres knows none yet.
type Principal struct {
	Subject string
	Tenant  string
	Scopes  []string
	Claims  string // JSON object; empty for none
}

type variable struct{ name, value string }

// Var gives the decoded value of a template variable, or nothing when it is absent.
func (r *Request) Var(name string) string {
	for _, v := range r.vars {
		if v.name == name {
			return v.value
		}
	}
	return ""
}

// Vars gives all values of a template variable that was exploded to a list, as in {/path*}.
func (r *Request) Vars(name string) []string {
	var values []string
	for _, v := range r.vars {
		if v.name == name {
			values = append(values, v.value)
		}
	}
	return values
}

// Int gives a template variable as a number. The error, invalid_params, may be returned as it is.
func (r *Request) Int(name string) (int, error) {
	n, err := strconv.Atoi(r.Var(name))
	if err != nil {
		return 0, Invalid(name + " is not a whole number: " + strconv.Quote(r.Var(name)))
	}
	return n, nil
}

// Config gives a value the operator configured, and whether there is one.
func (r *Request) Config(key string) (string, bool) {
	code, n := host.Call(serviceConfig, wire.AppendString(nil, 1, key))
	if code != codeOK {
		return "", false
	}
	value := ""
	for s := response(n); s != ""; {
		f, rest, ok := wire.Next(s)
		if !ok {
			return "", false
		}
		if f.Num == 1 {
			value = f.Text
		}
		s = rest
	}
	return value, true
}

// Env gives an environment variable the operator granted, and whether it is there. It is the configured value with the
// key "env:" and the name.
func (r *Request) Env(name string) (string, bool) { return r.Config("env:" + name) }

// Progress tells the asker how far a long read has come. total is 0 when unknown.
func (r *Request) Progress(done, total float64, message string) {
	b, at := wire.Begin(r.out.buf, 15)
	b = wire.AppendFloat(b, 1, done)
	b = wire.AppendFloat(b, 2, total)
	b = wire.AppendString(b, 3, message)
	r.out.buf = wire.End(b, at)
	_ = r.out.flush() // a signal stays with out and ends the call
}

// TimeLeft gives how long this call may still run.
func (r *Request) TimeLeft() time.Duration { return time.Duration(host.Info(infoDeadline)) }

// Now gives the host's wall-clock time.
func (r *Request) Now() time.Time { return time.Unix(0, host.Info(infoWallTime)) }

// Err is nil while somebody waits for the answer and time is left; long loops should ask now and then and return it.
func (r *Request) Err() error {
	if r.out.stopped != nil {
		return r.out.stopped
	}
	if r.TimeLeft() <= 0 {
		return ErrDeadline
	}
	return nil
}

// Debug writes a line to the host's log.
func (r *Request) Debug(message string) { host.Log(logDebug, message) }

// Info writes a line to the host's log.
func (r *Request) Info(message string) { host.Log(logInfo, message) }

// Warn writes a line to the host's log.
func (r *Request) Warn(message string) { host.Log(logWarn, message) }

// Error writes a line to the host's log.
func (r *Request) Error(message string) { host.Log(logError, message) }

// NotifyUpdated tells whoever follows the resource that it has changed.
func NotifyUpdated(uri string) error {
	code, _ := host.Call(serviceNotifyUpdated, wire.AppendString(nil, 1, uri))
	return codeError(code)
}

// NotifyListChanged tells clients that the list of resources has changed.
func NotifyListChanged() error {
	code, _ := host.Call(serviceNotifyList, nil)
	return codeError(code)
}

func codeError(code uint32) error {
	if code == codeOK {
		return nil
	}
	return &Error{Code: Code(code)}
}

// take gives the first n bytes of a channel.
func take(channel, n uint32) string { return takeInto(make([]byte, n), channel) }

// takeInto is take with a buffer that nobody else uses.
func takeInto(b []byte, channel uint32) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], host.Take(channel, b, 0))
}

// response gives the message of n bytes the last service call answered.
func response(n uint32) string { return take(channelResponse, n) }

// decode fills r and reports whether s was well formed.
func (r *Request) decode(s string) bool {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok || !r.set(f) {
			return false
		}
		s = rest
	}
	return true
}

func (r *Request) set(f wire.Field) bool {
	switch f.Num {
	case 1:
		r.URI = f.Text
	case 2:
		r.route = uint32(f.Bits)
	case 3:
		return r.addVar(f.Text)
	case 4:
		r.cursor = f.Text
	case 5:
		r.limit = uint32(f.Bits)
	case 6:
		r.Range.Offset = f.Bits
	case 7:
		r.Range.Length = f.Bits
	case 8:
		r.IfNoneMatch = f.Text
	case 9:
		r.MaxBytes = f.Bits
	case 10:
		r.argument = f.Text
	case 11:
		r.prefix = f.Text
	case 12:
		r.Principal = &Principal{}
		return r.Principal.decode(f.Text)
	case 13:
		r.Meta = f.Text
	}
	return true
}

func (r *Request) addVar(s string) bool {
	var v variable
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return false
		}
		switch f.Num {
		case 1:
			v.name = f.Text
		case 2:
			v.value = f.Text
		}
		s = rest
	}
	if r.vars == nil {
		r.vars = r.room[:0]
	}
	r.vars = append(r.vars, v)
	return true
}

func (p *Principal) decode(s string) bool {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return false
		}
		switch f.Num {
		case 1:
			p.Subject = f.Text
		case 2:
			p.Tenant = f.Text
		case 3:
			p.Scopes = append(p.Scopes, f.Text)
		case 4:
			p.Claims = f.Text
		}
		s = rest
	}
	return true
}
