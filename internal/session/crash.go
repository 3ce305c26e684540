package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
)

// A Crash is a call in which a guest failed, or ended otherwise on another engine, with all by which the call comes to the same end
// again. It is the answer of a step of the kind [Crashed].
type Crash struct {
	Op      abi.Op
	Request abi.Request // as the guest got it
	Time    time.Time   // where the clock of the call began; zero for Session.Time
	Seed    uint64      // of the random numbers of the call

	Digest    string // of the module, as in "sha256:9f86…"; empty for any
	Code      abi.Code
	Reason    string      // in words; of no effect
	Fuel      uint64      // used
	HostCalls int         // used
	Memory    uint64      // of the guest, in bytes; of no effect
	Stack     []abi.Frame // innermost first; of the names none has an effect
	// Inexact says why another run may use other fuel and end elsewhere. Then only Code is compared. Empty for an exact crash.
	Inexact string
}

// maxStack bounds Crash.Stack, as the runtime does.
const maxStack = 32

// opNames are the operations of calls that can be replayed.
var opNames = map[string]abi.Op{}

func init() {
	for _, op := range []abi.Op{abi.OpList, abi.OpListDir, abi.OpRead, abi.OpComplete, abi.OpSubscribe, abi.OpUnsubscribe, abi.OpPoll} {
		opNames[op.String()] = op
	}
}

// What the section of a crash contains.
type crashFile struct {
	Code      string          `json:"code"`
	Reason    string          `json:"reason,omitempty"`
	Fuel      uint64          `json:"fuel"`
	HostCalls int             `json:"hostCalls"`
	Memory    uint64          `json:"memory,omitempty"`
	Stack     []uint32        `json:"stack"`
	Names     []string        `json:"names,omitempty"`
	Module    string          `json:"module,omitempty"`
	Time      string          `json:"time,omitempty"`
	Seed      uint64          `json:"seed,omitempty"`
	Request   json.RawMessage `json:"request"`
	Inexact   string          `json:"inexact,omitempty"`
}

// A requestFile is an [abi.Request] in the section of a crash.
type requestFile struct {
	URI         string         `json:"uri,omitempty"`
	Route       uint32         `json:"route,omitempty"`
	Vars        []abi.Var      `json:"vars,omitempty"`
	Cursor      string         `json:"cursor,omitempty"`
	Limit       uint32         `json:"limit,omitempty"`
	RangeOffset uint64         `json:"rangeOffset,omitempty"`
	RangeLength uint64         `json:"rangeLength,omitempty"`
	IfNoneMatch string         `json:"ifNoneMatch,omitempty"`
	MaxBytes    uint64         `json:"maxBytes,omitempty"`
	Arg         string         `json:"argument,omitempty"`
	Value       string         `json:"value,omitempty"`
	Principal   *abi.Principal `json:"principal,omitempty"`
	Meta        string         `json:"meta,omitempty"`
}

func fileOfRequest(r *abi.Request) requestFile {
	return requestFile{
		URI: r.URI, Route: r.Route, Vars: r.Vars, Cursor: r.Cursor, Limit: r.Limit, RangeOffset: r.RangeOffset, RangeLength: r.RangeLength,
		IfNoneMatch: r.IfNoneMatch, MaxBytes: r.MaxBytes, Arg: r.Arg, Value: r.Value, Principal: r.Principal, Meta: r.Meta,
	}
}

func (f *requestFile) request() abi.Request {
	return abi.Request{
		URI: f.URI, Route: f.Route, Vars: f.Vars, Cursor: f.Cursor, Limit: f.Limit, RangeOffset: f.RangeOffset, RangeLength: f.RangeLength,
		IfNoneMatch: f.IfNoneMatch, MaxBytes: f.MaxBytes, Arg: f.Arg, Value: f.Value, Principal: f.Principal, Meta: f.Meta,
	}
}

// value returns the crash as it stands in files.
func (c *Crash) value() *value {
	request, err := json.Marshal(fileOfRequest(&c.Request))
	if err != nil {
		return object() // does not happen: all fields can be encoded
	}
	f := crashFile{
		Code: c.Code.String(), Reason: c.Reason, Fuel: c.Fuel, HostCalls: c.HostCalls, Memory: c.Memory, Stack: []uint32{},
		Module: c.Digest, Seed: c.Seed, Request: request, Inexact: c.Inexact,
	}
	if !c.Time.IsZero() {
		f.Time = c.Time.UTC().Format(time.RFC3339Nano)
	}
	named := false
	for _, frame := range c.Stack {
		f.Stack, f.Names, named = append(f.Stack, frame.Function), append(f.Names, frame.Name), named || frame.Name != ""
	}
	if !named {
		f.Names = nil
	}
	text, err := json.Marshal(f)
	if err != nil {
		return object()
	}
	v, err := parseValue(text)
	if err != nil {
		return object()
	}
	return v
}

// String returns the form of files.
func (c *Crash) String() string { return string(c.value().append(nil, "")) + "\n" }

// parseCrash is the inverse of String. request is that of the section's name.
func parseCrash(request *Request, text []byte) (*Crash, error) {
	v, err := parseValue(text)
	if err != nil {
		return nil, err
	}
	var f crashFile
	var r requestFile
	if err := decodeStrict(v.append(nil, ""), &f); err != nil {
		return nil, fmt.Errorf(`section crash: write it as {"code": "trap", "fuel": 1, "hostCalls": 1, "stack": [1], "request": {}}: %w`, err)
	}
	if len(f.Request) > 0 {
		if err := decodeStrict(f.Request, &r); err != nil {
			return nil, fmt.Errorf("section crash: request: %w", err)
		}
	}
	c := &Crash{
		Op: request.Op, Request: r.request(), Seed: f.Seed, Digest: f.Module, Reason: f.Reason, Fuel: f.Fuel, HostCalls: f.HostCalls,
		Memory: f.Memory, Inexact: f.Inexact,
	}
	if c.Code = codeNamed(f.Code); c.Code == abi.CodeOK && f.Code != abi.CodeOK.String() {
		return nil, fmt.Errorf("section crash: unknown code %.64q: write one as trap, fuel or deadline", f.Code)
	}
	if f.HostCalls < 0 || len(f.Stack) > maxStack || len(f.Names) != 0 && len(f.Names) != len(f.Stack) {
		return nil, fmt.Errorf("section crash: hostCalls must not be negative, and stack have at most %d functions, and names as many or none", maxStack)
	}
	for i, function := range f.Stack {
		frame := abi.Frame{Function: function}
		if len(f.Names) > 0 {
			frame.Name = f.Names[i]
		}
		c.Stack = append(c.Stack, frame)
	}
	if f.Time != "" {
		if c.Time, err = time.Parse(time.RFC3339, f.Time); err != nil {
			return nil, errors.New("section crash: write the time as 2026-11-22T07:00:00Z")
		}
		if err := (&runtime.Clock{Time: c.Time}).Check(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// decodeStrict decodes JSON without unknown members.
func decodeStrict(text []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// codeNamed returns the code with a name; abi.CodeOK for none.
func codeNamed(name string) abi.Code {
	for code := abi.CodeNotFound; code <= abi.CodeHostCalls; code++ {
		if code.String() == name {
			return code
		}
	}
	return abi.CodeOK
}

// replay returns the call that is to run again.
func (c *Crash) replay() *runtime.Replay {
	request := c.Request
	r := &runtime.Replay{Op: c.Op, Request: &request, Origin: runtime.Origin{Time: c.Time, Seed: c.Seed}}
	if c.Code == abi.CodeDeadline && c.Inexact == "" {
		r.Origin.Stop = &runtime.Point{Fuel: c.Fuel, HostCalls: c.HostCalls}
	}
	return r
}

// differences says how a replay ended otherwise than c; empty if it did not.
func (c *Crash) differences(used runtime.Usage, err error) string {
	var list []string
	if used.Code != c.Code {
		list = append(list, fmt.Sprintf("the code is %s, and was %s", used.Code, c.Code))
	}
	if c.Inexact != "" {
		return strings.Join(list, "; ")
	}
	if used.Fuel != c.Fuel {
		list = append(list, fmt.Sprintf("the fuel is %d, and was %d", used.Fuel, c.Fuel))
	}
	var stack []abi.Frame
	if crash := abi.CrashOf(err); crash != nil {
		stack = crash.Stack
	}
	if !slices.EqualFunc(stack, c.Stack, func(a, b abi.Frame) bool { return a.Function == b.Function }) {
		list = append(list, fmt.Sprintf("the functions are %s, and were %s", formatStack(stack), formatStack(c.Stack)))
	}
	return strings.Join(list, "; ")
}

func formatStack(stack []abi.Frame) string {
	names := make([]string, len(stack))
	for i, f := range stack {
		names[i] = f.String()
	}
	if len(names) == 0 {
		return "unknown"
	}
	return strings.Join(names, " < ")
}
