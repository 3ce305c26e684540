package build

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/project"
)

// A buildReport has what was built.
type buildReport struct {
	File         string      `json:"file"`
	Debug        string      `json:"debugFile"`
	Language     string      `json:"language"`
	Compiler     string      `json:"compiler"`
	Name         string      `json:"name"`
	Version      string      `json:"version,omitempty"`
	SDK          string      `json:"sdk,omitempty"`
	Size         int         `json:"size"`
	DebugSize    int         `json:"debugSize"`
	Resources    int         `json:"staticResources"`
	Templates    int         `json:"templates"`
	Lists        bool        `json:"lists"`
	Capabilities []requested `json:"capabilities"`
	Sample       *sample     `json:"sample,omitempty"`

	lang   project.Language
	denied providers.Denials // of the provider, while it was built
}

// A requested is a capability that the provider requests.
type requested struct {
	Name     string `json:"name"`
	Reason   string `json:"reason,omitempty"`
	Optional bool   `json:"optional,omitempty"`
}

// A sample is one read, with the fuel it used.
type sample struct {
	URI    string `json:"uri"`
	Fuel   uint64 `json:"fuel"`
	Limit  uint64 `json:"fuelLimit"`
	Failed string `json:"failed,omitempty"`
}

// fill completes the report with what the loaded provider says, and reads the sample.
func (r *buildReport) fill(c *cli.Context, a *app.App, log bufferedLog) {
	m, info := a.Provider().Manifest(), a.Provider().Info()
	r.Name, r.Version, r.SDK = m.Name, m.Version, m.SDK
	r.Size, r.Resources, r.Templates, r.Lists = info.Size, len(m.Resources), len(m.Templates), m.Implements(abi.OpList)
	r.Capabilities = []requested{}
	for _, one := range m.Capabilities {
		r.Capabilities = append(r.Capabilities, requested{one.Name, one.Reason, one.Optional})
	}
	uri := c.String("sample")
	if uri == "" {
		uri = sampleURI(c.Context, a)
	}
	if uri == "" {
		warnTypes(a, nil)
		log.release(c.Context, nil)
		r.warnOrdinaryErrors(c.Context, a, log)
		return
	}
	r.Sample = &sample{URI: uri, Limit: info.Limits.Fuel}
	contents, err := a.Provider().Read(c.Context, uri)
	warnTypes(a, contents)
	log.release(c.Context, nil)
	if err != nil {
		r.Sample.Failed = cli.WithMessage(err).Error()
		if denied := r.denied.Take(); len(denied) > 0 {
			r.Sample.Failed = denied[0].String()
		}
		cli.PrintCrash(c.App.ErrWriter, err)
		return
	}
	r.Sample.Fuel = a.Usage().Fuel
	r.warnOrdinaryErrors(c.Context, a, log)
}

// sampleURI chooses a resource to read, one of the manifest if it has any; empty if there is none.
func sampleURI(ctx context.Context, a *app.App) string {
	p := a.Provider()
	chosen, err := check.Select(ctx, p.Source(), p.Manifest(), 2)
	if err != nil || len(chosen.Samples) == 0 {
		return ""
	}
	return chosen.Samples[0].URI
}

func (r *buildReport) print(w io.Writer, format string) error {
	if format != cli.FormatTable {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return cli.PrintData(w, format, text)
	}
	t := terminal.NewTable(w)
	t.Row("built", r.File)
	t.Row("size", fmt.Sprintf("%s (%s with names, as %s)",
		terminal.Size(uint64(r.Size)), terminal.Size(uint64(r.DebugSize)), filepath.Base(r.Debug)))
	t.Row("language", fmt.Sprintf("%s, %s", r.lang.Title(), r.Compiler))
	t.Row("provider", strings.TrimSpace(r.Name+" "+r.Version))
	t.Row("serves", r.served())
	for _, one := range r.Capabilities {
		t.Row(providers.CapabilityRow(one.Name, one.Reason, one.Optional))
	}
	if len(r.Capabilities) == 0 {
		t.Row("needs", "no capabilities")
	}
	t.Row("fuel", r.Sample.String())
	return t.Flush()
}

func (r *buildReport) served() string {
	text := terminal.Counted(r.Resources, "static resource") + ", " + terminal.Counted(r.Templates, "template")
	if r.Lists {
		text += ", and what it lists"
	}
	return text
}

func (s *sample) String() string {
	switch {
	case s == nil:
		return "unknown: name a resource to read with --sample URI"
	case s.Failed != "":
		return fmt.Sprintf("unknown: reading %s failed: %s", s.URI, s.Failed)
	}
	return fmt.Sprintf("%s for %s, of at most %s", terminal.Grouped(s.Fuel), s.URI, terminal.Grouped(s.Limit))
}
