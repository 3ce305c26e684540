package machine

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
)

// A clientConfig is the configuration file of an MCP client of this user, with the servers in it that wasmres runs.
type clientConfig struct {
	Client  string   `json:"client"`
	File    string   `json:"file"`
	Servers []string `json:"servers"`         // their names
	Problem string   `json:"error,omitempty"` // what is wrong with the file, or with a server in it
}

const maxClientConfig = 4 << 20 // bytes

// clientFiles returns clients and their configuration files, in the home, configuration and working directories.
func clientFiles() (files [][2]string) {
	add := func(client, dir string, err error, below ...string) {
		if err == nil {
			files = append(files, [2]string{client, filepath.Join(append([]string{dir}, below...)...)})
		}
	}
	home, noHome := os.UserHomeDir()
	settings, noSettings := os.UserConfigDir()
	add("Claude Desktop", settings, noSettings, "Claude", "claude_desktop_config.json")
	add("Claude Code", home, noHome, ".claude.json")
	add("Cursor", home, noHome, ".cursor", "mcp.json")
	add("VS Code", settings, noSettings, "Code", "User", "mcp.json")
	add("Windsurf", home, noHome, ".codeium", "windsurf", "mcp_config.json")
	add("Gemini CLI", home, noHome, ".gemini", "settings.json")
	add("Claude Code, this folder", ".", nil, ".mcp.json")
	add("VS Code, this folder", ".", nil, ".vscode", "mcp.json")
	add("Cursor, this folder", ".", nil, ".cursor", "mcp.json")
	return files
}

// clientConfigs reads the configurations that exist.
func clientConfigs() []clientConfig {
	all := []clientConfig{}
	for _, f := range clientFiles() {
		text, err := readUpTo(f[1], maxClientConfig)
		if os.IsNotExist(err) {
			continue
		}
		one := clientConfig{Client: f[0], File: f[1], Servers: []string{}}
		if err == nil {
			err = one.read(text)
		}
		if err != nil {
			one.Problem = err.Error()
		}
		all = append(all, one)
	}
	return all
}

func readUpTo(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", file, most)
	}
	return text, err
}

// read finds the servers that wasmres runs. It gives an error if the provider of one of them does not exist.
func (c *clientConfig) read(text []byte) error {
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	var config struct {
		MCPServers map[string]server `json:"mcpServers"`
		Servers    map[string]server `json:"servers"` // of VS Code
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return fmt.Errorf("not a configuration of servers: %w", err)
	}
	var problem error
	for _, servers := range []map[string]server{config.MCPServers, config.Servers} {
		for name, s := range servers {
			if strings.TrimSuffix(filepath.Base(s.Command), ".exe") != "wasmres" {
				continue
			}
			c.Servers = append(c.Servers, name)
			for _, arg := range s.Args {
				if _, err := os.Stat(arg); strings.HasSuffix(arg, ".wasm") && err != nil {
					problem = fmt.Errorf("provider of server %s: %w", name, err)
				}
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
