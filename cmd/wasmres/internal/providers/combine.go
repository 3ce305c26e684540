package providers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/policy"
)

// Configs reads [Flags] for one provider or several. With several, the name of each is that of its file, and each grant
// names its provider.
func Configs(c *cli.Context, files []string, log cli.LogHandler) ([]app.Config, error) {
	if len(files) == 1 {
		cfg, err := Config(c, files[0], log)
		return []app.Config{cfg}, err
	}
	common, err := CommonConfig(c, log)
	if err != nil {
		return nil, err
	}
	names, err := providerNames(c, files)
	if err != nil {
		return nil, err
	}
	granted, err := grantsByName(c, names)
	if err != nil {
		return nil, err
	}
	configs := make([]app.Config, len(files))
	for i, name := range names {
		p, err := granted[name].policy(c)
		if err != nil {
			return nil, err
		}
		configs[i] = applyPolicy(c, common, p)
		configs[i].Name = name
		if err := SetModule(c, &configs[i], files[i]); err != nil {
			return nil, fmt.Errorf("provider %s: %w", name, err)
		}
	}
	return configs, nil
}

// grantsByName returns the grants of several providers, by name. --kv grants each of them a store of its own.
func grantsByName(c *cli.Context, names []string) (map[string]grants, error) {
	granted := map[string]grants{}
	for _, name := range names {
		granted[name] = grants{Flags: policy.Flags{KV: c.Bool("kv")}}
	}
	for _, f := range []struct {
		flag, form string
		of         func(*grants) *[]string
	}{
		{"policy", "NAME=FILE", func(g *grants) *[]string { return &g.files }},
		{"dir", "NAME=HOST:GUEST", func(g *grants) *[]string { return &g.Dir }},
		{"net", "NAME=URL", func(g *grants) *[]string { return &g.Net }},
		{"env", "NAME=VARIABLE", func(g *grants) *[]string { return &g.Env }},
		{"secret", "NAME=SECRET=SOURCE", func(g *grants) *[]string { return &g.Secret }},
		{"sql", "NAME=CONNECTION=DSN", func(g *grants) *[]string { return &g.SQL }},
		{"config", "NAME=KEY=VALUE", func(g *grants) *[]string { return &g.Config }},
	} {
		values, err := byProvider(c, f.flag, f.form, names)
		if err != nil {
			return nil, err
		}
		for name, list := range values {
			g := granted[name]
			*f.of(&g) = list
			granted[name] = g
		}
	}
	return granted, nil
}

// providerNames returns the names of providers: those of their files, without directory and extension, or the last elements
// of their repositories.
func providerNames(c *cli.Context, files []string) (names []string, err error) {
	seen := map[string]bool{}
	for _, file := range files {
		name := references.ShortName(file)
		if seen[name] {
			return nil, cli.Usagef(c, "two providers have the name %q: rename one of the files", name)
		}
		seen[name] = true
		names = append(names, name)
	}
	return names, nil
}

// byProvider returns the values of a flag, which are written NAME=VALUE, by the names of providers.
func byProvider(c *cli.Context, flag, form string, names []string) (map[string][]string, error) {
	values := map[string][]string{}
	for _, spec := range c.StringSlice(flag) {
		i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(spec, name+"=") })
		if i < 0 {
			return nil, cli.Usagef(c, "--%s %s: there are several providers: write it as %s, where NAME is one of %s",
				flag, spec, form, strings.Join(names, ", "))
		}
		values[names[i]] = append(values[names[i]], spec[len(names[i])+1:])
	}
	return values, nil
}
