package install

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/clientconfig"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/printable"
)

// A provider is what the command line has a client run.
type provider struct {
	*providers.Described
	name    string // of the server
	program string // path of wasmres
	module  string // absolute path or reference
	flags   []string
	tools   bool
	env     map[string]string
}

// describe opens the provider of the command line without grants, so that it says its name and what it requests.
func describe(c *cli.Context) (*provider, error) {
	arg, _, err := providers.Arguments(c)
	if err != nil {
		return nil, err
	}
	name := c.String("name")
	if name != clientconfig.SafeName(name) {
		return nil, cli.Usagef(c, "--name %s: use at most %d lower-case letters, digits and single dashes, and no word with a meaning of its own", name, clientconfig.MaxName)
	}
	p := &provider{tools: c.Bool("tools"), env: movedFolders()}
	if p.flags, err = providers.SetFlags(c); err != nil {
		return nil, err
	}
	if p.module, err = moduleArgument(c, arg); err != nil {
		return nil, err
	}
	if p.program, err = programPath(); err != nil {
		return nil, err
	}
	if p.Described, err = providers.Describe(c, arg); err != nil {
		return nil, err
	}
	p.name = cmp.Or(name, clientconfig.SafeName(p.Manifest.Name), shortName(arg), "provider")
	return p, nil
}

// moduleArgument returns the argument that names the module from every folder.
func moduleArgument(c *cli.Context, arg string) (string, error) {
	if !references.IsReference(arg) {
		return filepath.Abs(arg)
	}
	r, err := references.Parse(c, arg)
	if err != nil || r.Layout == "" {
		return arg, err
	}
	r.Layout, err = filepath.Abs(r.Layout)
	return r.String(), err
}

// programPath returns the path of wasmres by which the user started it, which a new version has as well: the file may be in a
// folder of this version.
func programPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the file of wasmres, which the client is to start: %w: on Linux, mount /proc", err)
	}
	here, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	if named, err := exec.LookPath(os.Args[0]); err == nil {
		named, err = filepath.Abs(named)
		if info, statErr := os.Stat(named); err == nil && statErr == nil && os.SameFile(here, info) {
			return named, nil
		}
	}
	return self, nil
}

// movedFolders returns the variables by which the user has moved folders of wasmres. A client may start programs without them.
func movedFolders() map[string]string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	moved := map[string]string{}
	for name, below := range map[string]string{
		"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state", "XDG_CACHE_HOME": ".cache",
		"DOCKER_CONFIG": ".docker",
	} {
		if dir := os.Getenv(name); filepath.IsAbs(dir) && filepath.Clean(dir) != filepath.Join(home, below) {
			moved[name] = dir
		}
	}
	return moved
}

// server returns what a client is to start.
func (p *provider) server(client clientconfig.Client) (clientconfig.Server, error) {
	args := append([]string{"run"}, p.flags...)
	if p.tools || client.NeedsTools {
		args = append(args, "--tools")
	}
	s := clientconfig.Server{Name: p.name, Command: p.program, Args: append(args, p.module), Env: p.env}
	for _, text := range append([]string{s.Command}, s.Args...) {
		if client.Expands && strings.Contains(text, "$") {
			return s, fmt.Errorf("%s would replace what follows the $ in %q: use another path or value", client.Title, text)
		}
	}
	return s, nil
}

// isIn reports whether an entry runs the same provider: the same file, or one of the same repository.
func (p *provider) isIn(e clientconfig.Entry) bool {
	return slices.ContainsFunc(e.Args[1:], func(arg string) bool {
		if arg == p.module {
			return true
		}
		a, err := os.Stat(arg)
		b, err2 := os.Stat(p.module)
		if err == nil && err2 == nil && os.SameFile(a, b) {
			return true
		}
		return references.SameRepository(arg, p.module)
	})
}

// missing returns what the provider requests and neither the command line nor an approval grants.
func (p *provider) missing() []approval.Requested {
	d := approval.Decide(p.Request)
	if d.Outcome == approval.Granted {
		return d.Missing(d.Policy)
	}
	return d.Missing(&policy.Policy{})
}

// approve has the user approve what the provider requests, and says what it will lack.
func (p *provider) approve(c *cli.Context) error {
	granted, err := p.Approve(c)
	if err != nil {
		return err
	}
	for _, a := range approval.Decide(p.Request).Missing(granted) {
		fmt.Fprintf(c.App.ErrWriter, "The provider also requests %s, which is not granted.\n", printable.Line(a.Capability))
	}
	if names := variables(granted); len(names) > 0 {
		fmt.Fprintf(c.App.ErrWriter, "The provider gets the environment variables %s of the client. Some clients pass on few: add them to \"env\" of the entry if they are missing.\n",
			printable.Line(strings.Join(names, ", ")))
	}
	return nil
}

// variables returns the environment variables that a policy reads.
func variables(p *policy.Policy) []string {
	names := slices.Clone(p.Environment)
	for _, s := range p.Secrets {
		names = append(names, s.Env)
	}
	for _, s := range p.SQL {
		names = append(names, s.DSNEnv)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}
