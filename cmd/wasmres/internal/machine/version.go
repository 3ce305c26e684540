package machine

import (
	"fmt"
	goruntime "runtime"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/runtime"
)

// A versionReport says what the program is, and what it has to isolate providers on this machine.
type versionReport struct {
	Version  string          `json:"version"`
	Commit   string          `json:"commit,omitempty"`
	Modified bool            `json:"modified,omitempty"` // its files were changed after the commit
	Go       string          `json:"go"`
	Engine   string          `json:"engine"`
	Platform string          `json:"platform"`
	Layers   []runtime.Layer `json:"layers"`
}

// ShowVersion prints the version of the program as --output-format says.
func ShowVersion(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	r := versionReport{Version: c.App.Version, Go: goruntime.Version(), Platform: goruntime.GOOS + "/" + goruntime.GOARCH}
	r.Commit, r.Modified = cli.Commit()
	r.Engine, r.Layers = runtime.Examine()
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, r)
	}
	fmt.Fprintln(c.App.Writer, c.App.Name, r.Version)
	t := terminal.NewTable(c.App.Writer)
	t.Row("commit", r.commit())
	t.Row("Go", r.Go)
	t.Row("engine", r.Engine)
	t.Row("platform", r.Platform)
	t.Row("isolation", r.isolation())
	return t.Flush()
}

func (r *versionReport) commit() string {
	switch {
	case r.Commit == "":
		return "unknown"
	case r.Modified:
		return r.Commit + ", with other changes"
	}
	return r.Commit
}

// isolation names the layers that the machine supports, and those that it does not.
func (r *versionReport) isolation() string {
	var on, off []string
	for _, l := range r.Layers {
		if l.On {
			on = append(on, l.Name)
			continue
		}
		off = append(off, l.Name)
	}
	text := "none"
	if len(on) > 0 {
		text = strings.Join(on, ", ")
	}
	if len(off) > 0 {
		text += "; not " + strings.Join(off, ", ")
	}
	return text
}
