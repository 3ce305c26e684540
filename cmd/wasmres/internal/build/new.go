package build

import (
	"fmt"
	"path/filepath"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/project"
)

// LanguageUsage ends the usage of a flag whose value is a language.
const LanguageUsage = "`LANGUAGE`: go, rust, c, assemblyscript, javascript, typescript or python"

// Languages returns the values of such a flag.
func Languages() (names []string) {
	for _, lang := range project.Languages() {
		names = append(names, string(lang))
	}
	return names
}

// NewCommand returns the command new.
func NewCommand() *cli.Command {
	return &cli.Command{
		Name: "new", Usage: "make a project to write a provider in", ArgsUsage: "NAME",
		Description: `Makes a folder with a small provider, its tests and a copy of the guest SDK, and prints the
commands to run next. The provider does the same in every language.

   wasmres new notes
   wasmres new --lang rust notes

With --image the project gets a Dockerfile, too, for an image with wasmres and the provider; a
project that exists gets just that.

   wasmres new --image io.github.ada/notes notes`,
		Flags: []cli.Flag{
			cli.Choice(&cli.StringFlag{Name: "lang", Value: string(project.Go), Usage: "write it in this " + LanguageUsage}, Languages()...),
			&cli.StringFlag{Name: "image", Usage: "add a Dockerfile for an image that the public MCP registry lists as this `SERVER`, as in io.github.ada/notes"},
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
	server := c.String("image")
	if _, err := project.Detect(dir); err == nil && server != "" {
		return addImage(c, dir, server)
	}
	if err := project.Create(dir, lang, c.App.Version); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "made %s, a provider in %s. What comes next:\n\n", dir, lang.Title())
	for _, step := range project.Steps(dir, lang) {
		fmt.Fprintln(c.App.Writer, "  ", step)
	}
	if server != "" {
		return addImage(c, dir, server)
	}
	return nil
}

func addImage(c *cli.Context, dir, server string) error {
	if err := project.AddImage(dir, server); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "made %s, which says how to build an image of the MCP server %s\n", filepath.Join(dir, "Dockerfile"), server)
	return nil
}
