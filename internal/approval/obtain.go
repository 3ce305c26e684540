package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
)

// A Refusal is the error of a provider that is not started. It names the command that grants what is missing.
type Refusal struct {
	Name    string // of the provider, escaped
	Why     string // a clause
	Command string // grants what the provider needs
	Draft   bool   // Command needs a policy file: [Decision.Draft]
	Asks    bool   // Command asks on a terminal for values that only the operator knows
}

func (r *Refusal) Error() string {
	how := "Grant them with"
	switch {
	case r.Draft:
		how = "Grant them with a POLICY.yaml, which 'wasmres inspect' prints"
	case r.Asks:
		how = "Grant them on a terminal, where the command asks for what only you know"
	}
	return fmt.Sprintf("provider %s not started: %s. %s: %s", r.Name, r.Why, how, r.Command)
}

// Obtain decides what a provider is granted: by itself where it can, and otherwise by asking the user at the terminal,
// whose yes it remembers. t is nil when there is no terminal. Without one, or when the user says no, a provider whose
// requests are all optional is granted nothing; for others the error is a [*Refusal]. by is the name of the user.
func Obtain(ctx context.Context, r Request, t *Terminal, by string) (*Decision, error) {
	d := Decide(r)
	if d.Outcome == Granted && d.Previous != nil {
		// Without the record, the module can only be revoked by the path of its file.
		d.Problem = r.Store.Inherit(d.Record(d.Policy, time.Now(), by))
	}
	if d.Outcome == Granted {
		return d, nil
	}
	if d.Outcome == Revoked {
		return nil, d.refusal("its capabilities were " + d.Why)
	}
	if t != nil {
		answer, granted, err := d.Prompt(ctx, *t)
		if err != nil {
			return nil, err
		}
		if answer != No {
			return d.grant(answer, granted, by)
		}
	}
	if len(d.Missing(&policy.Policy{})) == 0 {
		return d.allow(&policy.Policy{}, "its requests are all optional, and not approved"), nil
	}
	return nil, d.refusal(d.refusalReason(t != nil))
}

// grant grants what the user approved, and remembers it unless the answer is Once.
func (d *Decision) grant(answer Answer, granted *policy.Policy, by string) (*Decision, error) {
	d.allow(granted, "approved for this run")
	if answer == Once {
		return d, nil
	}
	if d.request.Store == nil {
		return d, nil
	}
	d.Why = "approved now"
	if err := d.request.Store.Grant(d.Record(granted, time.Now(), by)); err != nil {
		return nil, fmt.Errorf("the answer could not be stored: %w", err)
	}
	return d, nil
}

func (d *Decision) refusalReason(asked bool) string {
	switch {
	case asked:
		return "its capabilities were not granted at the prompt"
	case d.Problem != nil:
		return "it needs capabilities, and the stored approvals are ignored: " + escape(d.Problem.Error(), maxText)
	case d.Previous != nil:
		return fmt.Sprintf("it needs more capabilities than version %s, which was approved %s (%s)",
			orNone(d.Previous.Version), decided(d.Previous), summary(d.More))
	case d.SameName != nil:
		return fmt.Sprintf("it needs capabilities that are not granted (%s); the approval of another provider of this name is not valid for it: %s",
			summary(d.Requests), escape(d.Mismatch, maxText))
	}
	return "it needs capabilities that are not granted (" + summary(d.Requests) + ")"
}

// summary returns a short description of requests.
func summary(requests []Requested) string {
	var all []string
	for _, a := range requests {
		words := a.lines()
		if a.Optional {
			words[len(words)-1] += " (optional)"
		}
		all = append(all, words...)
	}
	return escape(strings.Join(all, "; "), maxText)
}

func (d *Decision) refusal(why string) error {
	asks := d.isOpen()
	return &Refusal{
		Name: escape(d.request.Manifest.Name, maxName), Why: why, Command: d.Command(), Draft: !asks && d.Draft() != nil, Asks: asks,
	}
}

// isOpen reports whether a grant needs values that only the operator knows, as a host folder.
func (d *Decision) isOpen() bool { return policyOf(d.Requests).IsOpen() }

// Command is the command line that approves the requests. It asks on a terminal for values that only the operator
// knows. POLICY.yaml in it is to be a file with the [Decision.Draft].
func (d *Decision) Command() string {
	if d.isOpen() {
		return Quote(d.grantCommand())
	}
	return d.Example()
}

// Example is the command line that approves the requests without a terminal. It has placeholders, as FOLDER, for values
// that only the operator knows.
func (d *Decision) Example() string {
	return Quote(append(d.grantCommand(), FlagsFor(policyOf(d.Requests))...))
}

func (d *Decision) grantCommand() []string {
	return []string{"wasmres", "permission", "grant", cmp.Or(d.request.From.Reference, d.origin, d.request.File)}
}

// FlagsFor returns the arguments that grant just what p permits: flags, or --policy POLICY.yaml where flags cannot.
func FlagsFor(p *policy.Policy) []string {
	if flags, complete := p.Flags(); complete {
		return flags.Args()
	}
	return []string{"--policy", "POLICY.yaml"}
}

// Draft is the policy file that Command needs, with placeholders for values that only the operator knows; nil when
// flags are enough.
func (d *Decision) Draft() []byte {
	requested := policyOf(d.Requests)
	if _, complete := requested.Flags(); complete {
		return nil
	}
	return requested.WithPlaceholders().Format()
}

// Quote returns a command line that a POSIX shell splits into args.
func Quote(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return strings.Join(quoted, " ")
}

func quote(arg string) string {
	special := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, special) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// Refused returns the Refusal in err, if there is one.
func Refused(err error) (*Refusal, bool) {
	var r *Refusal
	ok := errors.As(err, &r)
	return r, ok
}
