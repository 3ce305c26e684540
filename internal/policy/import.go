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

// maxDropped bounds the notes about one import.
const maxDropped = 50

// An Import is a policy made of another MCP host's file.
type Import struct {
	Name   string // of the plugin in the file; empty when it has none
	Policy *Policy
	Lost   []string // parts of the file that the policy lacks or changes, and why
}

// ImportFile makes one policy of an Extism manifest, or one for each plugin of a configuration of hyper-mcp. The file
// is JSON or YAML. Relative paths in it are taken from the folder it is in.
func ImportFile(file string) ([]Import, error) {
	if strings.HasSuffix(file, ".toml") {
		return nil, fmt.Errorf("%s: TOML is not supported: convert the file to YAML or JSON", file)
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

// ParseImport is [ImportFile] of a text, in which relative paths stay as they are. The error is [strict.Problems].
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
				i.drop(e.Key.Text, "a policy has no such setting")
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
	policy  Policy
	dropped []string
}

func (i *importer) drop(what, why string) {
	if len(i.dropped) < maxDropped {
		i.dropped = append(i.dropped, strict.Clip(visible(what))+": "+why)
	}
}

// visible returns an untrusted text with U+FFFD for each invisible character.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if invisible(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

func (i *importer) done(name string) Import {
	i.policy.Description = "imported"
	if name = visible(name); name != "" {
		i.policy.Description += " from " + strict.Clip(name)
	}
	return Import{Name: name, Policy: &i.policy, Lost: i.dropped}
}

// extism converts a manifest of Extism.
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
			i.drop(e.Key.Text, "a policy has no such setting")
		}
	}
}

func (i *importer) memory(n strict.Node) {
	for _, e := range n.Entries {
		switch e.Key.Text {
		case "max_pages":
			i.pages(e.Value)
		default:
			i.drop("memory."+e.Key.Text, "there is no such limit; output bounds the contents of a read")
		}
	}
}

// pages converts a number of pages of linear memory.
func (i *importer) pages(n strict.Node) {
	pages, err := strconv.ParseUint(n.Text, 10, 32)
	if err != nil || pages == 0 || pages > 1<<16 {
		i.drop("memory.max_pages", "it is not a number from 1 to 65536")
		return
	}
	i.policy.Limits.Memory = pages << 16
}

func (i *importer) milliseconds(what string, n strict.Node) {
	ms, err := strconv.ParseUint(n.Text, 10, 31)
	if err != nil || ms == 0 {
		i.drop(what, "it is not a positive number of milliseconds")
		return
	}
	i.policy.Limits.Timeout = time.Duration(ms) * time.Millisecond
}

// plugin converts the permissions of a plugin of hyper-mcp.
func (i *importer) plugin(config strict.Node) {
	for _, e := range config.Entries {
		switch e.Key.Text {
		case "allowed_hosts":
			i.hosts(e.Value)
		case "allowed_paths":
			i.folders(e.Value)
		case "env_vars":
			i.config(e.Value) // plugins read them as configuration
		case "memory_limit":
			bytes, err := Size(strings.ReplaceAll(e.Value.Text, " ", ""))
			if err != nil {
				i.drop(e.Key.Text, err.Error())
				continue
			}
			i.policy.Limits.Memory = bytes
		default:
			i.drop(e.Key.Text, "a policy has no such setting")
		}
	}
}

// hosts converts names of servers. There, any request to a host is allowed, so the rule names all schemes and methods.
func (i *importer) hosts(n strict.Node) {
	for _, item := range n.Items {
		h, err := host(item.Text)
		if err != nil {
			i.drop("allowed_hosts "+item.Text, err.Error())
			continue
		}
		i.policy.Network = append(i.policy.Network, Network{
			Host: h, Schemes: slices.Clone(schemes), Methods: slices.Clone(methods),
			Private: privateAddress(h) || h == "localhost",
		})
	}
	if len(n.Items) > 0 {
		i.drop("allowed_hosts", "without ports, a rule allows those of https and http only, "+
			"and without private, no private addresses")
	}
}

// folders converts a mapping of host paths to guest paths, or a list of paths that are the same in both.
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
		i.drop("allowed_paths "+from, err.Error())
		return
	case slices.ContainsFunc(i.policy.Storage, func(s Storage) bool { return s.Guest == to }):
		i.drop("allowed_paths "+from, to+" is granted twice")
		return
	}
	i.policy.Storage = append(i.policy.Storage, Storage{Host: h, Guest: to, Access: access})
}

func (i *importer) config(n strict.Node) {
	for _, e := range n.Entries {
		v, err := value(e.Value.Text)
		if _, bad := Line(e.Key.Text); err != nil || bad != nil || e.Value.Kind > strict.Boolean || e.Value.Kind == strict.Null {
			i.drop("config "+e.Key.Text, "it is not a short text")
			continue
		}
		if i.policy.Config == nil {
			i.policy.Config = map[string]string{}
		}
		if len(i.policy.Config) < strict.MaxEntries {
			i.policy.Config[e.Key.Text] = v
		}
		if looksSecret(e.Key.Text) {
			i.drop("config "+e.Key.Text, "it was converted, but looks like a secret, "+
				"and the provider can read it: better put it under secrets")
		}
	}
}

// looksSecret reports whether a key looks like that of a secret.
func looksSecret(key string) bool {
	key = strings.ToLower(key)
	named := func(word string) bool { return strings.Contains(key, word) }
	return slices.ContainsFunc([]string{"token", "secret", "password", "api_key", "apikey"}, named)
}
