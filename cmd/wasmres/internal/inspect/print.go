package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/runtime"
)

func (i *inspection) print(w io.Writer) { i.printSections(newSectionWriter(w)) }

func (i *inspection) printSections(s *sectionWriter) {
	i.printModule(s)
	i.printServed(s)
	i.printCapabilities(s)
	s.group()
	for _, r := range i.Isolation.rows() {
		s.row(r[0], "%s", r[1])
	}
	s.group()
	i.printLimits(s)
	i.Samples.print(s)
}

// printModule prints what the provider is.
func (i *inspection) printModule(s *sectionWriter) {
	s.row("name", "%s %s", i.Name, i.Version)
	s.row("title", "%s", i.Title)
	s.row("description", "%s", i.Description)
	s.group()
	s.row("language", "%s", i.Language)
	s.row("sdk", "%s", i.SDK)
	s.row("made by", "%s", i.tools())
	s.row("abi", "%s, minor %d", i.ABI.Name, i.ABI.Minor)
	s.row("size", "%s", terminal.Size(uint64(i.Size)))
	s.whole("digest", i.Digest)
	s.row("manifest", "%s", i.Manifest)
	s.row("operations", "%s", strings.Join(i.Operations, ", "))
}

// tools names the tools that made the module.
func (i *inspection) tools() string {
	var names []string
	for _, p := range i.Producers {
		if p.Field != producerLanguage {
			names = append(names, p.String())
		}
	}
	return strings.Join(names, ", ")
}

// printServed prints which resources and templates the provider has.
func (i *inspection) printServed(s *sectionWriter) {
	s.group()
	text := fmt.Sprintf("%d static", i.Resources)
	if slices.Contains(i.Operations, abi.OpList.String()) {
		text += ", and those it lists"
	}
	s.row("resources", "%s", text)
	var rows [][]string
	for _, r := range i.Static[:min(len(i.Static), maxShown)] {
		rows = append(rows, []string{r.URI, r.Name, r.MIMEType})
	}
	s.rows("", append(aligned(rows), hiddenNote(len(i.Static))...))
	rows = nil
	for _, t := range i.Templates[:min(len(i.Templates), maxShown)] {
		completes := ""
		if len(t.Completes) > 0 {
			completes = "completes " + strings.Join(t.Completes, ", ")
		}
		rows = append(rows, []string{t.URITemplate, t.Name, completes, t.MIMEType})
	}
	s.group()
	s.rows("templates", append(aligned(rows), hiddenNote(len(i.Templates))...))
}

func hiddenNote(n int) []string {
	if n <= maxShown {
		return nil
	}
	return []string{fmt.Sprintf("and %d more, see --output-format json", n-maxShown)}
}

// printCapabilities prints what the provider requests, and what it is granted.
func (i *inspection) printCapabilities(s *sectionWriter) {
	s.group()
	for _, one := range i.Capabilities {
		need, text := providers.CapabilityRow(one.Name, one.Reason, one.Optional)
		s.row(need, "%s%s", text, one.grantNote())
	}
	if len(i.Capabilities) == 0 {
		s.row("needs", "no capabilities")
	}
	for _, line := range i.Permits {
		s.row("may", "%s", line)
	}
	i.printApproval(s)
	s.group()
	if i.ConfigSchema != nil {
		s.rows("config schema", i.schemaLines())
	}
}

func (c capability) grantNote() string {
	switch {
	case c.Granted == nil:
		return ""
	case c.Flags == "":
		return " (not granted: wasmres has no such capability)"
	case !*c.Granted && c.Optional:
		return " (optional; not granted: add " + c.Flags + ")"
	case !*c.Granted:
		return " (not granted: add " + c.Flags + ")"
	case c.Missing:
		return " (granted in part; all of it: " + c.Flags + ")"
	}
	return " (granted)"
}

// printApproval prints the command that grants all that is requested, ready to be copied.
func (i *inspection) printApproval(s *sectionWriter) {
	if i.Approve == "" {
		return
	}
	s.whole("to grant it", printable.Line(i.Approve))
	if i.Policy == "" {
		return
	}
	s.row("POLICY.yaml", "is for --policy; replace the words in capitals by your own values")
	for line := range strings.Lines(i.Policy) {
		fmt.Fprintf(s.w, "  %s\n", printable.Line(strings.TrimSuffix(line, "\n")))
	}
}

// schemaLines names the keys of the configuration, if its schema has properties.
func (i *inspection) schemaLines() []string {
	raw, _ := i.ConfigSchema.(json.RawMessage)
	var schema struct {
		Properties map[string]struct{ Description string }
		Required   []string
	}
	if json.Unmarshal(raw, &schema) != nil || len(schema.Properties) == 0 {
		return []string{"yes, see --output-format json"}
	}
	var rows [][]string
	for _, key := range slices.Sorted(maps.Keys(schema.Properties)) {
		need := "optional"
		if slices.Contains(schema.Required, key) {
			need = "required"
		}
		rows = append(rows, []string{shortLine(key), need, schema.Properties[key].Description})
	}
	return append(aligned(rows[:min(len(rows), maxShown)]), hiddenNote(len(rows))...)
}

func (i *inspection) printLimits(s *sectionWriter) {
	l, asked := i.Limits, i.Requested
	s.row("memory", "%s%s", terminal.Size(l.Memory), limitRequest(terminal.Size(asked.Memory), asked.Memory, l.Memory, "--memory"))
	s.row("fuel", "%s", terminal.Grouped(l.Fuel))
	s.row("timeout", "%v%s", millis(l.Timeout),
		limitRequest(millis(int64(asked.Timeout)).String(), uint64(asked.Timeout), uint64(l.Timeout), "--timeout"))
	s.row("stack", "%s", terminal.Size(uint64(l.Stack)))
	s.row("output", "%s%s", terminal.Size(l.Output), limitRequest(terminal.Size(asked.Output), asked.Output, l.Output, "--max-output"))
	s.row("at most", "%s items, %s table entries, %s host calls, %s of log in %d lines", terminal.Grouped(uint64(l.Items)),
		terminal.Grouped(uint64(l.Table)), terminal.Grouped(uint64(l.HostCalls)), terminal.Size(uint64(l.Log)), l.LogLines)
	if l.MilliCPU > 0 {
		s.row("processors", "%g", float64(l.MilliCPU)/1000)
	}
	s.row("at once", "%d calls%s", l.Calls,
		limitRequest(fmt.Sprint(asked.Instances), uint64(asked.Instances), uint64(l.Calls), "--max-calls"))
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// limitRequest says which limit the provider requests, and the flag to grant it if it is higher than the one in force.
func limitRequest(text string, asked, has uint64, flag string) string {
	switch {
	case asked == 0:
		return ""
	case asked > has:
		return fmt.Sprintf("; the provider asks for %s, grant it with %s", text, flag)
	}
	return "; the provider asks for " + text
}

// print prints the samples.
func (r *samples) print(s *sectionWriter) {
	if r == nil {
		return
	}
	s.group()
	s.row("samples", "%s", r.Problem)
	if len(r.Read) > 0 {
		s.begin()
		rows := [][]string{{"SAMPLE", "FUEL", "BYTES"}}
		for _, one := range r.Read {
			rows = append(rows, one.cells())
		}
		s.Figures(s.w, rows)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(s.w, "and %d more that were not read\n", r.Omitted)
	}
	for _, u := range r.Unsampled {
		s.begin()
		s.Paragraph(s.w, "", 0, fmt.Sprintf("not read: %s: %s", printable.Line(u.Template), printable.Line(u.Why)))
	}
}

func (one sampled) cells() []string {
	if one.Code != "" {
		return []string{printable.Line(one.URI), "failed: " + one.Code, ""}
	}
	return []string{printable.Line(one.URI), terminal.Grouped(one.Fuel), terminal.Grouped(one.Bytes)}
}

// resetTexts describe the reset modes.
var resetTexts = map[string]string{
	string(runtime.ResetInPlace):   "fast: instances are reset to the image",
	string(runtime.ResetOrReplace): "mostly fast: instances are reset to the image, or replaced",
	string(runtime.StartFresh):     "slow: a new instance is started for each request",
}

func (i isolation) rows() [][2]string {
	how := resetTexts[i.Reset]
	if i.Lifecycle == abi.LifecycleShared.String() {
		how = "fast: one instance for all requests"
	} else if i.Why != "" {
		how += " (" + i.Why + ")"
	}
	state := map[string]string{
		"fresh": "requests share nothing", "session": "kept for each session", "shared": "shared by all requests",
	}[i.Lifecycle]
	if i.Asked != i.Lifecycle {
		state += "; the provider asks for " + i.Asked + ", grant it with --lifecycle " + i.Asked
	}
	return [][2]string{{"isolation", i.Place}, {"layers", i.layers()}, {"state", state}, {"reset", how},
		{"start", fmt.Sprintf("%s fuel, %.1f ms", terminal.Grouped(i.Start.Fuel), i.Start.Millis)},
	}
}

// layers names the isolation layers of the worker; empty if there is no worker.
func (i isolation) layers() string {
	if i.Place != runtime.IsolateProcess.String() {
		return ""
	}
	on := make([]string, len(i.Layers))
	for n, layer := range i.Layers {
		on[n] = layer.String()
	}
	return fmt.Sprintf("%s; namespaces: %s", strings.Join(on, ", "), cmp.Or(strings.Join(i.Namespaces, " "), "none"))
}
