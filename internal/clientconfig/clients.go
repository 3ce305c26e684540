package clientconfig

import (
	"slices"
	"strings"
)

// A Client is an MCP client with a configuration file of one user or of one project.
type Client struct {
	ID    string // for the command line
	Title string
	// Project is true if the file belongs to the working folder, and not to the user.
	Project bool
	// NeedsTools is true if the client shows its user tools of servers and not their resources.
	NeedsTools bool
	// Expands is true if the client replaces a $ and a name after it, in texts of an entry, by a variable.
	Expands bool

	table  string // of the servers in the file
	format format
	fields func(Server) []field
	file   func(System) string   // empty if there is none on that system
	traces func(System) []string // files and folders of which one exists if the client is installed
}

// A Server is how a client starts an MCP server.
type Server struct {
	Name    string
	Command string // absolute path
	Args    []string
	Env     map[string]string // variables that are added to those of the client
}

// Clients returns all known clients, those of users first. The caller may change the slice.
func Clients() []Client { return slices.Clone(clients) }

var clients = []Client{
	{
		ID: "claude-desktop", Title: "Claude Desktop", table: mcpServers, format: jsonc{}, fields: commonFields,
		file: func(s System) string { return s.join(s.claudeDir(), "claude_desktop_config.json") },
	},
	{
		ID: "claude-code", Title: "Claude Code", Expands: true, table: mcpServers, format: jsonc{}, fields: commonFields,
		file: func(s System) string {
			if dir := s.env("CLAUDE_CONFIG_DIR"); dir != "" {
				return s.join(dir, ".claude.json")
			}
			return s.join(s.Home, ".claude.json")
		},
		traces: func(s System) []string { return []string{s.join(s.Home, ".claude.json"), s.join(s.Home, ".claude")} },
	},
	{
		ID: "cursor", Title: "Cursor", Expands: true, table: mcpServers, format: jsonc{}, fields: commonFields,
		file: func(s System) string { return s.join(s.Home, ".cursor", "mcp.json") },
	},
	{
		ID: "vscode", Title: "VS Code", Expands: true, table: "servers", format: jsonc{}, fields: typedFields,
		file: func(s System) string { return s.join(s.settingsDir(), "Code", "User", "mcp.json") },
	},
	{
		ID: "windsurf", Title: "Windsurf", NeedsTools: true, Expands: true, table: mcpServers, format: jsonc{}, fields: commonFields,
		file: func(s System) string { return s.join(s.Home, ".codeium", "windsurf", "mcp_config.json") },
	},
	{
		ID: "zed", Title: "Zed", NeedsTools: true, table: "context_servers", format: jsonc{}, fields: commonFields,
		file: func(s System) string {
			if s.OS == windows {
				return s.join(s.settingsDir(), "Zed", "settings.json")
			}
			return s.join(s.xdgDir(), "zed", "settings.json")
		},
	},
	{
		ID: "codex", Title: "Codex CLI", NeedsTools: true, table: "mcp_servers", format: tomlFormat{}, fields: commonFields,
		file: func(s System) string {
			if dir := s.env("CODEX_HOME"); dir != "" {
				return s.join(dir, "config.toml")
			}
			return s.join(s.Home, ".codex", "config.toml")
		},
	},
	{
		ID: "gemini", Title: "Gemini CLI", Expands: true, table: mcpServers, format: jsonc{}, fields: commonFields,
		file: func(s System) string {
			if home := s.env("GEMINI_CLI_HOME"); home != "" {
				return s.join(home, ".gemini", "settings.json")
			}
			return s.join(s.Home, ".gemini", "settings.json")
		},
	},
	{
		ID: "goose", Title: "Goose", Expands: true, table: "extensions", format: yamlFormat{}, fields: gooseFields,
		file: func(s System) string {
			if s.OS == windows {
				return s.join(s.settingsDir(), "Block", "goose", "config", "config.yaml")
			}
			return s.join(s.xdgDir(), "goose", "config.yaml")
		},
	},
	{
		ID: "lmstudio", Title: "LM Studio", NeedsTools: true, table: mcpServers, format: jsonc{}, fields: commonFields,
		file: func(s System) string {
			// Versions before 0.3 had a folder in ~/.cache, and use it where it exists.
			if old := s.join(s.Home, ".cache", "lm-studio"); !s.exists(s.join(s.Home, ".lmstudio")) && s.exists(old) {
				return s.join(old, "mcp.json")
			}
			return s.join(s.Home, ".lmstudio", "mcp.json")
		},
	},
	{
		ID: "project", Title: "Claude Code, this folder", Project: true, Expands: true, table: mcpServers, format: jsonc{}, fields: commonFields,
		file: func(s System) string {
			if plain := s.join(s.Dir, "mcp.json"); !s.exists(s.join(s.Dir, ".mcp.json")) && s.exists(plain) {
				return plain
			}
			return s.join(s.Dir, ".mcp.json")
		},
	},
	{
		ID: "vscode-project", Title: "VS Code, this folder", Project: true, Expands: true, table: "servers", format: jsonc{}, fields: typedFields,
		file: func(s System) string { return s.join(s.Dir, ".vscode", "mcp.json") },
	},
	{
		ID: "cursor-project", Title: "Cursor, this folder", Project: true, Expands: true, table: mcpServers, format: jsonc{}, fields: commonFields,
		file: func(s System) string { return s.join(s.Dir, ".cursor", "mcp.json") },
	},
}

// mcpServers is the table of servers that most clients share.
const mcpServers = "mcpServers"

// commonFields are those of most clients.
func commonFields(s Server) []field {
	fields := []field{{name: "command", value: s.Command}, {name: "args", value: s.Args}}
	if len(s.Env) > 0 {
		fields = append(fields, field{name: "env", value: s.Env})
	}
	return fields
}

// typedFields are those of clients that want to be told the transport.
func typedFields(s Server) []field {
	return append([]field{{name: "type", value: "stdio"}}, commonFields(s)...)
}

// gooseFields are those of extensions of Goose.
func gooseFields(s Server) []field {
	fields := []field{
		{name: "name", value: s.Name, initial: true},
		{name: "description", value: "MCP resources, served by wasmres", initial: true},
		{name: "type", value: "stdio"},
		{name: "cmd", value: s.Command},
		{name: "args", value: s.Args},
	}
	if len(s.Env) > 0 {
		fields = append(fields, field{name: "envs", value: s.Env})
	}
	return append(fields, field{name: "enabled", value: true, initial: true}, field{name: "timeout", value: 300, initial: true})
}

// File returns the client's configuration file on a system, whether it exists or not; empty if the client has none there.
func (c Client) File(s System) string { return c.file(s) }

// IsFound reports whether the client has left files on a system. A project's client is found if its file exists.
func (c Client) IsFound(s System) bool {
	file := c.File(s)
	switch {
	case c.Project:
		return s.exists(file)
	case c.traces != nil:
		return s.exists(file) || slices.ContainsFunc(c.traces(s), s.exists)
	}
	return s.exists(file) || s.exists(s.dir(file))
}

// MaxName bounds the name of a server, in characters.
const MaxName = 40

// SafeName makes a name for a server of a text that is not to be trusted: of lower-case letters, digits and single dashes, as all
// clients accept it, and never one that a client could take for something else. It is empty if nothing is left.
func SafeName(s string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
		if out.Len() == MaxName {
			break
		}
	}
	name := strings.Trim(out.String(), "-")
	if slices.Contains(reservedNames, name) {
		name += "-provider"
	}
	return name
}

// reservedNames are those that objects of JavaScript have, in which clients keep servers, and those that clients use themselves.
var reservedNames = []string{
	"constructor", "prototype", "proto", "tostring", "valueof", "hasownproperty", "tolocalestring", "isprototypeof", "propertyisenumerable",
	"workspace", "computer-use", "claude-in-chrome", "ide", "developer", "mcp", "default", "all", "none",
}
