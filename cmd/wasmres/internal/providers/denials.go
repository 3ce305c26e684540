package providers

import (
	"errors"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/app"
)

// Denials collects the denied calls of a provider. Its zero value is empty. It is safe for concurrent use.
type Denials struct {
	mu  sync.Mutex
	all []app.Denial // guarded by mu
}

// Add adds a denial: it is for [app.Config].
func (d *Denials) Add(one app.Denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, one)
}

// Take returns the denials added since the last Take.
func (d *Denials) Take() []app.Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.all
	d.all = nil
	return all
}

// explain returns err with the request that failed and what may help. If err is a denial, the last denied call is its
// reason. It logs the other denied calls as warnings.
func explain(c *cli.Context, a *app.App, args []string, denied *Denials, err error) error {
	all := denied.Take()
	isDenied := abi.CodeOf(err) == abi.CodeDenied
	reason := ""
	if last := len(all) - 1; isDenied && last >= 0 {
		reason, all = all[last].String(), all[:last]
	}
	for _, d := range all {
		a.Warn(d.String())
	}
	var usage cli.UsageError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	if isDenied && reason == "" {
		a.WarnMissingGrants()
	}
	var failure *cli.Failure
	if !errors.As(err, &failure) {
		err = cli.WithMessage(err)
	}
	text := err.Error()
	switch {
	case reason != "" && text == cli.DeniedMessage:
		text = reason
	case reason != "":
		text = reason + "; the provider says: " + text
	}
	subject := c.Command.Name
	if about := args[1:]; len(about) > 0 {
		subject += " " + about[0]
	}
	return &cli.Failure{Text: subject + ": " + text, Cause: err}
}
