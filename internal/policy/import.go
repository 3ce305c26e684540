package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
	text, err := readFile(file)
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

// ParseImport is [ImportFile] of a text, whose relative paths stay as they are. Errors are [Problems].
func ParseImport(file string, b []byte) ([]Import, error) {
	r := &reader{file: file}
	root, ok := r.tree(b)
	if !ok {
		return nil, r.problems
	}
	if !r.want(root, mapping) {
		return nil, r.problems
	}
	if plugins, ok := root.get("plugins"); ok {
		return r.hyperMCP(plugins)
	}
	if _, ok := root.get("wasm"); !ok && !slices.ContainsFunc(root.entries, extismKey) {
		r.fail(root, "this is neither an Extism manifest nor a configuration of hyper-mcp: "+
			"it has none of the keys wasm, allowed_hosts, plugins")
		return nil, r.problems
	}
	i := &importer{}
	i.extism(root)
	return []Import{i.done("")}, nil
}

func extismKey(e entry) bool { return strings.HasPrefix(e.key.text, "allowed_") }

// hyperMCP makes a policy for each plugin, in the order of the file.
func (r *reader) hyperMCP(plugins node) (found []Import, _ error) {
	if !r.want(plugins, mapping) {
		return nil, r.problems
	}
	for _, plugin := range plugins.entries {
		i := &importer{}
		if config, ok := plugin.value.get("runtime_config"); ok && config.kind == mapping {
			i.plugin(config)
		}
		for _, e := range plugin.value.entries {
			if !slices.Contains([]string{"url", "path", "runtime_config"}, e.key.text) {
				i.lose(e.key.text, "it is not about what the plugin may touch")
			}
		}
		found = append(found, i.done(plugin.key.text))
	}
	if len(found) == 0 {
		r.fail(plugins, "there is no plugin")
		return nil, r.problems
	}
	return found, nil
}

// An importer makes one policy.
type importer struct {
	policy Policy
	lost   []string
}

func (i *importer) lose(what, why string) {
	if len(i.lost) < maxProblems {
		i.lost = append(i.lost, clipped(shownLine(what))+": "+why)
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
		i.policy.Description += " from " + clipped(name)
	}
	return Import{Name: name, Policy: &i.policy, Lost: i.lost}
}

// extism takes over a manifest of Extism.
func (i *importer) extism(root node) {
	for _, e := range root.entries {
		switch e.key.text {
		case "wasm":
		case "allowed_hosts":
			i.hosts(e.value)
		case "allowed_paths":
			i.folders(e.value)
		case "config":
			i.config(e.value)
		case "timeout_ms":
			i.milliseconds(e.key.text, e.value)
		case "memory":
			i.memory(e.value)
		default:
			i.lose(e.key.text, "there is nothing like it here")
		}
	}
}

func (i *importer) memory(n node) {
	for _, e := range n.entries {
		switch e.key.text {
		case "max_pages":
			i.pages(e.value)
		default:
			i.lose("memory."+e.key.text, "there is no such limit; what a provider reads and answers is bounded by output")
		}
	}
}

// pages is a number of pages of linear memory.
func (i *importer) pages(n node) {
	pages, err := strconv.ParseUint(n.text, 10, 32)
	if err != nil || pages == 0 || pages > 1<<16 {
		i.lose("memory.max_pages", "it is no number from 1 to 65536")
		return
	}
	i.policy.Limits.Memory = pages << 16
}

func (i *importer) milliseconds(what string, n node) {
	ms, err := strconv.ParseUint(n.text, 10, 31)
	if err != nil || ms == 0 {
		i.lose(what, "it is no number of milliseconds from 1 on")
		return
	}
	i.policy.Limits.Timeout = time.Duration(ms) * time.Millisecond
}

// plugin takes over what hyper-mcp lets a plugin do.
func (i *importer) plugin(config node) {
	for _, e := range config.entries {
		switch e.key.text {
		case "allowed_hosts":
			i.hosts(e.value)
		case "allowed_paths":
			i.folders(e.value)
		case "env_vars":
			i.config(e.value) // plugins read them as configuration, and so they are
		case "memory_limit":
			bytes, err := size(strings.ReplaceAll(e.value.text, " ", ""))
			if err != nil {
				i.lose(e.key.text, err.Error())
				continue
			}
			i.policy.Limits.Memory = bytes
		default:
			i.lose(e.key.text, "there is nothing like it here")
		}
	}
}

// hosts takes over names of servers. There, a host may be asked anything; here that must be said.
func (i *importer) hosts(n node) {
	for _, item := range n.items {
		h, err := host(item.text)
		if err != nil {
			i.lose("allowed_hosts "+item.text, err.Error())
			continue
		}
		i.policy.Network = append(i.policy.Network, Network{
			Host: h, Schemes: slices.Clone(schemes), Methods: slices.Clone(methods),
			Private: privateAddress(h) || h == "localhost",
		})
	}
	if len(n.items) > 0 {
		i.lose("allowed_hosts", "names without a port are for those of https and http alone, "+
			"and names of private addresses are refused: see ports and private")
	}
}

// folders takes over a mapping of host paths to guest paths, or a list of paths that are the same in both.
func (i *importer) folders(n node) {
	for _, item := range n.items {
		from, to, both := strings.Cut(item.text, ":")
		if !both {
			to = guestOf(strings.TrimPrefix(from, "ro:"))
		}
		if from == "ro" { // ro:PATH
			from, to = "ro:"+to, guestOf(to)
		}
		i.folder(from, to)
	}
	for _, e := range n.entries {
		i.folder(e.key.text, e.value.text)
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

func (i *importer) config(n node) {
	for _, e := range n.entries {
		v, err := value(e.value.text)
		if _, bad := line(e.key.text); err != nil || bad != nil || e.value.kind > boolean || e.value.kind == nothing {
			i.lose("config "+e.key.text, "it is no short text")
			continue
		}
		if i.policy.Config == nil {
			i.policy.Config = map[string]string{}
		}
		if len(i.policy.Config) < maxValues {
			i.policy.Config[e.key.text] = v
		}
		if suspicious(e.key.text) {
			i.lose("config "+e.key.text, "it was taken over, but looks like a secret, "+
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
