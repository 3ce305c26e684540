package providers

import (
	"errors"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/app"
)

// Denials are the calls of a provider that it was not permitted, while a person looks at it. It is safe for concurrent
// use.
type Denials struct {
	mu  sync.Mutex
	all []app.Denial // guarded by mu
}

func (d *Denials) Add(one app.Denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, one)
}

// Take gives those that were added since.
func (d *Denials) Take() []app.Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.all
	d.all = nil
	return all
}

// explain says of which request err is the failure, and what may help: of what the provider was denied, the last is said
// to be the reason of a denial, and the rest are warnings.
func explain(c *cli.Context, a *app.App, args []string, denied *Denials, err error) error {
	all := denied.Take()
	isDenied := abi.CodeOf(err) == abi.CodeDenied
	why := ""
	if last := len(all) - 1; isDenied && last >= 0 {
		why, all = all[last].String(), all[:last]
	}
	for _, d := range all {
		a.Warn(d.String())
	}
	var usage cli.UsageError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	if isDenied && why == "" {
		a.WarnMissingGrants()
	}
	var said *cli.Failure
	if !errors.As(err, &said) {
		err = cli.WithMessage(err)
	}
	text := err.Error()
	switch {
	case why != "" && text == cli.DeniedMessage:
		text = why
	case why != "":
		text = why + "; the provider says: " + text
	}
	subject := c.Command.Name
	if about := args[1:]; len(about) > 0 {
		subject += " " + about[0]
	}
	return &cli.Failure{Text: subject + ": " + text, Cause: err}
}
