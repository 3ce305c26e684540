package clientconfig_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/clientconfig"
)

// TestFiles names the configuration of each client on each system.
func TestFiles(t *testing.T) {
	variables := map[string]map[string]string{
		"windows": {"APPDATA": `D:\Roaming`, "LOCALAPPDATA": `D:\Local`},
	}
	homes := map[string]string{"linux": "/home/ada", "darwin": "/Users/ada", "windows": `C:\Users\Ada`}
	folders := map[string]string{"linux": "/src", "darwin": "/src", "windows": `C:\src`}
	got := map[string]map[string]string{}
	for _, c := range clientconfig.Clients() {
		got[c.ID] = map[string]string{}
		for os, home := range homes {
			s := clientconfig.System{OS: os, Home: home, Dir: folders[os], Getenv: func(name string) string { return variables[os][name] }}
			got[c.ID][os] = c.File(s)
		}
	}
	want := map[string]map[string]string{
		"claude-desktop": {"linux": "/home/ada/.config/Claude/claude_desktop_config.json", "darwin": "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json", "windows": `D:\Roaming\Claude\claude_desktop_config.json`},
		"claude-code":    {"linux": "/home/ada/.claude.json", "darwin": "/Users/ada/.claude.json", "windows": `C:\Users\Ada\.claude.json`},
		"cursor":         {"linux": "/home/ada/.cursor/mcp.json", "darwin": "/Users/ada/.cursor/mcp.json", "windows": `C:\Users\Ada\.cursor\mcp.json`},
		"vscode":         {"linux": "/home/ada/.config/Code/User/mcp.json", "darwin": "/Users/ada/Library/Application Support/Code/User/mcp.json", "windows": `D:\Roaming\Code\User\mcp.json`},
		"windsurf":       {"linux": "/home/ada/.codeium/windsurf/mcp_config.json", "darwin": "/Users/ada/.codeium/windsurf/mcp_config.json", "windows": `C:\Users\Ada\.codeium\windsurf\mcp_config.json`},
		"zed":            {"linux": "/home/ada/.config/zed/settings.json", "darwin": "/Users/ada/.config/zed/settings.json", "windows": `D:\Roaming\Zed\settings.json`},
		"codex":          {"linux": "/home/ada/.codex/config.toml", "darwin": "/Users/ada/.codex/config.toml", "windows": `C:\Users\Ada\.codex\config.toml`},
		"gemini":         {"linux": "/home/ada/.gemini/settings.json", "darwin": "/Users/ada/.gemini/settings.json", "windows": `C:\Users\Ada\.gemini\settings.json`},
		"goose":          {"linux": "/home/ada/.config/goose/config.yaml", "darwin": "/Users/ada/.config/goose/config.yaml", "windows": `D:\Roaming\Block\goose\config\config.yaml`},
		"lmstudio":       {"linux": "/home/ada/.lmstudio/mcp.json", "darwin": "/Users/ada/.lmstudio/mcp.json", "windows": `C:\Users\Ada\.lmstudio\mcp.json`},
		"project":        {"linux": "/src/.mcp.json", "darwin": "/src/.mcp.json", "windows": `C:\src\.mcp.json`},
		"vscode-project": {"linux": "/src/.vscode/mcp.json", "darwin": "/src/.vscode/mcp.json", "windows": `C:\src\.vscode\mcp.json`},
		"cursor-project": {"linux": "/src/.cursor/mcp.json", "darwin": "/src/.cursor/mcp.json", "windows": `C:\src\.cursor\mcp.json`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestFilesThatVariablesAndFoldersMove moves configurations.
func TestFilesThatVariablesAndFoldersMove(t *testing.T) {
	const store = `C:\Users\Ada\AppData\Local\Packages\Claude_pzs8sxrjxfjjc`
	for _, tt := range []struct {
		id, os, want string
		variables    map[string]string
		exists       []string
	}{
		{"claude-code", "linux", "/cfg/.claude.json", map[string]string{"CLAUDE_CONFIG_DIR": "/cfg"}, nil},
		{"codex", "linux", "/cfg/config.toml", map[string]string{"CODEX_HOME": "/cfg"}, nil},
		{"gemini", "linux", "/cfg/.gemini/settings.json", map[string]string{"GEMINI_CLI_HOME": "/cfg"}, nil},
		{"vscode", "linux", "/cfg/Code/User/mcp.json", map[string]string{"XDG_CONFIG_HOME": "/cfg"}, nil},
		{"goose", "darwin", "/cfg/goose/config.yaml", map[string]string{"XDG_CONFIG_HOME": "/cfg"}, nil},
		{"zed", "linux", "/home/.config/zed/settings.json", map[string]string{"XDG_CONFIG_HOME": "relative"}, nil},
		{"lmstudio", "linux", "/home/.cache/lm-studio/mcp.json", nil, []string{"/home/.cache/lm-studio"}},
		{"lmstudio", "linux", "/home/.lmstudio/mcp.json", nil, []string{"/home/.cache/lm-studio", "/home/.lmstudio"}},
		{"project", "linux", "/src/mcp.json", nil, []string{"/src/mcp.json"}},
		{"project", "linux", "/src/.mcp.json", nil, []string{"/src/mcp.json", "/src/.mcp.json"}},
		{"claude-desktop", "windows", store + `\LocalCache\Roaming\Claude\claude_desktop_config.json`, nil, []string{store + `\LocalCache\Roaming\Claude`}},
		{"claude-desktop", "windows", `C:\Users\Ada\AppData\Roaming\Claude\claude_desktop_config.json`, nil, nil},
	} {
		s := clientconfig.System{
			OS: tt.os, Home: "/home", Dir: "/src",
			Getenv: func(name string) string { return tt.variables[name] },
			Exists: func(path string) bool { return slices.Contains(tt.exists, path) },
			Glob: func(pattern string) []string {
				if strings.HasPrefix(store, strings.TrimSuffix(pattern, "*")) {
					return []string{store}
				}
				return nil
			},
		}
		if tt.os == "windows" {
			s.Home = `C:\Users\Ada`
		}
		if got := client(t, tt.id).File(s); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.id, got, tt.want)
		}
	}
}

// TestClientsAreFoundByWhatTheyLeave: a client is found if its configuration exists, or its folder.
func TestClientsAreFoundByWhatTheyLeave(t *testing.T) {
	for _, tt := range []struct {
		made string
		want []string
	}{
		{"Documents", nil},
		{".codex", []string{"codex"}},
		{".cursor", []string{"cursor"}},
		{".claude", []string{"claude-code"}},
		{".config/Code/User", []string{"vscode"}},
		{".config/goose", []string{"goose"}},
		{"project/.vscode", nil},
	} {
		s := system(t)
		must(t, os.MkdirAll(s.Home+"/"+tt.made, 0o700))
		var found []string
		for _, c := range clientconfig.Clients() {
			if c.IsFound(s) {
				found = append(found, c.ID)
			}
		}
		if diff := cmp.Diff(tt.want, found); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", tt.made, diff)
		}
	}
}

func TestSafeName(t *testing.T) {
	for given, want := range map[string]string{
		"notes":                        "notes",
		"My Notes! (v2)":               "my-notes-v2",
		"a_b..c":                       "a-b-c",
		"__proto__":                    "proto-provider",
		"constructor":                  "constructor-provider",
		"../../etc/passwd":             "etc-passwd",
		"x\"]\n[mcp_servers.evil":      "x-mcp-servers-evil",
		"\x1b[31mred":                  "31mred",
		"заметки":                      "",
		"--help":                       "help",
		strings.Repeat("ab", 100):      strings.Repeat("ab", 20),
		strings.Repeat("a", 39) + "-b": strings.Repeat("a", 39),
		"":                             "",
	} {
		got := clientconfig.SafeName(given)
		if got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
		if again := clientconfig.SafeName(got); again != got {
			t.Errorf("%q becomes %q, and then %q", given, got, again)
		}
	}
}
