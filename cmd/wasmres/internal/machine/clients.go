package machine

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/clientconfig"
)

// A clientConfig is the configuration file of an MCP client of this user, with the servers in it that wasmres runs.
type clientConfig struct {
	Client  string   `json:"client"`
	File    string   `json:"file"`
	Servers []string `json:"servers"`         // their names
	Problem string   `json:"error,omitempty"` // what is wrong with the file, or with a server in it
}

// clientConfigs reads the configurations that exist.
func clientConfigs() []clientConfig {
	all := []clientConfig{}
	system, err := clientconfig.ThisSystem()
	if err != nil {
		return all
	}
	for _, client := range clientconfig.Clients() {
		if file := client.File(system); system.Exists(file) {
			one := clientConfig{Client: client.Title, File: file, Servers: []string{}}
			if err := one.read(client, system); err != nil {
				one.Problem = err.Error()
			}
			all = append(all, one)
		}
	}
	return all
}

// read finds the servers that wasmres runs. It gives an error if the provider of one of them does not exist.
func (c *clientConfig) read(client clientconfig.Client, system clientconfig.System) error {
	d, err := clientconfig.Open(client, system)
	if err != nil {
		return fmt.Errorf("not a configuration of servers: %w", err)
	}
	program, _ := os.Executable() // without it, servers are known by the name of the program
	var problem error
	for _, e := range d.Entries() {
		if !e.IsWasmres(program) {
			continue
		}
		c.Servers = append(c.Servers, e.Name)
		for _, arg := range e.Args {
			if _, err := os.Stat(arg); strings.HasSuffix(arg, ".wasm") && err != nil {
				problem = fmt.Errorf("provider of server %s: %w", e.Name, err)
			}
		}
	}
	slices.Sort(c.Servers)
	return problem
}

// row returns the row about the file.
func (c *clientConfig) row() [3]string {
	detail := terminal.Counted(len(c.Servers), "server") + " of wasmres in " + c.File
	if len(c.Servers) > 0 {
		detail += ": " + strings.Join(c.Servers, ", ")
	}
	if c.Problem != "" {
		return [3]string{"client " + c.Client, "failed", detail + "; " + c.Problem}
	}
	return [3]string{"client " + c.Client, "found", detail}
}
