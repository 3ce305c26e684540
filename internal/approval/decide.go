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

// A Request is a provider that is about to start.
type Request struct {
	Manifest *abi.Manifest
	Digest   string         // of the module
	File     string         // that contains the module
	From     Published      // zero for a file of the user's own
	Given    *policy.Policy // by the command line; nil or empty when it grants nothing
	Store    *Store         // nil: nothing is remembered
	Exact    bool           // ignore the decisions about other versions
}

// An Outcome is the result of a Request.
type Outcome int

// The outcomes.
const (
	Ask     Outcome = iota // the user must decide
	Granted                // Policy is granted
	Revoked                // the user has revoked this module
)

// A Decision says what a provider is granted, and why.
type Decision struct {
	Outcome  Outcome
	Policy   *policy.Policy // not nil if Granted
	Why      string         // for the log
	Requests []Requested    // all of them, whatever the outcome
	// Previous is the latest approved version of the same provider, nil if there is none.
	Previous *Record
	More     []Requested // requests that Previous did not have
	Less     []Requested // requests that only Previous had
	// SameName is an approved provider of the same name, from which this one does not inherit; Mismatch says why.
	SameName *Record
	Mismatch string
	Problem  error // with the store: its records cannot be trusted, or not be written

	request Request
	origin  string
}

// Missing returns the requests that are not optional, of capabilities that exist, and that p does not grant.
func (d *Decision) Missing(p *policy.Policy) (missing []Requested) {
	for _, a := range d.Requests {
		if !a.Optional && policy.Known(a.Capability) && !a.coveredBy(p) {
			missing = append(missing, a)
		}
	}
	return missing
}

// Decide says what a provider is granted. What the command line grants replaces all approvals for this run. Otherwise
// the decision about this module counts, then the grants of an earlier version that requested no less. A provider that
// requests no existing capability is granted nothing, and the user is not asked.
func Decide(r Request) *Decision {
	d := &Decision{request: r, Requests: requests(r.Manifest)}
	if r.Given != nil && !r.Given.Empty() {
		return d.allow(r.Given, "granted on the command line")
	}
	var err error
	if d.origin, err = r.From.Origin(r.File); err != nil {
		d.Problem = err
	}
	if d.lookUp() {
		return d
	}
	if d.Problem == nil && r.Store != nil && !r.Exact && d.inherit() {
		return d
	}
	if !slices.ContainsFunc(d.Requests, func(a Requested) bool { return policy.Known(a.Capability) }) {
		return d.allow(&policy.Policy{}, "it requests no capabilities")
	}
	return d
}

// allow grants p, and the configuration and limits of the command line in any case.
func (d *Decision) allow(p *policy.Policy, why string) *Decision {
	d.Outcome, d.Policy, d.Why = Granted, p, why
	if given := d.request.Given; given != nil && given != p {
		d.Policy = policy.Merge(p, given)
	}
	return d
}

// lookUp decides by the record of this module. It reports false when there is none.
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
		d.Outcome, d.Why = Revoked, "revoked "+decided(record)
		return true
	}
	d.allow(record.Policy, "approved "+decided(record))
	return true
}

// inherit decides by the grants of an earlier version. It reports false when the user must decide.
func (d *Decision) inherit() bool {
	records, err := d.request.Store.List()
	if err != nil {
		d.Problem = err // a record that cannot be trusted may be a later refusal of this provider
		return false
	}
	name := d.request.Manifest.Name
	for i := range records {
		r := &records[i]
		same := r.Name == name && !r.Revoked && !r.Inherited
		doubt := d.mismatch(r)
		if same && doubt == "" {
			d.Previous, d.SameName, d.Mismatch = r, nil, ""
			break
		}
		if same && d.SameName == nil {
			d.SameName, d.Mismatch = r, doubt
		}
		if r.Origin == d.origin && (r.Revoked || r.Pinned) {
			break // it ends inheritance from earlier versions
		}
	}
	if d.Previous == nil {
		return false
	}
	d.compare()
	if len(d.More) > 0 {
		return false
	}
	d.allow(without(d.Previous.Policy, d.Less, d.Requests),
		fmt.Sprintf("it requests no more than version %s, approved %s", orNone(d.Previous.Version), decided(d.Previous)))
	return true
}

// mismatch says why r may be about another provider of the same name; empty when it is about this one.
func (d *Decision) mismatch(r *Record) string {
	switch {
	case r.Pinned:
		return "it was approved for its digest only"
	case d.origin == "" || r.Origin != d.origin:
		return was(r.Origin)
	case r.Signer != d.request.From.Signer:
		return signedBy(r.Signer)
	case !d.request.From.isProtected(d.origin):
		return "others can write to " + d.origin + " or to a folder above it"
	}
	return ""
}

// compare sets More and Less.
func (d *Decision) compare() {
	for _, a := range d.Requests {
		if !a.within(d.Previous.Asked) {
			d.More = append(d.More, a)
		}
	}
	for _, a := range d.Previous.Asked {
		if !a.within(d.Requests) {
			d.Less = append(d.Less, a)
		}
	}
}

// without removes the capabilities from p that are among less, and not among requests.
func without(p *policy.Policy, less, requests []Requested) *policy.Policy {
	rest := policy.Merge(p, &policy.Policy{})
	for _, a := range less {
		if !slices.ContainsFunc(requests, func(now Requested) bool { return now.Capability == a.Capability }) {
			rest.Drop(a.Capability)
		}
	}
	return rest
}

// decided returns the date and the user of a decision.
func decided(r *Record) string {
	text := "on " + r.When.Local().Format(time.DateOnly)
	if r.By != "" {
		text += " by " + escape(r.By, maxName)
	}
	return text
}

func orNone(version string) string {
	if version == "" {
		return "(none)"
	}
	return escape(version, maxName)
}

// Record returns the record of a decision by which policy granted is granted at a time by a user.
func (d *Decision) Record(granted *policy.Policy, when time.Time, by string) Record {
	m := d.request.Manifest
	return Record{
		Digest: d.request.Digest, Name: m.Name, Version: m.Version, Origin: d.origin, Asked: d.Requests, Policy: granted,
		When: when, By: by, Signer: d.request.From.Signer,
	}
}
