package approval

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/policy"
)

// A Request is a provider that is about to run.
type Request struct {
	Manifest *abi.Manifest
	Digest   string         // of the bytes that will run
	File     string         // they were read from
	Given    *policy.Policy // what the command line grants; nil, or empty, when it grants nothing
	Store    *Store         // nil when there is none, so that nothing is remembered
	Exact    bool           // what was decided about other versions does not count
}

// An Outcome is what became of a Request.
type Outcome int

// The outcomes.
const (
	Ask     Outcome = iota // a person has to say
	Granted                // the provider gets Policy
	Revoked                // a person has said no to this module
)

// A Decision says what a provider may touch, and why.
type Decision struct {
	Outcome Outcome
	Policy  *policy.Policy // of Granted; never nil then
	Why     string         // for the log
	Asks    []AskedFor     // all of them, whatever the outcome
	// Previous is the latest approved version of the same provider, if there is one; what follows compares with it.
	Previous *Record
	More     []AskedFor // what Previous did not ask for
	Less     []AskedFor // what only Previous asked for
	// Stranger is an approved provider of the same name whose place this one does not take, and Doubt says why.
	Stranger *Record
	Doubt    string
	Problem  error // with the store: what it says does not count, or nothing can be kept in it

	request Request
	origin  string
}

// Missing gives what the provider cannot do without, that there is, and that p does not grant.
func (d *Decision) Missing(p *policy.Policy) (missing []AskedFor) {
	for _, a := range d.Asks {
		if !a.Optional && policy.Known(a.Power) && !a.coveredBy(p) {
			missing = append(missing, a)
		}
	}
	return missing
}

// Decide says what a provider may touch. What the command line grants is all of it for that run, whatever else was
// approved. Otherwise what was decided about this very module counts, then what the same provider was granted before,
// if it asks for no more. A provider that asks for nothing there is gets nothing, and nobody is asked.
func Decide(r Request) *Decision {
	d := &Decision{request: r, Asks: asksOf(r.Manifest)}
	if r.Given != nil && !r.Given.Empty() {
		return d.grant(r.Given, "granted on the command line")
	}
	var err error
	if d.origin, err = Origin(r.File); err != nil {
		d.Problem = err
	}
	if d.lookUp() {
		return d
	}
	if d.Problem == nil && r.Store != nil && !r.Exact && d.inherit() {
		return d
	}
	if !slices.ContainsFunc(d.Asks, func(a AskedFor) bool { return policy.Known(a.Power) }) {
		return d.grant(&policy.Policy{}, "it asks for nothing")
	}
	return d
}

// grant settles a decision. Configuration and limits of the command line count whatever else does.
func (d *Decision) grant(p *policy.Policy, why string) *Decision {
	d.Outcome, d.Policy, d.Why = Granted, p, why
	if given := d.request.Given; given != nil && given != p {
		d.Policy = policy.Merge(p, given)
	}
	return d
}

// lookUp decides by what was said about this very module.
func (d *Decision) lookUp() bool {
	if d.request.Store == nil {
		return false
	}
	record, err := d.request.Store.Get(d.request.Digest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		d.Problem = err
		return false
	case record.Inherited:
		return false
	case record.Revoked:
		d.Outcome, d.Why = Revoked, "revoked "+said(record)
		return true
	}
	d.grant(record.Policy, "approved "+said(record))
	return true
}

// inherit decides by what an earlier version was granted.
func (d *Decision) inherit() bool {
	records, err := d.request.Store.List()
	if err != nil {
		d.Problem = err // what does not count may say that this provider was refused since
		return false
	}
	name := d.request.Manifest.Name
	for i := range records {
		r := &records[i]
		same := r.Name == name && !r.Revoked && !r.Inherited
		doubt := d.doubts(r)
		if same && doubt == "" {
			d.Previous, d.Stranger, d.Doubt = r, nil, ""
			break
		}
		if same && d.Stranger == nil {
			d.Stranger, d.Doubt = r, doubt
		}
		if r.Origin == d.origin && (r.Revoked || r.Pinned) {
			break // whoever was approved before that is not the one to go by
		}
	}
	if d.Previous == nil {
		return false
	}
	d.compare()
	if len(d.More) > 0 {
		return false
	}
	d.grant(without(d.Previous.Policy, d.Less, d.Asks),
		fmt.Sprintf("it asks for no more than version %s, approved %s", orNone(d.Previous.Version), said(d.Previous)))
	return true
}

// doubts says why the provider that is about to run may be another one than an approved one of the same name.
func (d *Decision) doubts(r *Record) string {
	switch {
	case r.Pinned:
		return "it was approved for its digest alone"
	case d.origin == "" || r.Origin != d.origin:
		return "it was the file " + r.Origin
	case !undisturbed(d.origin):
		return "others can write to " + d.origin + " or a folder it is in"
	}
	return ""
}

// compare tells what is asked for now from what was then.
func (d *Decision) compare() {
	for _, a := range d.Asks {
		if !a.within(d.Previous.Asked) {
			d.More = append(d.More, a)
		}
	}
	for _, a := range d.Previous.Asked {
		if !a.within(d.Asks) {
			d.Less = append(d.Less, a)
		}
	}
}

// without takes the powers out of a policy that are not asked for any more.
func without(p *policy.Policy, less, asks []AskedFor) *policy.Policy {
	rest := policy.Merge(p, &policy.Policy{})
	for _, a := range less {
		if !slices.ContainsFunc(asks, func(now AskedFor) bool { return now.Power == a.Power }) {
			rest.Drop(a.Power)
		}
	}
	return rest
}

// said says when something was decided, and by whom.
func said(r *Record) string {
	text := "on " + r.When.Local().Format(time.DateOnly)
	if r.By != "" {
		text += " by " + shown(r.By, maxShownName)
	}
	return text
}

func orNone(version string) string {
	if version == "" {
		return "(none)"
	}
	return shown(version, maxShownName)
}

// Record gives what is to be kept of a decision, once a person has said what is granted. when is now, and by the user.
func (d *Decision) Record(granted *policy.Policy, when time.Time, by string) Record {
	m := d.request.Manifest
	return Record{
		Digest: d.request.Digest, Name: m.Name, Version: m.Version, Origin: d.origin, Asked: d.Asks, Policy: granted,
		When: when, By: by,
	}
}
