package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/project"
)

// A buildReport is what there is to say of a module that was built.
type buildReport struct {
	File         string       `json:"file"`
	Debug        string       `json:"debugFile"`
	Language     string       `json:"language"`
	Compiler     string       `json:"compiler"`
	Name         string       `json:"name"`
	Version      string       `json:"version,omitempty"`
	SDK          string       `json:"sdk,omitempty"`
	Size         int          `json:"size"`
	DebugSize    int          `json:"debugSize"`
	Resources    int          `json:"staticResources"`
	Templates    int          `json:"templates"`
	Lists        bool         `json:"lists"`
	Capabilities []capability `json:"capabilities"`
	Sample       *sample      `json:"sample,omitempty"`

	lang   project.Language
	denied denials // to the provider, while it was built
}

// A sample is one read, and what it used.
type sample struct {
	URI    string `json:"uri"`
	Fuel   uint64 `json:"fuel"`
	Limit  uint64 `json:"fuelLimit"`
	Failed string `json:"failed,omitempty"`
}

// learn fills the report in.
func (r *buildReport) learn(c *cli.Context, a *app.App) {
	found := inspectModule(a)
	r.Name, r.Version, r.SDK = found.Name, found.Version, found.SDK
	r.Size, r.Resources, r.Templates = found.Size, found.Resources, len(found.Templates)
	r.Lists = slices.Contains(found.Operations, abi.OpList.String())
	r.Capabilities = append([]capability{}, found.Capabilities...)
	uri := c.String("sample")
	if uri == "" {
		uri = sampleURI(c.Context, a)
	}
	if uri == "" {
		return
	}
	r.Sample = &sample{URI: uri, Limit: found.Limits.Fuel}
	if _, err := a.Provider().Read(c.Context, uri); err != nil {
		r.Sample.Failed = worded(err).Error()
		if denied := r.denied.take(); len(denied) > 0 {
			r.Sample.Failed = denied[0].String()
		}
		printCrash(c.App.ErrWriter, err)
		return
	}
	r.Sample.Fuel = a.Usage().Fuel
}

// sampleURI finds something to read, of the manifest if it has resources; empty when there is nothing.
func sampleURI(ctx context.Context, a *app.App) string {
	p := a.Provider()
	chosen, err := check.Select(ctx, p.Source(), p.Manifest(), 2)
	if err != nil || len(chosen.Samples) == 0 {
		return ""
	}
	return chosen.Samples[0].URI
}

func (r *buildReport) print(w io.Writer, format string) error {
	if format != formatTable {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return printData(w, format, text)
	}
	t := newTable(w)
	t.row("built", r.File)
	t.row("size", fmt.Sprintf("%s (%s with names, as %s)",
		humanSize(uint64(r.Size)), humanSize(uint64(r.DebugSize)), filepath.Base(r.Debug)))
	t.row("language", fmt.Sprintf("%s, %s", r.lang.Title(), r.Compiler))
	t.row("provider", strings.TrimSpace(r.Name+" "+r.Version))
	t.row("serves", r.served())
	for _, row := range (&inspection{Capabilities: r.Capabilities}).wishRows() {
		t.row(row[0], row[1])
	}
	if len(r.Capabilities) == 0 {
		t.row("needs", "no capabilities")
	}
	t.row("fuel", r.Sample.String())
	return t.flush()
}

func (r *buildReport) served() string {
	text := counted(r.Resources, "static resource") + ", " + counted(r.Templates, "template")
	if r.Lists {
		text += ", and what it lists"
	}
	return text
}

func (s *sample) String() string {
	switch {
	case s == nil:
		return "unknown: name something to read with --sample URI"
	case s.Failed != "":
		return fmt.Sprintf("unknown: reading %s failed: %s", s.URI, s.Failed)
	}
	return fmt.Sprintf("%s for %s, of at most %s", strconv.FormatUint(s.Fuel, 10), s.URI, strconv.FormatUint(s.Limit, 10))
}
