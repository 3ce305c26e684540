package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/confine"
	"github.com/wasmres/wasmres/runtime"
)

func inspectCommand() *cli.Command {
	return viewCommand(&cli.Command{
		Name: "inspect", Usage: "say what a provider is and asks for", ArgsUsage: "PROVIDER.wasm",
		Description: "   wasmres inspect provider.wasm\n   wasmres inspect --dir .:/project project.wasm",
		Flags:       []cli.Flag{formatFlag(reportFormats)},
	}, inspect, "PROVIDER.wasm")
}

// An inspection is what is known of a provider without reading any of its resources.
type inspection struct {
	Name         string       `json:"name"`
	Version      string       `json:"version,omitempty"`
	Title        string       `json:"title,omitempty"`
	Description  string       `json:"description,omitempty"`
	ABI          abiVersion   `json:"abi"`
	SDK          string       `json:"sdk,omitempty"`
	Digest       string       `json:"digest"`
	Size         int          `json:"size"`
	Manifest     string       `json:"manifest"`
	Operations   []string     `json:"operations"`
	Resources    int          `json:"staticResources"`
	Templates    []inspected  `json:"templates"`
	Capabilities []capability `json:"capabilities"`
	ConfigSchema any          `json:"configSchema,omitempty"`
	Granted      []granted    `json:"granted"`
	Config       []string     `json:"config"` // keys only: values may be secrets
	Isolation    isolation    `json:"isolation"`
	Limits       limits       `json:"limits"`
}

type abiVersion struct {
	Name  string `json:"name"`
	Minor uint32 `json:"minor"`
}

// A granted is a folder the provider may read.
type granted struct {
	Capability string `json:"capability"`
	Guest      string `json:"guest"`
	Host       string `json:"host"`
	ReadOnly   bool   `json:"readOnly"`
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

// limits are those in force. Sizes are in bytes, times in milliseconds.
type limits struct {
	Memory    uint64 `json:"memory"`
	Fuel      uint64 `json:"fuel"`
	Timeout   int64  `json:"timeoutMs"`
	Wait      int64  `json:"waitMs"`
	Stack     uint32 `json:"stack"`
	Table     uint32 `json:"tableEntries"`
	Output    uint64 `json:"output"`
	Items     int    `json:"items"`
	Log       int    `json:"log"`
	LogLines  int    `json:"logLines"`
	HostCalls int    `json:"hostCalls"`
	Calls     int    `json:"calls"`
	Sessions  int    `json:"sessions"`
	Idle      int64  `json:"idleMs"`
}

func limitsInForce(l runtime.Limits) limits {
	return limits{
		Memory: l.Memory, Fuel: l.Fuel, Timeout: l.Timeout.Milliseconds(), Wait: l.Wait.Milliseconds(), Stack: l.Stack, Table: l.Table, Output: l.Output,
		Items: l.Items, Log: l.Log, LogLines: l.LogLines, HostCalls: l.HostCalls, Calls: l.Calls, Sessions: l.Sessions,
		Idle: l.Idle.Milliseconds(),
	}
}

// An isolation says where guests run and what requests share.
type isolation struct {
	Place      string         `json:"place"`
	Layers     confine.Layers `json:"layers,omitempty"`     // of the worker, when there is one
	Namespaces []string       `json:"namespaces,omitempty"` // those a worker has to itself
	Lifecycle  string         `json:"lifecycle"`            // in force
	Asked      string         `json:"lifecycleAsked"`
	Lane       string         `json:"lane"`
	Why        string         `json:"laneReason,omitempty"` // for not being the quickest
}

func isolationOf(a *app.App) isolation {
	m := a.Provider().Module()
	lane, why := m.Lane()
	i := isolation{
		Place:     app.IsolationInProcess,
		Lifecycle: m.Lifecycle().String(), Asked: m.Manifest().Limits.Lifecycle.String(), Lane: string(lane), Why: why,
	}
	if on := a.Walls(); on != nil {
		i.Place, i.Layers, i.Namespaces = app.IsolationProcess, on.Layers, on.Spaces()
	}
	return i
}

func inspect(c *cli.Context, a *app.App, _ []string) error {
	found := inspectModule(a)
	if err := found.addGrants(c); err != nil {
		return err
	}
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
		ABI: abiVersion{abi.ImportModule, m.Minor}, SDK: m.SDK, ConfigSchema: schema(m),
		Digest: module.Digest(), Size: module.Size(), Manifest: "asked from the provider",
		Operations: []string{}, Resources: len(m.Resources), Templates: []inspected{}, Capabilities: []capability{},
		Isolation: isolationOf(a), Limits: limitsInForce(module.Limits()),
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

// schema is what the provider says of its configuration; nil when it says nothing.
func schema(m *abi.Manifest) any {
	switch {
	case m.ConfigSchema == "":
		return nil
	case json.Valid([]byte(m.ConfigSchema)):
		return json.RawMessage(m.ConfigSchema)
	}
	return m.ConfigSchema
}

// addGrants adds what the command line grants.
func (i *inspection) addGrants(c *cli.Context) error {
	dirs, err := dirFlags(c, c.StringSlice("dir"))
	if err != nil {
		return err
	}
	values, err := configFlags(c, c.StringSlice("config"))
	if err != nil {
		return err
	}
	i.Granted = []granted{}
	for _, d := range dirs {
		i.Granted = append(i.Granted, granted{Capability: "fs", Guest: d.Guest, Host: d.Host, ReadOnly: true})
	}
	i.Config = append([]string{}, slices.Sorted(maps.Keys(values))...)
	return nil
}

func (i *inspection) print(c *cli.Context) error {
	t := newTable(c.App.Writer)
	for _, r := range append(append(i.moduleRows(), i.wishRows()...), i.grantRows()...) {
		if r[1] != "" {
			t.row(r[0], r[1])
		}
	}
	return t.flush()
}

// moduleRows say what the provider is.
func (i *inspection) moduleRows() [][2]string {
	rows := [][2]string{
		{"name", strings.TrimSpace(i.Name + " " + i.Version)}, {"title", i.Title}, {"description", i.Description},
		{"abi", fmt.Sprintf("%s, minor %d", i.ABI.Name, i.ABI.Minor)}, {"sdk", i.SDK}, {"digest", i.Digest}, {"size", humanSize(uint64(i.Size))}, {"manifest", i.Manifest},
		{"operations", strings.Join(i.Operations, ", ")}, {"static resources", strconv.Itoa(i.Resources)},
	}
	for _, tpl := range i.Templates {
		text := tpl.URITemplate
		if len(tpl.Completes) > 0 {
			text += "  (completes " + strings.Join(tpl.Completes, ", ") + ")"
		}
		rows = append(rows, [2]string{"template", text})
	}
	return rows
}

// wishRows say what the provider asks for.
func (i *inspection) wishRows() (rows [][2]string) {
	if i.ConfigSchema != nil {
		rows = append(rows, [2]string{"config schema", "yes (json shows it)"})
	}
	for _, p := range i.Capabilities {
		need := "needs"
		if p.Optional {
			need = "can use"
		}
		rows = append(rows, [2]string{need, p.Name + ": " + p.Reason})
	}
	return rows
}

// grantRows say what the provider gets.
func (i *inspection) grantRows() (rows [][2]string) {
	for _, g := range i.Granted {
		rows = append(rows, [2]string{"granted", fmt.Sprintf("%s %s (from %s, read-only)", g.Capability, g.Guest, g.Host)})
	}
	for _, key := range i.Config {
		rows = append(rows, [2]string{"config", key})
	}
	return append(append(rows, i.Isolation.rows()...), i.Limits.rows()...)
}

var lanes = map[string]string{
	string(runtime.LaneReset):   "put back to the image after each",
	string(runtime.LaneReplace): "put back to the image after each, or replaced",
	string(runtime.LaneBoot):    "started anew for each",
}

func (i isolation) rows() [][2]string {
	how := lanes[i.Lane]
	if i.Lifecycle == abi.LifecycleShared.String() {
		how = "one for all requests"
	} else if i.Why != "" {
		how += " (" + i.Why + ")"
	}
	kept := map[string]string{
		"fresh": "requests share nothing", "session": "kept for each session", "shared": "shared by all requests",
	}[i.Lifecycle]
	if i.Asked != i.Lifecycle {
		kept += "; the provider asks for " + i.Asked + ", grant it with --lifecycle " + i.Asked
	}
	return [][2]string{{"isolation", i.Place}, {"layers", i.layers()}, {"state", kept}, {"instances", how}}
}

// layers says what stands around the worker; empty when there is none.
func (i isolation) layers() string {
	if i.Place != app.IsolationProcess {
		return ""
	}
	return fmt.Sprintf("%v; namespaces: %s", i.Layers, cmp.Or(strings.Join(i.Namespaces, " "), "none"))
}

func (l limits) rows() [][2]string {
	return [][2]string{
		{"memory", humanSize(l.Memory)},
		{"fuel", strconv.FormatUint(l.Fuel, 10)},
		{"timeout", (time.Duration(l.Timeout) * time.Millisecond).String()},
		{"stack", humanSize(uint64(l.Stack))},
		{"output", humanSize(l.Output)},
		{"at most", fmt.Sprintf("%d items, %d table entries, %d host calls, %s of log in %d lines",
			l.Items, l.Table, l.HostCalls, humanSize(uint64(l.Log)), l.LogLines)},
		{"at once", fmt.Sprintf("%d calls", l.Calls)},
	}
}
