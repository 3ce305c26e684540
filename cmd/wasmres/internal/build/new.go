package build

import (
	"fmt"
	"path/filepath"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/project"
)

// LanguageUsage ends the usage of a flag whose value is a language.
const LanguageUsage = "`LANGUAGE`: go, rust, c, assemblyscript or javascript"

// NewCommand returns the command new.
func NewCommand() *cli.Command {
	return &cli.Command{
		Name: "new", Usage: "make a project to write a provider in", ArgsUsage: "NAME",
		Description: `Makes a folder with a small provider, its tests and a copy of the guest SDK, and prints the
commands to run next. The provider does the same in every language.

   wasmres new notes
   wasmres new --lang rust notes`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "lang", Value: string(project.Go), Usage: "write it in this " + LanguageUsage},
		},
		OnUsageError: cli.OnUsageError,
		Action:       newProject,
	}
}

func newProject(c *cli.Context) error {
	args, err := cli.Arguments(c, "NAME")
	if err != nil {
		return err
	}
	lang, err := project.ParseLanguage(c.String("lang"))
	if err != nil {
		return cli.Usagef(c, "--lang: %w", err)
	}
	dir := filepath.Clean(args[0])
	if err := project.CheckName(filepath.Base(dir)); err != nil {
		return cli.Usagef(c, "%w", err)
	}
	if err := project.Create(dir, lang, c.App.Version); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "made %s, a provider in %s. What comes next:\n\n", dir, lang.Title())
	for _, step := range project.Steps(dir, lang) {
		fmt.Fprintln(c.App.Writer, "  ", step)
	}
	return nil
}
