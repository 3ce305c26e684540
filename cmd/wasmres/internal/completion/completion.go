package completion

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
)

// NewApp makes the program for one command line.
type NewApp func(in io.Reader, out, errOut io.Writer) *cli.App

//go:embed wasmres.bash wasmres.zsh wasmres.fish wasmres.ps1
var scripts embed.FS

// Shells returns, for each shell that has a script, its name and the name of the file that has the script.
func Shells() [][2]string {
	return [][2]string{{"bash", "wasmres.bash"}, {"zsh", "wasmres.zsh"}, {"fish", "wasmres.fish"}, {"powershell", "wasmres.ps1"}}
}

// Script returns the script of a file that Shells names.
func Script(file string) []byte {
	text, err := scripts.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	return text
}

// Command returns the command completion.
func Command() *cli.Command {
	group := cli.Group(&cli.Command{
		Name: "completion", Usage: "print a script with which a shell completes command lines of wasmres",
		Description: `The scripts complete commands, flags, their values, files of providers, and the URIs of a provider, which
they run without any grants.

   source <(wasmres completion bash)                   in ~/.bashrc
   source <(wasmres completion zsh)                    in ~/.zshrc, after compinit
   wasmres completion fish > ~/.config/fish/completions/wasmres.fish
   wasmres completion powershell | Out-String | Invoke-Expression    in $PROFILE`,
	})
	for _, s := range Shells() {
		group.Subcommands = append(group.Subcommands, &cli.Command{
			Name: s[0], Usage: "print the script for " + s[0], OnUsageError: cli.OnUsageError,
			Action: func(c *cli.Context) error {
				if _, err := cli.Arguments(c); err != nil {
					return err
				}
				_, err := c.App.Writer.Write(Script(s[1]))
				return err
			},
		})
	}
	return group
}

// WordsCommand returns the hidden command that the scripts run. Its arguments are the words of a command line before the one
// to complete, without the name of the program; --word has the beginning of that one.
//
// The first line of what it prints says what to offer besides: none, files, folders, or wasm for modules and the folders on
// the way to them. The others have a word each, and after a tab what it is. It prints nothing else, and no errors.
func WordsCommand(newApp NewApp) *cli.Command {
	return &cli.Command{
		Name: "__complete", Hidden: true, HideHelp: true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "word"},
			&cli.DurationFlag{Name: "patience", Value: patience}, // with a provider
		},
		Action: func(c *cli.Context) error {
			l := &line{program: cli.Describe(newApp(nil, nil, nil)), newApp: newApp, words: c.Args().Slice(), word: c.String("word"), patience: c.Duration("patience")}
			offer := l.complete(c.Context)
			fmt.Fprintln(c.App.Writer, offer.besides)
			for _, w := range offer.words {
				fmt.Fprintln(c.App.Writer, strings.TrimRight(cell(w.text)+"\t"+cell(w.usage), "\t"))
			}
			return nil
		},
	}
}
