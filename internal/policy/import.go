package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/strict"
)

// maxLost bounds what is said of one import.
const maxLost = 50

// An Import is a policy made of the file of another host.
type Import struct {
	Name   string // what the file calls the plugin; empty when it names none
	Policy *Policy
	Lost   []string // what was not taken over, and why
}

// ImportFile makes policies of an Extism manifest, of which there is one, or of a configuration of hyper-mcp, as JSON
// or YAML. Relative paths are taken from its folder.
func ImportFile(file string) ([]Import, error) {
	if strings.HasSuffix(file, ".toml") {
		return nil, fmt.Errorf("%s: TOML is not read: convert it to YAML or JSON", file)
	}
	text, err := strict.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found, err := ParseImport(file, text)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Policy = found[i].Policy.Under(dir)
	}
	return found, nil
}

// ParseImport is [ImportFile] of a text, whose relative paths stay as they are. The error is [strict.Problems].
func ParseImport(file string, b []byte) ([]Import, error) {
	root, err := strict.Parse(file, b)
	if err != nil {
		return nil, err
	}
	if plugins, ok := root.Get("plugins"); ok {
		return importHyperMCP(file, plugins)
	}
	if _, ok := root.Get("wasm"); !ok && !slices.ContainsFunc(root.Entries, extismKey) {
		return nil, problemAt(file, root, "this is neither an Extism manifest nor a configuration of hyper-mcp: "+
			"it has none of the keys wasm, allowed_hosts, plugins")
	}
	i := &importer{}
	i.extism(root)
	return []Import{i.done("")}, nil
}

func extismKey(e strict.Entry) bool { return strings.HasPrefix(e.Key.Text, "allowed_") }

func problemAt(file string, n strict.Node, text string) error {
	return strict.Problems{{File: file, Line: n.Line, Column: n.Column, Text: text}}
}

// importHyperMCP makes a policy for each plugin, in the order of the file.
func importHyperMCP(file string, plugins strict.Node) (found []Import, _ error) {
	for _, plugin := range plugins.Entries {
		i := &importer{}
		if config, ok := plugin.Value.Get("runtime_config"); ok && config.Kind == strict.Mapping {
			i.plugin(config)
		}
		for _, e := range plugin.Value.Entries {
			if !slices.Contains([]string{"url", "path", "runtime_config"}, e.Key.Text) {
				i.lose(e.Key.Text, "it is not about what the plugin may touch")
			}
		}
		found = append(found, i.done(plugin.Key.Text))
	}
	if len(found) == 0 {
		return nil, problemAt(file, plugins, "there is no plugin")
	}
	return found, nil
}

// An importer makes one policy.
type importer struct {
	policy Policy
	lost   []string
}

func (i *importer) lose(what, why string) {
	if len(i.lost) < maxLost {
		i.lost = append(i.lost, strict.Clip(shownLine(what))+": "+why)
	}
}

// shownLine is a foreign text as it can be printed.
func shownLine(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

func (i *importer) done(name string) Import {
	i.policy.Description = "imported"
	if name = shownLine(name); name != "" {
		i.policy.Description += " from " + strict.Clip(name)
	}
	return Import{Name: name, Policy: &i.policy, Lost: i.lost}
}

// extism takes over a manifest of Extism.
func (i *importer) extism(root strict.Node) {
	for _, e := range root.Entries {
		switch e.Key.Text {
		case "wasm":
		case "allowed_hosts":
			i.hosts(e.Value)
		case "allowed_paths":
			i.folders(e.Value)
		case "config":
			i.config(e.Value)
		case "timeout_ms":
			i.milliseconds(e.Key.Text, e.Value)
		case "memory":
			i.memory(e.Value)
		default:
			i.lose(e.Key.Text, "there is nothing like it here")
		}
	}
}

func (i *importer) memory(n strict.Node) {
	for _, e := range n.Entries {
		switch e.Key.Text {
		case "max_pages":
			i.pages(e.Value)
		default:
			i.lose("memory."+e.Key.Text, "there is no such limit; what a provider reads and answers is bounded by output")
		}
	}
}

// pages is a number of pages of linear memory.
func (i *importer) pages(n strict.Node) {
	pages, err := strconv.ParseUint(n.Text, 10, 32)
	if err != nil || pages == 0 || pages > 1<<16 {
		i.lose("memory.max_pages", "it is no number from 1 to 65536")
		return
	}
	i.policy.Limits.Memory = pages << 16
}

func (i *importer) milliseconds(what string, n strict.Node) {
	ms, err := strconv.ParseUint(n.Text, 10, 31)
	if err != nil || ms == 0 {
		i.lose(what, "it is no number of milliseconds from 1 on")
		return
	}
	i.policy.Limits.Timeout = time.Duration(ms) * time.Millisecond
}

// plugin takes over what hyper-mcp lets a plugin do.
func (i *importer) plugin(config strict.Node) {
	for _, e := range config.Entries {
		switch e.Key.Text {
		case "allowed_hosts":
			i.hosts(e.Value)
		case "allowed_paths":
			i.folders(e.Value)
		case "env_vars":
			i.config(e.Value) // plugins read them as configuration, and so they are
		case "memory_limit":
			bytes, err := size(strings.ReplaceAll(e.Value.Text, " ", ""))
			if err != nil {
				i.lose(e.Key.Text, err.Error())
				continue
			}
			i.policy.Limits.Memory = bytes
		default:
			i.lose(e.Key.Text, "there is nothing like it here")
		}
	}
}

// hosts takes over names of servers. There, a host may be asked anything; here that must be said.
func (i *importer) hosts(n strict.Node) {
	for _, item := range n.Items {
		h, err := host(item.Text)
		if err != nil {
			i.lose("allowed_hosts "+item.Text, err.Error())
			continue
		}
		i.policy.Network = append(i.policy.Network, Network{
			Host: h, Schemes: slices.Clone(schemes), Methods: slices.Clone(methods),
			Private: privateAddress(h) || h == "localhost",
		})
	}
	if len(n.Items) > 0 {
		i.lose("allowed_hosts", "names without a port are for those of https and http alone, "+
			"and names of private addresses are refused: see ports and private")
	}
}

// folders takes over a mapping of host paths to guest paths, or a list of paths that are the same in both.
func (i *importer) folders(n strict.Node) {
	for _, item := range n.Items {
		from, to, both := strings.Cut(item.Text, ":")
		if !both {
			to = guestOf(strings.TrimPrefix(from, "ro:"))
		}
		if from == "ro" { // ro:PATH
			from, to = "ro:"+to, guestOf(to)
		}
		i.folder(from, to)
	}
	for _, e := range n.Entries {
		i.folder(e.Key.Text, e.Value.Text)
	}
}

func (i *importer) folder(from, to string) {
	access := Read | Write
	if rest, only := strings.CutPrefix(from, "ro:"); only {
		from, access = rest, Read
	}
	h, err := storageURI(storageScheme + from)
	if err == nil {
		to, err = guestPath(guestOf(cmp.Or(to, h)))
	}
	switch {
	case err != nil:
		i.lose("allowed_paths "+from, err.Error())
		return
	case slices.ContainsFunc(i.policy.Storage, func(s Storage) bool { return s.Guest == to }):
		i.lose("allowed_paths "+from, to+" is another folder already")
		return
	}
	i.policy.Storage = append(i.policy.Storage, Storage{Host: h, Guest: to, Access: access})
}

func (i *importer) config(n strict.Node) {
	for _, e := range n.Entries {
		v, err := value(e.Value.Text)
		if _, bad := line(e.Key.Text); err != nil || bad != nil || e.Value.Kind > strict.Boolean || e.Value.Kind == strict.Null {
			i.lose("config "+e.Key.Text, "it is no short text")
			continue
		}
		if i.policy.Config == nil {
			i.policy.Config = map[string]string{}
		}
		if len(i.policy.Config) < strict.MaxEntries {
			i.policy.Config[e.Key.Text] = v
		}
		if suspicious(e.Key.Text) {
			i.lose("config "+e.Key.Text, "it was taken over, but looks like a secret, "+
				"and the provider can read it: better put it under secrets")
		}
	}
}

// suspicious reports whether a key looks like that of a secret.
func suspicious(key string) bool {
	key = strings.ToLower(key)
	named := func(word string) bool { return strings.Contains(key, word) }
	return slices.ContainsFunc([]string{"token", "secret", "password", "api_key", "apikey"}, named)
}
