// Package serve has the command run, which serves providers to MCP clients.
package serve
