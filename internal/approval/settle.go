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

// A Refusal says why a provider does not run, and what to do.
type Refusal struct {
	Name    string // as the provider calls itself, for people
	Why     string // a clause of its own
	Command string // that grants what it needs
	Draft   bool   // the Command needs a policy file: [Decision.Draft]
	Asks    bool   // the Command asks on a terminal for what only the operator knows
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

// Settle decides what a provider may touch: by itself where it can, and otherwise by asking the person at the terminal,
// whose yes is remembered. Without a terminal, and when the person says no, the error is a [*Refusal]; a provider that
// can do without all it asks for gets nothing then, and runs. by is the user.
func Settle(ctx context.Context, r Request, t *Terminal, by string) (*Decision, error) {
	d := Decide(r)
	if d.Outcome == Granted && d.Previous != nil {
		// Where that cannot be kept, it can only be revoked by its file.
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
			return d.settle(answer, granted, by)
		}
	}
	if len(d.Missing(&policy.Policy{})) == 0 {
		return d.grant(&policy.Policy{}, "it can do without what it asks for, which nobody approved"), nil
	}
	return nil, d.refusal(d.whyHeld(t != nil))
}

// settle grants what a person said yes to.
func (d *Decision) settle(answer Answer, granted *policy.Policy, by string) (*Decision, error) {
	d.grant(granted, "approved for this time")
	if answer == Once {
		return d, nil
	}
	if d.request.Store == nil {
		return d, nil
	}
	d.Why = "approved now"
	if err := d.request.Store.Grant(d.Record(granted, time.Now(), by)); err != nil {
		return nil, fmt.Errorf("the answer could not be kept: %w", err)
	}
	return d, nil
}

func (d *Decision) whyHeld(asked bool) string {
	switch {
	case asked:
		return "its capabilities were not granted at the prompt"
	case d.Problem != nil:
		return "it needs capabilities, and the remembered grant does not count: " + shown(d.Problem.Error(), maxShown)
	case d.Previous != nil:
		return fmt.Sprintf("it needs more capabilities than version %s, which was approved %s (%s)",
			orNone(d.Previous.Version), said(d.Previous), inWords(d.More))
	case d.Stranger != nil:
		return fmt.Sprintf("it needs capabilities that are not granted (%s); the grant of another provider of that name does not count: %s",
			inWords(d.Asks), shown(d.Doubt, maxShown))
	}
	return "it needs capabilities that are not granted (" + inWords(d.Asks) + ")"
}

// inWords gives in a few words what is asked for.
func inWords(asks []AskedFor) string {
	var all []string
	for _, a := range asks {
		words := a.words()
		if a.Optional {
			words[len(words)-1] += " (optional)"
		}
		all = append(all, words...)
	}
	return shown(strings.Join(all, "; "), maxShown)
}

func (d *Decision) refusal(why string) error {
	asks := d.isOpen()
	return &Refusal{
		Name: shown(d.request.Manifest.Name, maxShownName), Why: why, Command: d.Command(), Draft: !asks && d.Draft() != nil, Asks: asks,
	}
}

// isOpen reports whether a grant needs what only the operator knows, as the folder of the host.
func (d *Decision) isOpen() bool { return wishes(d.Asks).IsOpen() }

// Command is the command line that approves what is asked for. Where a grant needs what only the operator knows, the
// command asks for that on a terminal; POLICY.yaml stands in it for a file with the [Decision.Draft].
func (d *Decision) Command() string {
	if d.isOpen() {
		return Quote(d.grantCommand())
	}
	return d.Example()
}

// Example is the command line that approves what is asked for without a terminal. FOLDER, VARIABLE and the like stand in
// it for what only the operator knows.
func (d *Decision) Example() string {
	return Quote(append(d.grantCommand(), FlagsFor(wishes(d.Asks))...))
}

func (d *Decision) grantCommand() []string {
	return []string{"wasmres", "permission", "grant", cmp.Or(d.origin, d.request.File)}
}

// FlagsFor gives the arguments that grant what a policy says, and no more. Where flags cannot say it, a file does.
func FlagsFor(p *policy.Policy) []string {
	if flags, whole := p.Flags(); whole {
		return flags.Args()
	}
	return []string{"--policy", "POLICY.yaml"}
}

// Draft is the policy file that Command needs, with the same words for what only the operator knows; nil when flags say
// all of it.
func (d *Decision) Draft() []byte {
	wanted := wishes(d.Asks)
	if _, whole := wanted.Flags(); whole {
		return nil
	}
	return wanted.WithPlaceholders().Format()
}

// Quote gives a command line that a POSIX shell takes apart into args again.
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

// Refused gives the refusal in err, if it is one.
func Refused(err error) (*Refusal, bool) {
	var r *Refusal
	ok := errors.As(err, &r)
	return r, ok
}
