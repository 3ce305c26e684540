package install

import (
	"errors"
	"fmt"
	"os"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/clientconfig"
)

// UninstallCommand returns the command uninstall.
func UninstallCommand() *cli.Command {
	return &cli.Command{
		Name: "uninstall", Usage: "remove a provider from the configuration of MCP clients", ArgsUsage: "NAME",
		Description: `Removes the server NAME from the configuration of the clients that have it, as 'wasmres install --list'
shows it. It shows what it would change, asks, and keeps a backup. It removes only what wasmres
runs. What was approved stays: see 'wasmres permission reset'.

   wasmres uninstall notes
   wasmres uninstall notes --client cursor --yes`,
		Flags:        []cli.Flag{clientFlag(), yesFlag()},
		OnUsageError: cli.OnUsageError,
		Action:       uninstall,
	}
}

func uninstall(c *cli.Context) error {
	args, err := cli.Arguments(c, "NAME")
	if err != nil {
		return err
	}
	system, err := clientconfig.ThisSystem()
	if err != nil {
		return err
	}
	clients, err := chosenClients(c, system)
	if err != nil {
		return err
	}
	var changes []*clientconfig.Change
	var problem error
	for _, client := range clients {
		change, err := removal(client, system, args[0])
		if err != nil {
			problem = errors.Join(problem, fmt.Errorf("%s: %w", client.Title, err))
		}
		if change != nil {
			changes = append(changes, change)
		}
	}
	if len(changes) == 0 && problem == nil {
		return fmt.Errorf("no client has a server %q: see 'wasmres install --list', and name a project's with --client", args[0])
	}
	return errors.Join(apply(c, changes), problem)
}

// removal returns the change that removes a server from a client; nil if the client does not have it.
func removal(client clientconfig.Client, system clientconfig.System, name string) (*clientconfig.Change, error) {
	d, err := clientconfig.Open(client, system)
	if err != nil {
		return nil, err
	}
	e, ok := d.Entry(name)
	if !ok {
		return nil, nil
	}
	program, _ := os.Executable() // without it, servers are known by the name of the program
	if !e.IsWasmres(program) {
		return nil, fmt.Errorf("%s has a server %s that wasmres does not run: remove it in the client", d.File, name)
	}
	return d.Remove(name)
}
