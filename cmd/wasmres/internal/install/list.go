package install

import (
	"fmt"
	"os"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/clientconfig"
	"github.com/wasmres/wasmres/internal/printable"
)

// A listed client is what --list says of one, as JSON.
type listed struct {
	Client  string         `json:"client"` // its ID
	Title   string         `json:"title"`
	File    string         `json:"file"`
	Servers []listedServer `json:"servers"` // those that wasmres runs
	Problem string         `json:"error,omitempty"`
}

type listedServer struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// list prints the clients that are found, with their servers of wasmres.
func list(c *cli.Context, system clientconfig.System) error {
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	program, _ := os.Executable() // without it, servers are known by the name of the program
	all := []listed{}
	for _, client := range clientconfig.Clients() {
		if client.IsFound(system) {
			all = append(all, listedOf(client, system, program))
		}
	}
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, all)
	}
	if len(all) == 0 {
		fmt.Fprintf(c.App.ErrWriter, "No MCP client was found. wasmres knows: %s.\n", clientIDs())
		return nil
	}
	for _, l := range all {
		l.print(c)
	}
	return nil
}

func listedOf(client clientconfig.Client, system clientconfig.System, program string) listed {
	l := listed{Client: client.ID, Title: client.Title, File: client.File(system), Servers: []listedServer{}}
	d, err := clientconfig.Open(client, system)
	if err != nil {
		l.Problem = err.Error()
		return l
	}
	for _, e := range d.Entries() {
		if e.IsWasmres(program) {
			l.Servers = append(l.Servers, listedServer{e.Name, e.Command, e.Args})
		}
	}
	return l
}

func (l listed) print(c *cli.Context) {
	fmt.Fprintf(c.App.Writer, "%s (%s): %s of wasmres in %s\n", l.Title, l.Client, terminal.Counted(len(l.Servers), "server"), printable.Line(l.File))
	for _, s := range l.Servers {
		fmt.Fprintf(c.App.Writer, "  %s: %s\n", printable.Line(s.Name), terminal.Clip(printable.Line(strings.Join(s.Args, " ")), maxLine))
	}
	if l.Problem != "" {
		fmt.Fprintf(c.App.Writer, "  not readable: %s\n", printable.Line(l.Problem))
	}
}
