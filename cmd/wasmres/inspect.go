package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
)

func inspectCommand() *cli.Command {
	return viewCommand(&cli.Command{
		Name: "inspect", Usage: "say what a provider is and asks for", ArgsUsage: "PROVIDER.wasm",
		Description: "   wasmres inspect provider.wasm",
	}, inspect, "PROVIDER.wasm")
}

// An inspection is what is known of a provider without reading any of its resources.
type inspection struct {
	Name         string       `json:"name"`
	Version      string       `json:"version,omitempty"`
	Title        string       `json:"title,omitempty"`
	Description  string       `json:"description,omitempty"`
	ABI          string       `json:"abi"`
	SDK          string       `json:"sdk,omitempty"`
	Digest       string       `json:"digest"`
	Size         int          `json:"size"`
	Manifest     string       `json:"manifest"`
	Operations   []string     `json:"operations"`
	Resources    int          `json:"staticResources"`
	Templates    []inspected  `json:"templates"`
	Capabilities []capability `json:"capabilities"`
	Limits       limits       `json:"limits"`
}

type inspected struct {
	URITemplate string   `json:"uriTemplate"`
	Name        string   `json:"name"`
	Completes   []string `json:"completes,omitempty"`
}

type capability struct {
	Name     string `json:"name"`
	Reason   string `json:"reason,omitempty"`
	Optional bool   `json:"optional,omitempty"`
}

type limits struct {
	Memory  uint64 `json:"memory"`
	Timeout string `json:"timeout"`
	Output  uint64 `json:"output"`
}

func inspect(c *cli.Context, a *app.App, _ []string) error {
	found := inspectModule(a)
	if format := c.String("output-format"); format != formatTable {
		text, err := json.Marshal(found)
		if err != nil {
			return err
		}
		return printData(c.App.Writer, format, text)
	}
	return found.print(c)
}

func inspectModule(a *app.App) *inspection {
	module := a.Provider().Module()
	m := module.Manifest()
	found := &inspection{
		Name: m.Name, Version: m.Version, Title: m.Title, Description: m.Description,
		ABI: fmt.Sprintf("%s, minor %d", abi.ImportModule, m.Minor), SDK: m.SDK,
		Digest: module.Digest(), Size: module.Size(), Manifest: "asked from the provider",
		Operations: []string{}, Resources: len(m.Resources), Templates: []inspected{}, Capabilities: []capability{},
		Limits: limits{module.Limits().Memory, module.Limits().Timeout.String(), module.Limits().Output},
	}
	if module.Packed() {
		found.Manifest = "packed into the module"
	}
	for op := abi.OpDescribe; op <= abi.OpPoll; op++ {
		if m.Implements(op) {
			found.Operations = append(found.Operations, op.String())
		}
	}
	for _, t := range m.Templates {
		found.Templates = append(found.Templates, inspected{t.URITemplate, t.Name, t.Completes})
	}
	for _, p := range m.Capabilities {
		found.Capabilities = append(found.Capabilities, capability{p.Name, p.Reason, p.Optional})
	}
	return found
}

func (i *inspection) print(c *cli.Context) error {
	t := newTable(c.App.Writer)
	rows := [][2]string{
		{"name", strings.TrimSpace(i.Name + " " + i.Version)}, {"title", i.Title}, {"description", i.Description},
		{"abi", i.ABI}, {"sdk", i.SDK}, {"digest", i.Digest}, {"size", humanSize(uint64(i.Size))}, {"manifest", i.Manifest},
		{"operations", strings.Join(i.Operations, ", ")}, {"static resources", strconv.Itoa(i.Resources)},
	}
	for _, tpl := range i.Templates {
		text := tpl.URITemplate
		if len(tpl.Completes) > 0 {
			text += "  (completes " + strings.Join(tpl.Completes, ", ") + ")"
		}
		rows = append(rows, [2]string{"template", text})
	}
	for _, p := range i.Capabilities {
		need := "needs"
		if p.Optional {
			need = "can use"
		}
		rows = append(rows, [2]string{need, p.Name + ": " + p.Reason})
	}
	rows = append(rows, [2]string{"limits", fmt.Sprintf("memory %s, timeout %s, output %s",
		humanSize(i.Limits.Memory), i.Limits.Timeout, humanSize(i.Limits.Output))})
	for _, r := range rows {
		if r[1] != "" {
			t.row(r[0], r[1])
		}
	}
	return t.flush()
}
