package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"syscall"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/runtime"
)

// Command gives the command run.
func Command() *cli.Command {
	const category = "Serving"
	return &cli.Command{
		Name:      "run",
		Usage:     "serve one provider, or several as one, to MCP clients",
		ArgsUsage: providers.ArgsUsage,
		Description: `Speaks the Model Context Protocol, every revision from 2024-11-05 to 2026-07-28, on
standard input and output, or with --http over Streamable HTTP at /mcp.

   wasmres run provider.wasm
   wasmres run ghcr.io/ada/notes:1.0.0
   wasmres run --http 127.0.0.1:8080 provider.wasm
   wasmres run --ui provider.wasm         look at it on a web page
   wasmres run --dir .:/project:ro --config owner=ada project.wasm

Several providers are served as one. Each has a sandbox, limits and grants of its own. Its name
is that of its file, and each grant begins with the name of its provider. If two providers could
serve a URI, it goes to the one with the more specific claim.

   wasmres run hello.wasm notes.wasm project.wasm --dir project=.:/project:ro

In the configuration of an MCP client:

   {"mcpServers": {"hello": {"command": "wasmres", "args": ["run", "/path/to/hello.wasm"]}}}`,
		Flags: append(providers.Flags(providers.ApprovalsFlag(),
			&cli.StringFlag{Name: "http", Category: category, Usage: "serve Streamable HTTP at this `ADDRESS`, as in 127.0.0.1:8080 or just :8080, instead of stdin and stdout; 0.0.0.0:8080 listens on all networks"},
			&cli.BoolFlag{Name: "ui", Category: category, Usage: "show the provider on a web page of this machine instead of serving it on stdin and stdout: its resources, templates, log, and what reads cost"},
			&cli.StringSliceFlag{Name: "allowed-host", Category: category, Usage: "also accept requests to this `HOST` name, as in mcp.example.com: that of a reverse proxy or a published port; may be repeated"},
			&cli.StringSliceFlag{Name: "allowed-origin", Category: category, Usage: "also accept requests of web pages with this `ORIGIN`, as in https://example.org; may be repeated"},
			&cli.BoolFlag{Name: "tools", Category: category, Usage: "also offer the resources as tools, for clients that support only tools"},
			&cli.BoolFlag{Name: "expose-errors", Category: category, Usage: "send clients the first line of a provider's ordinary errors, as of an exception, instead of \"Internal error\"; it may hold what is only for the log"},
			&cli.BoolFlag{Name: "provenance", Category: category, Usage: "tell clients which module answered, with reference, digest, version, signer and the digest of its grants, in the _meta of results"},
			cli.LogFormatFlag(category),
		), slices.Concat(operatorFlagList(), clientFlags(), traceFlags())...),
		OnUsageError: cli.OnUsageError,
		Action:       run,
	}
}

func run(c *cli.Context) error {
	defer surviveBrokenPipes()()
	addr, err := HTTPAddress(c)
	if err != nil {
		return err
	}
	files, err := providers.Files(c)
	if err != nil {
		return err
	}
	log, err := cli.LogFormat(c)
	if err != nil {
		return err
	}
	configs, err := providers.Configs(c, files, log)
	if err != nil {
		return err
	}
	configs[0].Server.Tools = c.Bool("tools")
	if err := clientLimits(c, &configs[0]); err != nil {
		return err
	}
	operation, err := openOperation(c, &configs[0].Server, configs[0].Logger)
	if err != nil {
		return err
	}
	defer func() {
		if err := operation.Close(); err != nil {
			configs[0].Logger.Warn("server not closed", "err", err)
		}
	}()
	if err := checkExposure(c, addr, &configs[0].Server); err != nil {
		return err
	}
	endTraces, err := openTraces(c, &configs[0].Server, configs[0].Logger)
	if err != nil {
		return err
	}
	defer endTraces()
	for i := range configs {
		configs[i].Cache, configs[i].ExposeErrors, configs[i].Provenance = true, c.Bool("expose-errors"), c.Bool("provenance")
	}
	ui, err := openPage(c, configs)
	if err != nil {
		return err
	}
	defer func() {
		if err := ui.close(); err != nil {
			configs[0].Logger.Warn("log of the page not removed", "err", err)
		}
	}()
	a, err := providers.OpenWithApproval(c, configs)
	if err != nil {
		return err
	}
	defer a.Close()
	if ui.logs != nil {
		err = serveUI(c, a, ui, addr, configs[0].Logger)
	} else {
		err = serve(c, a, addr, configs[0].Logger)
	}
	logStop(c.Context, configs[0].Logger, err)
	return err
}

// serve serves MCP until the input or the context of c ends.
func serve(c *cli.Context, a *app.App, addr string, logger *slog.Logger) error {
	if addr != "" {
		return serveHTTP(c, a, addr, logger)
	}
	if terminal.IsTerminal(c.App.Reader) {
		fmt.Fprintln(c.App.ErrWriter, "Waiting for an MCP client on standard input. To read the provider without a client, use 'wasmres list' and 'wasmres read'; to serve over HTTP, add --http 127.0.0.1:8080.")
	}
	return a.ServeStdio(c.Context, Pollable(c.App.Reader), c.App.Writer)
}

// logStop logs why the server has stopped: a signal, the end of its input, or an error.
func logStop(ctx context.Context, log *slog.Logger, err error) {
	reason := "end of input"
	switch cause := context.Cause(ctx); {
	case cause != nil:
		reason = cause.Error()
	case err != nil:
		reason = "error"
	}
	if err != nil {
		log.Error("server stopped", "reason", reason, "err", err)
		return
	}
	log.Info("server stopped", "reason", reason)
}

// HTTPAddress reads --http, with the loopback address as the default host. It is empty for standard input and output.
func HTTPAddress(c *cli.Context) (string, error) {
	given := c.String("http")
	if given == "" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(given)
	if err != nil {
		return "", cli.Usagef(c, "--http %s: write it as HOST:PORT, as in 127.0.0.1:8080", given)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return "", cli.Usagef(c, "--http %s: the port must be a number from 0 to 65535", given)
	}
	return net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port), nil
}

// checkExposure refuses an address that every client could read from, before anything is opened.
func checkExposure(c *cli.Context, addr string, o *runtime.ServerOptions) error {
	if addr == "" {
		return nil
	}
	host, _, _ := net.SplitHostPort(addr) // HTTPAddress has checked it
	ip := net.ParseIP(host)
	if ip == nil { // a name: ServeHTTP looks at the address
		return nil
	}
	if err := app.CheckExposed(ip, o, c.Bool("insecure")); err != nil {
		return cli.Usagef(c, "%w", ExplainExposed(addr, runAdvice, err))
	}
	return nil
}

func serveHTTP(c *cli.Context, a *app.App, addr string, logger *slog.Logger) error {
	secure := c.String("tls-cert") != ""
	err := a.ServeHTTP(c.Context, app.HTTPConfig{
		Addr:           addr,
		Insecure:       c.Bool("insecure"),
		AllowedHosts:   c.StringSlice("allowed-host"),
		AllowedOrigins: c.StringSlice("allowed-origin"),
		Ready: func(bound net.Addr) {
			url := Endpoint(bound, secure)
			if c.String("log-format") == cli.FormatJSON {
				logger.Info("serving", "url", url)
				return
			}
			fmt.Fprintf(c.App.ErrWriter, "Serving MCP at %s\n", url)
		},
	})
	return ExplainInUse(addr, ExplainExposed(addr, runAdvice, err))
}

// ExplainInUse adds what to do to an error that says that another program listens at the address.
func ExplainInUse(addr string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	host, _, _ := net.SplitHostPort(addr) // net.Listen has parsed it
	return fmt.Errorf("another program listens at %s: end it, or choose another port, as with --http %s (%w)",
		addr, net.JoinHostPort(host, "0"), err)
}

// Endpoint gives the URL for clients of a server that listens at an address; secure is with TLS.
func Endpoint(bound net.Addr, secure bool) string {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	tcp, ok := bound.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return fmt.Sprintf("%s://%s/mcp", scheme, bound)
	}
	return fmt.Sprintf("%s://127.0.0.1:%d/mcp and all other addresses of this machine", scheme, tcp.Port)
}
