package main

import (
	"cmp"
	"fmt"
	"net"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/wasmres/wasmres/internal/app"
)

func runCommand() *cli.Command {
	const category = "Serving"
	return &cli.Command{
		Name:      "run",
		Usage:     "serve a provider's resources to MCP clients",
		ArgsUsage: "PROVIDER.wasm",
		Description: `Speaks the Model Context Protocol, every revision from 2024-11-05 to 2026-07-28, on
standard input and output, or with --http over Streamable HTTP at /mcp.

   wasmres run provider.wasm
   wasmres run --http 127.0.0.1:8080 provider.wasm
   wasmres run --dir .:/project:ro --config owner=ada project.wasm

In the configuration of an MCP client:

   {"mcpServers": {"hello": {"command": "wasmres", "args": ["run", "/path/to/hello.wasm"]}}}`,
		Flags: providerFlags(
			&cli.StringFlag{Name: "http", Category: category, Usage: "serve Streamable HTTP at this `ADDRESS`, as in 127.0.0.1:8080 or just :8080, instead of stdin and stdout; 0.0.0.0:8080 is for everybody"},
			&cli.StringSliceFlag{Name: "allowed-host", Category: category, Usage: "also accept this `HOST` name in requests; may be repeated"},
			&cli.StringSliceFlag{Name: "allowed-origin", Category: category, Usage: "also accept web pages of this `ORIGIN`, as in https://example.org; may be repeated"},
			&cli.BoolFlag{Name: "tools", Category: category, Usage: "also offer the resources as tools, for clients that know tools only"},
		),
		OnUsageError: onUsageError,
		Action:       run,
	}
}

func run(c *cli.Context) error {
	args, err := arguments(c, "PROVIDER.wasm")
	if err != nil {
		return err
	}
	cfg, err := providerConfig(c, args[0])
	if err != nil {
		return err
	}
	cfg.Tools = c.Bool("tools")
	a, err := app.Open(c.Context, cfg)
	if err != nil {
		return err
	}
	defer a.Close()
	if c.String("http") != "" {
		return serveHTTP(c, a)
	}
	if terminal(c.App.Reader) {
		fmt.Fprintln(c.App.ErrWriter, "Waiting for an MCP client on standard input. To look at the provider without one, use 'wasmres list' and 'wasmres read'; to serve over HTTP, add --http 127.0.0.1:8080.")
	}
	return a.ServeStdio(c.Context, c.App.Reader, c.App.Writer)
}

func serveHTTP(c *cli.Context, a *app.App) error {
	host, port, err := net.SplitHostPort(c.String("http"))
	if err != nil {
		return usagef(c, "--http %s: write it as HOST:PORT, as in 127.0.0.1:8080", c.String("http"))
	}
	return a.ServeHTTP(c.Context, app.HTTPConfig{
		Addr:           net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port),
		AllowedHosts:   c.StringSlice("allowed-host"),
		AllowedOrigins: c.StringSlice("allowed-origin"),
		Ready: func(bound net.Addr) {
			fmt.Fprintf(c.App.ErrWriter, "Serving MCP at http://%s/mcp\n", bound)
		},
	})
}

// terminal reports whether a person sits at the other end.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
