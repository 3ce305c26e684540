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
		Usage:     "serve the resources of one provider, or of several as one, to MCP clients",
		ArgsUsage: "PROVIDER.wasm...",
		Description: `Speaks the Model Context Protocol, every revision from 2024-11-05 to 2026-07-28, on
standard input and output, or with --http over Streamable HTTP at /mcp.

   wasmres run provider.wasm
   wasmres run --http 127.0.0.1:8080 provider.wasm
   wasmres run --dir .:/project:ro --config owner=ada project.wasm

Several providers are served as one, each in a sandbox of its own with limits of its own. They
are called as their files are, and a grant says by that name whose it is. A URI that two of
them could serve belongs to the one that claims it more specifically.

   wasmres run hello.wasm notes.wasm project.wasm --dir project=.:/project:ro

In the configuration of an MCP client:

   {"mcpServers": {"hello": {"command": "wasmres", "args": ["run", "/path/to/hello.wasm"]}}}`,
		Flags: providerFlags(approvalsFlag(),
			&cli.StringFlag{Name: "http", Category: category, Usage: "serve Streamable HTTP at this `ADDRESS`, as in 127.0.0.1:8080 or just :8080, instead of stdin and stdout; 0.0.0.0:8080 is for everybody"},
			&cli.StringSliceFlag{Name: "allowed-host", Category: category, Usage: "also accept this `HOST` name in requests; may be repeated"},
			&cli.StringSliceFlag{Name: "allowed-origin", Category: category, Usage: "also accept web pages of this `ORIGIN`, as in https://example.org; may be repeated"},
			&cli.IntFlag{Name: "max-subscriptions", Category: category, Value: 1024, Usage: "at most this many `STREAMS` of changes at once; one takes some 10 KiB"},
			&cli.BoolFlag{Name: "tools", Category: category, Usage: "also offer the resources as tools, for clients that know tools only"},
		),
		OnUsageError: onUsageError,
		Action:       run,
	}
}

func run(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef(c, "missing argument PROVIDER.wasm")
	}
	addr, err := httpAddress(c)
	if err != nil {
		return err
	}
	configs, err := providerConfigs(c, c.Args().Slice(), textLog)
	if err != nil {
		return err
	}
	configs[0].Tools, configs[0].MaxSubscriptions = c.Bool("tools"), c.Int("max-subscriptions")
	if configs[0].MaxSubscriptions < 1 {
		return usagef(c, "--max-subscriptions %d: it must be at least 1", configs[0].MaxSubscriptions)
	}
	for i := range configs {
		configs[i].KeepResults = true
	}
	a, err := openApproved(c, configs)
	if err != nil {
		return err
	}
	defer a.Close()
	if addr != "" {
		return serveHTTP(c, a, addr)
	}
	if terminal(c.App.Reader) {
		fmt.Fprintln(c.App.ErrWriter, "Waiting for an MCP client on standard input. To look at the provider without one, use 'wasmres list' and 'wasmres read'; to serve over HTTP, add --http 127.0.0.1:8080.")
	}
	return a.ServeStdio(c.Context, poll(c.App.Reader), c.App.Writer)
}

// httpAddress is where to listen; empty for standard input and output.
func httpAddress(c *cli.Context) (string, error) {
	given := c.String("http")
	if given == "" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(given)
	if err != nil {
		return "", usagef(c, "--http %s: write it as HOST:PORT, as in 127.0.0.1:8080", given)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return "", usagef(c, "--http %s: a port is a number from 0 to 65535", given)
	}
	return net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port), nil
}

func serveHTTP(c *cli.Context, a *app.App, addr string) error {
	return a.ServeHTTP(c.Context, app.HTTPConfig{
		Addr:           addr,
		AllowedHosts:   c.StringSlice("allowed-host"),
		AllowedOrigins: c.StringSlice("allowed-origin"),
		Ready: func(bound net.Addr) {
			fmt.Fprintf(c.App.ErrWriter, "Serving MCP at %s\n", endpoint(bound))
		},
	})
}

// endpoint names an address clients can be given.
func endpoint(bound net.Addr) string {
	tcp, ok := bound.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://%s/mcp", bound)
	}
	return fmt.Sprintf("http://127.0.0.1:%d/mcp and every other address of this machine", tcp.Port)
}

// terminal reports whether a person sits at the other end.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
