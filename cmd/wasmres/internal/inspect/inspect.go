package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/runtime"
)

// Command returns the command inspect.
func Command() *cli.Command {
	const category = "Looking"
	return providers.WithQuietLog(providers.WithFlags(&cli.Command{
		Name: "inspect", Usage: "print what a provider is, requests and may do", ArgsUsage: providers.ArgsUsage,
		Description: `Also reads some of its resources, to measure the fuel. Reads may have effects: the provider
decides.

   wasmres inspect provider.wasm
   wasmres inspect --dir .:/project project.wasm
   wasmres inspect --no-samples --output-format json provider.wasm`,
		Flags: []cli.Flag{
			cli.FormatFlag(cli.ReportFormats),
			&cli.BoolFlag{Name: "no-samples", Category: category, Usage: "read no resources"},
		},
	}, inspectAll))
}

const capabilityFS = "fs" // its name in manifests

// An inspection has what is known about a provider. Sizes are in bytes.
type inspection struct {
	Name         string          `json:"name"`
	Version      string          `json:"version,omitempty"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	Language     string          `json:"language,omitempty"`
	SDK          string          `json:"sdk,omitempty"`
	Producers    []producer      `json:"producers,omitempty"`
	ABI          abiVersion      `json:"abi"`
	Digest       string          `json:"digest"`
	Size         int             `json:"size"`
	Manifest     string          `json:"manifest"`
	Operations   []string        `json:"operations"`
	Resources    int             `json:"staticResources"`
	Static       []declared      `json:"resources"`
	Templates    []inspected     `json:"templates"`
	Capabilities []capability    `json:"capabilities"`
	ConfigSchema any             `json:"configSchema,omitempty"`
	Granted      []granted       `json:"granted"`
	Permits      []string        `json:"permits"`           // all grants, as sentences
	Approve      string          `json:"approve,omitempty"` // the command that grants what is requested; empty if all is granted
	Policy       string          `json:"policy,omitempty"`  // for that command; empty if it needs none
	Config       []string        `json:"config"`            // keys only: values may be secrets
	Isolation    isolation       `json:"isolation"`
	Limits       limitReport     `json:"limits"`
	Requested    requestedLimits `json:"limitsAsked"`
	Samples      *samples        `json:"samples,omitempty"` // nil with --no-samples
}

// A declared is a static resource.
type declared struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MIMEType string `json:"mimeType,omitempty"`
	Size     uint64 `json:"size,omitempty"`
}

type abiVersion struct {
	Name  string `json:"name"`
	Minor uint32 `json:"minor"`
}

// A granted is a directory the provider may use.
type granted struct {
	Capability string `json:"capability"`
	Guest      string `json:"guest"`
	Host       string `json:"host"`
	ReadOnly   bool   `json:"readOnly"`
}

type inspected struct {
	URITemplate string   `json:"uriTemplate"`
	Name        string   `json:"name"`
	MIMEType    string   `json:"mimeType,omitempty"`
	Completes   []string `json:"completes,omitempty"`
}

type capability struct {
	Name     string `json:"name"`
	Reason   string `json:"reason,omitempty"`
	Optional bool   `json:"optional,omitempty"`
	Granted  *bool  `json:"granted,omitempty"` // at least in part
	Missing  bool   `json:"missing,omitempty"` // in part or all
	Flags    string `json:"flags,omitempty"`   // that grant it; empty if wasmres has no such capability
}

// A limitReport has the limits in force. Sizes are in bytes, times in milliseconds.
type limitReport struct {
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
	MilliCPU  uint32 `json:"milliCPU,omitempty"` // 0 for no bound
	Idle      int64  `json:"idleMs"`
}

// requestedLimits are those that the provider requests. They change nothing: the operator decides. Zero is no request.
type requestedLimits struct {
	Memory    uint64 `json:"memory,omitempty"`
	Timeout   uint32 `json:"timeoutMs,omitempty"`
	Output    uint64 `json:"output,omitempty"`
	Instances uint32 `json:"instances,omitempty"`
}

func limitsRequested(l abi.ManifestLimits) requestedLimits {
	return requestedLimits{
		Memory: uint64(l.MemoryPages) << 16, Timeout: l.DeadlineMillis, Output: l.MaxBody, Instances: l.MaxInstances,
	}
}

func limitsInForce(l runtime.Limits) limitReport {
	return limitReport{
		Memory: l.Memory, Fuel: l.Fuel, Timeout: l.Timeout.Milliseconds(), Wait: l.Wait.Milliseconds(), Stack: l.Stack,
		Table: l.Table, Output: l.Output, Items: l.Items, Log: l.Log, LogLines: l.LogLines, HostCalls: l.HostCalls, Calls: l.Calls, Sessions: l.Sessions,
		MilliCPU: l.MilliCPU, Idle: l.Idle.Milliseconds(),
	}
}

// An isolation says where guests run and what requests share.
type isolation struct {
	Place      string          `json:"place"`
	Layers     []runtime.Layer `json:"layers,omitempty"`     // of the worker, if there is one
	Namespaces []string        `json:"namespaces,omitempty"` // those of the worker alone
	Lifecycle  string          `json:"lifecycle"`            // in force
	Asked      string          `json:"lifecycleAsked"`
	Reset      string          `json:"lane"`
	Why        string          `json:"laneReason,omitempty"` // for a slower mode than the fastest
	Start      starting        `json:"start"`
}

// A starting has what the start of the first instance took, from which others are made.
type starting struct {
	Fuel   uint64  `json:"fuel"`
	Millis float64 `json:"ms"`
}

func isolationOf(a *app.App) isolation {
	info := a.Provider().Info()
	i := isolation{
		Place: info.Isolation.String(), Layers: info.Layers,
		Lifecycle: info.Lifecycle.String(), Asked: a.Provider().Manifest().Limits.Lifecycle.String(),
		Reset: string(info.Reset), Why: info.ResetNote,
		Start: starting{Fuel: info.Start.Fuel, Millis: float64(info.Start.Took.Microseconds()) / 1e3},
	}
	for _, n := range info.Namespaces {
		if n.On {
			i.Namespaces = append(i.Namespaces, n.Kind)
		}
	}
	return i
}

// inspectAll inspects one provider after the other. As JSON, several are a list.
func inspectAll(c *cli.Context) error {
	files, err := providers.Files(c)
	if err != nil {
		return err
	}
	configs, err := providers.Configs(c, files, cli.PlainLog)
	if err != nil {
		return err
	}
	var all []*inspection
	for i := range configs {
		action := func(c *cli.Context, a *app.App, _ []string) error {
			found, err := inspect(c, a, configs[i])
			all = append(all, found)
			return err
		}
		if err := providers.Run(c, configs[i:i+1], action, nil); err != nil {
			return providers.WithName(configs[i], err)
		}
	}
	switch format := c.String("output-format"); {
	case format == cli.FormatTable:
		printInspections(c.App.Writer, all)
		return nil
	case len(all) == 1:
		return cli.PrintValue(c.App.Writer, format, all[0])
	default:
		return cli.PrintValue(c.App.Writer, format, all)
	}
}

func printInspections(w io.Writer, all []*inspection) {
	for i, found := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		found.print(w)
	}
}

// inspect returns what is known about a provider.
func inspect(c *cli.Context, a *app.App, cfg app.Config) (*inspection, error) {
	found := inspectModule(a)
	found.addGrants(a.Granted(), a.Provider().Manifest().Capabilities)
	found.addApproval(a, cfg)
	if err := found.addProducers(cfg.File); err != nil {
		return nil, err
	}
	if !c.Bool("no-samples") {
		found.Samples = readSamples(c.Context, a)
	}
	return found, c.Context.Err()
}

func inspectModule(a *app.App) *inspection {
	m, info := a.Provider().Manifest(), a.Provider().Info()
	found := &inspection{
		Name: m.Name, Version: m.Version, Title: m.Title, Description: m.Description, Language: languageOf(m.SDK), SDK: m.SDK,
		ABI: abiVersion{abi.ImportModule, m.Minor}, ConfigSchema: schema(m),
		Digest: info.Digest, Size: info.Size, Manifest: "asked from the provider",
		Operations: []string{}, Resources: len(m.Resources), Static: []declared{}, Templates: []inspected{},
		Capabilities: []capability{}, Isolation: isolationOf(a), Limits: limitsInForce(info.Limits),
		Requested: limitsRequested(m.Limits),
	}
	if info.Packed {
		found.Manifest = "packed into the module"
	}
	for op := abi.OpDescribe; op <= abi.OpPoll; op++ {
		if m.Implements(op) {
			found.Operations = append(found.Operations, op.String())
		}
	}
	for i := range m.Resources {
		r := &m.Resources[i]
		found.Static = append(found.Static, declared{r.URI, r.Name, r.MIMEType, r.Size})
	}
	for i := range m.Templates {
		t := &m.Templates[i]
		found.Templates = append(found.Templates, inspected{t.URITemplate, t.Name, t.MIMEType, t.Completes})
	}
	for _, p := range m.Capabilities {
		found.Capabilities = append(found.Capabilities, capability{Name: p.Name, Reason: p.Reason, Optional: p.Optional})
	}
	return found
}

// schema returns the provider's schema of its configuration: JSON, or else a string; nil if it has none.
func schema(m *abi.Manifest) any {
	switch {
	case m.ConfigSchema == "":
		return nil
	case json.Valid([]byte(m.ConfigSchema)):
		return json.RawMessage(m.ConfigSchema)
	}
	return m.ConfigSchema
}

// addGrants adds what is granted, and how to grant the requested rest.
func (i *inspection) addGrants(given *policy.Policy, asked []abi.Capability) {
	i.Granted, i.Permits = []granted{}, append([]string{}, given.Lines()...)
	for _, s := range given.Storage {
		i.Granted = append(i.Granted, granted{Capability: capabilityFS, Guest: s.Guest, Host: s.Host, ReadOnly: s.Access == policy.Read})
	}
	i.Config = append([]string{}, slices.Sorted(maps.Keys(given.Config))...)
	for n, one := range asked {
		has := app.Grants(given, one.Name)
		c := &i.Capabilities[n]
		c.Granted, c.Missing, c.Flags = &has, !app.GrantsAll(given, one), app.HowToGrant(one)
	}
}

// addApproval adds the command that grants all that is requested, if any of it is missing.
func (i *inspection) addApproval(a *app.App, cfg app.Config) {
	possible := func(c capability) bool { return c.Missing && c.Flags != "" }
	if !slices.ContainsFunc(i.Capabilities, possible) {
		return
	}
	decision := approval.Decide(approval.Request{
		Manifest: a.Provider().Manifest(), Digest: a.Provider().Info().Digest, File: cfg.File, From: cfg.From,
	})
	i.Approve, i.Policy = decision.Command(), string(decision.Draft())
}
