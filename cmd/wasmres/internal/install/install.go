package install

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/clientconfig"
	"github.com/wasmres/wasmres/internal/printable"
)

const category = "Installing"

// Command returns the command install.
func Command() *cli.Command {
	return &cli.Command{
		Name: "install", Usage: "add a provider to the configuration of MCP clients", ArgsUsage: providers.ArgUsage,
		Description: `Shows what it would change in the configuration of each MCP client of this user, asks, and keeps a
backup. If the provider requests capabilities that are not granted, it asks for them first.

   wasmres install notes.wasm
   wasmres install ghcr.io/ada/notes:1.0.0 --client cursor --client codex
   wasmres install notes.wasm --dir ~/notes:/notes --yes

Further flags are those of 'wasmres run --help': install writes them into the entry. Clients:
` + clientList(7) + `.`,
		Flags: append([]cli.Flag{
			clientFlag(),
			&cli.StringFlag{Name: "name", Category: category, Usage: "call the server `NAME` in the clients (default: the name of the provider)"},
			yesFlag(),
			&cli.BoolFlag{Name: "print", Category: category, Usage: "print the configuration instead of writing it"},
			&cli.BoolFlag{Name: "list", Category: category, Usage: "list the clients of this user, and which servers wasmres runs for them"},
			&cli.BoolFlag{Name: "tools", Category: category, Usage: "also offer the resources as tools; clients that support only tools get this anyway"},
			cli.Choice(&cli.StringFlag{Name: "output-format", Category: category, Value: cli.FormatTable, Usage: "with --list, print as `FORMAT`: table, json or yaml"}, cli.FormatTable, cli.FormatJSON, "yaml"),
		}, openingFlags()...),
		OnUsageError: cli.OnUsageError,
		Action:       install,
	}
}

func clientFlag() cli.Flag {
	f := &cli.StringSliceFlag{Name: "client", Category: category, Usage: "change the configuration of this `CLIENT` (default: all that are found); may be repeated"}
	return cli.Choices(f, clientNames()...)
}

func yesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Category: category, Usage: "change configurations without asking; it does not grant anything"}
}

// clientList names all clients, with a line break after the first few.
func clientList(first int) string {
	ids := clientNames()
	return strings.Join(ids[:first], ", ") + ",\n" + strings.Join(ids[first:], ", ")
}

func clientNames() (ids []string) {
	for _, c := range clientconfig.Clients() {
		ids = append(ids, c.ID)
	}
	return ids
}

func install(c *cli.Context) error {
	system, err := clientconfig.ThisSystem()
	if err != nil {
		return err
	}
	if c.Bool("list") {
		return list(c, system)
	}
	clients, err := chosenClients(c, system)
	if err != nil {
		return err
	}
	p, err := describe(c)
	if err != nil {
		return err
	}
	if c.Bool("print") {
		return p.print(c, clients)
	}
	if len(clients) == 0 {
		return fmt.Errorf("no MCP client was found: name one with --client, or print the configuration with --print; the clients are %s", clientIDs())
	}
	changes, problem := p.changes(clients, system)
	if len(changes) == 0 {
		return problem
	}
	if err := p.approve(c); err != nil {
		return err
	}
	return errors.Join(apply(c, changes), problem)
}

// chosenClients returns the clients of --client, or all of the user that are found. With --print it looks for none.
func chosenClients(c *cli.Context, system clientconfig.System) (chosen []clientconfig.Client, err error) {
	all := clientconfig.Clients()
	for _, id := range c.StringSlice("client") {
		found := false
		for _, client := range all {
			if client.ID == id {
				chosen, found = append(chosen, client), true
			}
		}
		if !found {
			return nil, cli.Usagef(c, "--client %s: there is no such client: it is one of %s", id, clientIDs())
		}
	}
	if len(chosen) > 0 || c.Bool("print") {
		return chosen, nil
	}
	for _, client := range all {
		if !client.Project && client.IsFound(system) {
			chosen = append(chosen, client)
		}
	}
	return chosen, nil
}

func clientIDs() string { return strings.ReplaceAll(clientList(1), "\n", " ") }

// changes returns what installing the provider changes for each client; the error is about the clients without a change.
func (p *provider) changes(clients []clientconfig.Client, system clientconfig.System) (changes []*clientconfig.Change, problem error) {
	for _, client := range clients {
		change, err := p.change(client, system)
		if err != nil {
			problem = errors.Join(problem, fmt.Errorf("%s: %w", client.Title, err))
			continue
		}
		changes = append(changes, change)
	}
	return changes, problem
}

func (p *provider) change(client clientconfig.Client, system clientconfig.System) (*clientconfig.Change, error) {
	server, err := p.server(client)
	if err != nil {
		return nil, err
	}
	d, err := clientconfig.Open(client, system)
	if err != nil {
		return nil, err
	}
	if e, ok := d.Entry(server.Name); ok {
		switch {
		case !e.IsWasmres(server.Command):
			return nil, fmt.Errorf("%s has a server %s that wasmres does not run: choose another name with --name", d.File, e.Name)
		case !p.isIn(e):
			return nil, fmt.Errorf("%s has a server %s that is another provider: choose another name with --name, or remove it with: wasmres uninstall %s", d.File, e.Name, e.Name)
		}
	}
	return d.Set(server)
}

// apply shows changes, asks about each and writes it.
func apply(c *cli.Context, changes []*clientconfig.Change) (problem error) {
	tty, closeTTY := providers.AskingTerminal(c)
	if tty != nil {
		defer closeTTY()
	}
	for _, change := range changes {
		if err := applyOne(c, change, tty); err != nil {
			problem = errors.Join(problem, err)
		}
	}
	return problem
}

func applyOne(c *cli.Context, change *clientconfig.Change, tty *approval.Terminal) error {
	out, title := c.App.Writer, change.Client.Title
	if change.IsNone() {
		fmt.Fprintf(out, "%s: nothing to change in %s\n", title, printable.Line(change.File))
		return nil
	}
	fmt.Fprintf(out, "%s:\n", title)
	for line := range strings.Lines(change.Diff()) {
		fmt.Fprintln(out, terminal.Clip(printable.Line(strings.TrimRight(line, "\r\n")), maxLine))
	}
	if !c.Bool("yes") {
		if tty == nil {
			return cli.Usagef(c, "%s: nothing was written: there is no terminal to ask on: add --yes", title)
		}
		yes, err := tty.Confirm(c.Context, "Write this to the configuration of "+title+"? yes or No: ")
		if err != nil || !yes {
			fmt.Fprintln(out, "Nothing was written.")
			return err
		}
	}
	backup, err := change.Write(time.Now())
	switch {
	case errors.Is(err, clientconfig.ErrChanged):
		return cli.Conflict(err)
	case err != nil:
		return fmt.Errorf("%s: %w", title, err)
	}
	fmt.Fprintf(out, "%s: written. Restart it, or reload its servers.\n", title)
	if backup != "" {
		fmt.Fprintf(out, "Backup: %s\n", printable.Line(backup))
	}
	return nil
}

// maxLine bounds a line of a difference, in characters. Some clients write their configuration on one line.
const maxLine = 400

// print prints the configuration for each client; that which most of them share if there is none.
func (p *provider) print(c *cli.Context, clients []clientconfig.Client) error {
	if len(clients) == 0 {
		clients = clientconfig.Clients()[:1]
	}
	for i, client := range clients {
		server, err := p.server(client)
		if err != nil {
			return err
		}
		text, err := client.Snippet(server)
		if err != nil {
			return err
		}
		if len(clients) > 1 {
			if i > 0 {
				fmt.Fprintln(c.App.Writer)
			}
			fmt.Fprintf(c.App.Writer, "%s:\n", client.Title)
		}
		fmt.Fprint(c.App.Writer, text)
	}
	for _, a := range p.missing() {
		fmt.Fprintf(c.App.ErrWriter, "The provider requests %s, which is not granted: see 'wasmres permission grant'.\n", printable.Line(a.Capability))
	}
	return nil
}

// openingFlags returns the flags of commands that open a provider.
func openingFlags() []cli.Flag {
	return providers.Flags(providers.ApprovalsFlag())
}

// shortName is the name of a provider that has no name of its own.
func shortName(arg string) string { return clientconfig.SafeName(references.ShortName(arg)) }
