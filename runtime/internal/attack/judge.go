package attack

import (
	"fmt"
	"slices"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/hostile"
)

// Bounds say what a case may take. They exclude what hangs for ever and what takes gigabytes.
type Bounds struct {
	Load, Call time.Duration // of one
	Text       int           // bytes of an error
	Alloc      int64         // bytes of garbage to refuse a module; only cases that no guest should ever run for have a bound
}

const (
	overshoot = 250 * time.Millisecond // over the deadline of a call
	aMoment   = 750 * time.Millisecond // to refuse a module, or to load a small one
	errorText = 4 << 10
	refusal   = 16 << 20
)

// BoundsOf returns those of a case. A crowd of callers has to share the processors.
func BoundsOf(c hostile.Case) Bounds {
	timeout := LimitsOf(c).Timeout
	return Bounds{
		Load: aMoment + c.Compile + timeout + overshoot,
		Call: timeout + overshoot*time.Duration(max(1, c.Parallel/4)),
		Text: errorText, Alloc: refusal,
	}
}

// Broken returns a sentence for each promise that did not hold.
func (a *Attempt) Broken(b Bounds) (broken []string) {
	c, o := a.Case, &a.Outcome
	if len(o.Codes) == 0 {
		broken = append(broken, "the case has no module")
	}
	for code := range o.Codes {
		if c.Want != nil && !slices.Contains(c.Want, code) {
			broken = append(broken, fmt.Sprintf("the attack ended with %v, expected one of %v: %s", o.Codes, c.Want, o.Failure))
			break
		}
	}
	for code := range o.After {
		if code != "ok" {
			broken = append(broken, fmt.Sprintf("an honest read after the attack ended with %v: %s", o.After, o.Failure))
			break
		}
	}
	if o.Load > b.Load {
		broken = append(broken, fmt.Sprintf("a load took %v, expected at most %v", o.Load, b.Load))
	}
	if o.Call > b.Call {
		broken = append(broken, fmt.Sprintf("a call took %v, expected at most %v", o.Call, b.Call))
	}
	if o.Text > b.Text {
		broken = append(broken, fmt.Sprintf("an error has %d bytes, expected at most %d", o.Text, b.Text))
	}
	if o.Unclean != "" {
		broken = append(broken, "an error has control characters: "+o.Unclean)
	}
	if c.LoadOnly() && o.Alloc > b.Alloc {
		broken = append(broken, fmt.Sprintf("the refusal of a module made %d bytes of garbage, expected at most %d", o.Alloc, b.Alloc))
	}
	return broken
}
