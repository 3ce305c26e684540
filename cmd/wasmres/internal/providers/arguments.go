package providers

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/project"
)

// How the usage of a command shows providers: one, or one or several.
const (
	ArgUsage  = "[PROVIDER.wasm|REFERENCE]"
	ArgsUsage = "[PROVIDER.wasm|REFERENCE...]"
)

// Arguments returns the file or reference of a provider and the arguments after it, which must be as many as their names. In the
// directory of a project the file may be missing: Arguments then gives the module built there, and prints its name to
// standard error.
func Arguments(c *cli.Context, names ...string) (file string, rest []string, err error) {
	given := c.Args().Slice()
	if len(given) <= len(names) && (len(given) == 0 || !isModule(given[0])) {
		if file, err = ProjectModule(c); err != nil {
			return "", nil, err
		}
		given = append([]string{file}, given...)
	}
	if err := checkOrder(c, given); err != nil {
		return "", nil, err
	}
	if len(given) <= len(names) {
		return "", nil, cli.Usagef(c, "missing argument %s", names[len(given)-1])
	}
	if len(given) > len(names)+1 {
		return "", nil, cli.Usagef(c, "one argument too many: %q", given[len(names)+1])
	}
	return given[0], given[1:], nil
}

// Files returns the files of one provider or several, which are all arguments of a command. In the directory of a
// project they may be missing, as for [Arguments].
func Files(c *cli.Context) ([]string, error) {
	if c.NArg() > 0 {
		return c.Args().Slice(), nil
	}
	file, err := ProjectModule(c)
	return []string{file}, err
}

// ProjectModule returns the module built in the working directory, and prints its name to standard error.
func ProjectModule(c *cli.Context) (string, error) {
	file, err := project.Built(".")
	switch {
	case errors.Is(err, project.ErrNoProject):
		return "", cli.Usagef(c, "missing argument PROVIDER.wasm: there is no project in this folder to take it from")
	case err != nil:
		return "", fmt.Errorf("%s: %w", c.Command.Name, err)
	}
	fmt.Fprintf(c.App.ErrWriter, "The provider is %s, of the project in this folder.\n", file)
	return file, nil
}

// SetModule says which module a provider is: that of a file, or of a reference, which it gets into the store.
func SetModule(c *cli.Context, cfg *app.Config, arg string) error {
	if !references.IsReference(arg) {
		cfg.File = arg
		if arg == "" {
			return nil
		}
		return references.CheckFile(c, arg)
	}
	m, err := references.Obtain(c, arg)
	cfg.File, cfg.Digest, cfg.From = m.File, m.Digest, m.From
	return err
}

func isModule(arg string) bool {
	info, err := os.Stat(arg)
	return strings.HasSuffix(arg, ".wasm") || err == nil && info.Mode().IsRegular() || references.IsReference(arg)
}

// checkOrder refuses a provider after another argument, and says how to write the command line.
func checkOrder(c *cli.Context, args []string) error {
	if isModule(args[0]) {
		return nil
	}
	for i, arg := range args[1:] {
		if !strings.HasSuffix(arg, ".wasm") {
			continue
		}
		swapped := append([]string{arg}, args[:i+1]...)
		return cli.Usagef(c, "the provider comes first: %s %s", c.Command.HelpName, strings.Join(swapped, " "))
	}
	return nil
}
