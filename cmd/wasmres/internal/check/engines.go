package check

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/test"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/runtime"
)

// maxDifferences bounds the differences of one check that are kept.
const maxDifferences = 20

// A comparison collects the calls that end in other ways on the other engine. A nil one compares nothing.
type comparison struct {
	dir string // of what is kept

	mu       sync.Mutex // guards the fields below
	compared int
	found    []*app.Difference
	failed   error // the first failure; nil for none
}

// newComparison returns what --engines asks for.
func newComparison(c *cli.Context) *comparison {
	if c.String("engines") != "both" {
		return nil
	}
	return &comparison{}
}

// apply has the calls of a provider compared.
func (e *comparison) apply(cfg *app.Config) {
	if e == nil {
		return
	}
	e.dir = filepath.Join(cfg.DataDir, "differences")
	cfg.Compare, cfg.Compared = &runtime.Compare{Wait: true}, e.add
}

func (e *comparison) add(d *app.Difference, failed error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.compared++
	if failed != nil && e.failed == nil {
		e.failed = failed
	}
	if d != nil && len(e.found) < maxDifferences {
		e.found = append(e.found, d)
	}
}

// finish runs the recorded sessions of the provider, and adds what was found to the report. cfg is that of the check.
func (e *comparison) finish(c *cli.Context, cfg app.Config, report *check.Report) error {
	if e == nil {
		return nil
	}
	files, err := test.Sessions(cfg.File)
	if err != nil {
		return err
	}
	runner := test.Runner{Config: cfg}
	for _, file := range files {
		if r := runner.Run(c.Context, file); r.Err != "" {
			return fmt.Errorf("session %s: %s", file, r.Err)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		report.EnginesDiffer("a call", "it was not compared: "+e.failed.Error())
	}
	for _, d := range e.found {
		kept, err := e.keep(cfg.File, d)
		if err != nil {
			return fmt.Errorf("keep what differs: %w", err)
		}
		report.EnginesDiffer(strings.TrimSpace(d.Op.String()+" "+d.URI), fmt.Sprintf("%s. First %s. Second %s. Kept as %s", d.In, d.First, d.Second, kept))
	}
	if e.compared == 0 {
		return errors.New("check: no call could be compared on both engines: grant what the provider requests, or name a resource with --uri")
	}
	_, err = fmt.Fprintf(c.App.ErrWriter, "%s compared on both engines, with those of %s\n", terminal.Counted(e.compared, "call"), terminal.Counted(len(files), "recorded session"))
	return err
}

// keep writes the module and a session with the call, and returns the name of that.
func (e *comparison) keep(module string, d *app.Difference) (session string, err error) {
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return "", err
	}
	text, _ := d.Session("The engines differ: " + strings.ReplaceAll(d.In, "\n", " ") + ".\n\n")
	name := strings.TrimPrefix(d.Digest, "sha256:")
	name = filepath.Join(e.dir, name[:min(len(name), 16)])
	if err := copyFile(name+".wasm", module); err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	session = fmt.Sprintf("%s-%x.txtar", name, sum[:4])
	return session, os.WriteFile(session, text, 0o600)
}

// copyFile copies a file, unless the copy is there.
func copyFile(to, from string) error {
	in, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, in) {
		return nil
	}
	return os.WriteFile(to, in, 0o600)
}
