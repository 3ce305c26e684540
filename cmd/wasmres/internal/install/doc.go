// Package install implements the commands install and uninstall, by which MCP clients get providers as servers.
package install
