package hosting

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/serve"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/runtime/accesslog"
)

// ServeCommand returns the command serve.
func ServeCommand() *cli.Command {
	const category = "Hosting"
	return &cli.Command{
		Name: "serve", Usage: "host the providers of many tenants, each apart, with keys, roles and quotas",
		Description: `Serves each tenant's providers over Streamable HTTP at /t/TENANT/mcp, to clients with a key of
the tenant. A provider runs only while it is called; thousands of tenants may sleep.

   wasmres serve                                  begin: make a tenant and a key
   wasmres serve --config serve.yaml              with listeners and plans
   wasmres serve --config serve.yaml --check
   wasmres serve --config serve.yaml --takeover   replace the running server
   wasmres key new acme --name ada --role reader

With tls: {acme: {agree: true}} of a listener, the server gets the certificates of its hosts and of
those of tenants from a certificate authority, by default Let's Encrypt, and renews them.

With admin.tls in serve.yaml, operators see and manage the server on web pages at /ui of that
address, to which they sign in with an admin key: see 'wasmres admin-key'.

The server reads its files again when they change, after SIGHUP, and for 'wasmres reload'. A
tenant whose files are wrong is served as it last was.`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "config", Category: category, Usage: "read settings from this `FILE` (default: serve.yaml in the data folder)"},
			DataFlag(category),
			&cli.StringFlag{Name: "http", Category: category, Usage: "serve at this `ADDRESS` instead of those of the settings, as in 127.0.0.1:8080"},
			&cli.BoolFlag{Name: "takeover", Category: category, Usage: "replace the server that runs with these settings, without the loss of a request"},
			&cli.BoolFlag{Name: "check", Category: category, Usage: "read all files, print their problems, and end"},
			&cli.StringFlag{Name: "cache-dir", Category: category, EnvVars: []string{"WASMRES_CACHE_DIR"}, Usage: "keep compiled modules in this `FOLDER` (default: cache in the data folder)"},
			cli.LogFormatFlag(category),
			cli.LogLevelFlag(category),
		}, slices.Concat([]cli.Flag{references.StoreFlag()}, references.TrustFlags(), references.ClientFlags())...),
		OnUsageError: cli.OnUsageError, Action: serveTenants,
	}
}

// serveTenants runs a server until a signal ends it.
func serveTenants(c *cli.Context) error {
	if c.NArg() > 0 {
		return cli.Usagef(c, "one argument too many: %q; providers are named in the files of tenants, and 'wasmres run' serves a file", c.Args().First())
	}
	files, err := findFiles(c)
	if err != nil {
		return err
	}
	settings, err := files.read()
	if err != nil {
		return err
	}
	if c.Bool("check") {
		return checkFiles(c, settings)
	}
	logger, isJSON, err := newLogger(c, settings)
	if err != nil {
		return err
	}
	modules := &modules{context: c, registries: settings.Registries, given: filepath.Join(settings.Data, "given")}
	defer modules.close()
	requests, closeLog, err := openAccessLog(settings.AccessLog, c.App.ErrWriter, logger)
	if err != nil {
		return err
	}
	defer closeLog()
	s := &server{
		context: c, settings: settings, isNew: files.isNew, logger: logger, logsJSON: isJSON, config: node.Config{
			AccessLog: requests, Settings: settings, Read: files.read, Module: modules.get, Given: modules.getGiven, Pull: modules.pullGiven, CacheDir: c.String("cache-dir"), Version: c.App.Version, Logger: logger,
		},
	}
	in, err := s.begin()
	if err != nil {
		return err
	}
	return s.run(in)
}

// files are where the settings of a server come from.
type files struct {
	data    string // path, where the settings name no other folder; empty for the folder data beside them
	config  string // path of the settings
	isNamed bool   // --config says it
	http    string // address that replaces those of the settings; empty for none
	isNew   bool   // the files were made now
}

// findFiles finds the settings of --config, or those in the data folder, which are made if there are none.
func findFiles(c *cli.Context) (*files, error) {
	f := &files{config: c.String("config"), http: c.String("http")}
	var err error
	if f.config != "" {
		f.isNamed = true
		if given := c.String("data"); given != "" {
			f.data, err = filepath.Abs(given)
		}
		return f, err
	}
	if f.data, err = DataDir(c); err != nil {
		return nil, err
	}
	if !c.Bool("check") {
		if f.isNew, err = tenant.InitDir(f.data); err != nil {
			return nil, fmt.Errorf("begin a server: %w", err)
		}
	}
	f.config = filepath.Join(f.data, "serve.yaml")
	return f, nil
}

// read reads the settings.
func (f *files) read() (*tenant.Settings, error) {
	s, err := tenant.ReadSettings(f.config, f.data)
	if err != nil {
		return nil, err
	}
	if f.data != "" && f.isNamed && s.Data != f.data {
		return nil, fmt.Errorf("%s has data: %s, and --data or WASMRES_DATA says %s: remove one of them", f.config, s.Data, f.data)
	}
	if f.http != "" {
		s.Listen = []tenant.Listener{{Address: f.http}}
	}
	return s, nil
}

// newLogger makes the log of the server, as --log-format or else the settings say.
func newLogger(c *cli.Context, s *tenant.Settings) (logger *slog.Logger, isJSON bool, err error) {
	level, err := cli.LogLevel(c)
	if err != nil {
		return nil, false, err
	}
	handler, err := cli.LogFormat(c)
	if err != nil {
		return nil, false, err
	}
	isJSON = c.String("log-format") == cli.FormatJSON
	if s.LogJSON && !c.IsSet("log-format") {
		handler, isJSON = cli.JSONLog, true
	}
	return cli.NewLog(c, handler, level), isJSON, nil
}

// openAccessLog opens the log of requests of the settings; add is nil for none.
func openAccessLog(to tenant.AccessLog, stderr io.Writer, logger *slog.Logger) (add func(accesslog.Entry), closeLog func(), err error) {
	if to.File == "" {
		return nil, func() {}, nil
	}
	l, err := serve.OpenAccessLog(to.File, to.Format, accesslog.FileConfig{MaxBytes: to.Size, Keep: to.Keep}, stderr, logger)
	if err != nil {
		return nil, nil, err
	}
	return l.Add, func() {
		if err := l.Close(); err != nil {
			logger.Warn("access log not closed", "err", err)
		}
	}, nil
}

// checkFiles prints the problems of all files, and fails if there are some.
func checkFiles(c *cli.Context, s *tenant.Settings) error {
	var reader tenant.Reader
	reading, err := reader.ReadTenants(s, nil)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(reading.Problems))
	for name := range reading.Problems {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, p := range reading.Problems[name] {
			fmt.Fprintln(c.App.ErrWriter, p.Error())
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("the files of %d of %s are wrong", len(names), terminal.Counted(reading.Tenants+len(names), "tenant"))
	}
	fmt.Fprintf(c.App.ErrWriter, "The settings and %s are right.\n", terminal.Counted(reading.Tenants, "tenant"))
	return nil
}

// reloadOnSignal reads the files again after each signal.
func reloadOnSignal(ctx context.Context, signals <-chan os.Signal, n *node.Node, said *statusLine, logger *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			ready := said.reload()
			r, err := n.Reread(ledger.WithCause(ctx, &ledger.Cause{Actor: "operator", Via: "signal"}))
			reloaded(logger, r, err)
			ready(n)
		}
	}
}

func reloaded(logger *slog.Logger, r *node.Report, err error) {
	if err != nil {
		logger.Error("configuration not read, the last one stays in force", "err", err)
		return
	}
	logReport(logger, r)
}

// maxLogged bounds how many problems one reading logs.
const maxLogged = 20

func logReport(logger *slog.Logger, r *node.Report) {
	names := make([]string, 0, len(r.Problems))
	for name := range r.Problems {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i == maxLogged {
			logger.Error("more tenants are wrong: see 'wasmres tenant list --stale'", "tenants", len(names)-i)
			break
		}
		message := "tenant not served, its files are wrong"
		if r.IsServed(name) {
			message = "tenant served as it last was, its files are wrong"
		}
		logger.Error(message, "tenant", name, "err", r.Problems[name])
	}
	if len(r.Restart) > 0 {
		logger.Warn("settings take effect when the server is started again", "keys", strings.Join(r.Restart, " "))
	}
	logger.Info("configuration read", "tenants", r.Tenants, "new", len(r.Added), "changed", len(r.Changed), "removed", len(r.Removed), "wrong", len(r.Problems),
		"generation", r.Generation, "took", r.Took)
}

// greet says where the server is and, when its files were made now, what to type next: to a person, or else in a log of JSON.
func (s *server) greet(n *node.Node, listeners []listener, r *node.Report) error {
	out := s.context.App.ErrWriter
	for _, l := range listeners {
		if l.isOfCA {
			continue
		}
		scheme := "http"
		if l.opts.TLS != nil {
			scheme = "https"
		}
		url := fmt.Sprintf("%s://%s/t/TENANT/mcp", scheme, l.Addr())
		if s.logsJSON {
			s.logger.Info("serving", "tenants", r.Tenants, "url", url)
		} else {
			fmt.Fprintf(out, "Serving %s at %s\n", terminal.Counted(r.Tenants, "tenant"), url)
		}
	}
	if room := n.Capacity(); room.Providers > 0 {
		if s.logsJSON {
			s.logger.Info("room for live providers found", "providers", room.Providers, "limit", room.Name)
		} else {
			fmt.Fprintf(out, "This machine has room for %s; the limit is: %s\n", terminal.Counted(room.Providers, "live provider"), room.Name)
		}
	}
	switch {
	case !s.isNew:
		return nil
	case s.logsJSON:
		s.logger.Info("data folder made: make a first key with 'wasmres key new default --name NAME --role reader'", "data", n.Settings().Data, "tenant", "default", "file", defaultFile(n))
		return nil
	}
	return greetNew(out, n, listeners[0].Addr())
}

// defaultFile is the path of the file of the tenant that a new server has.
func defaultFile(n *node.Node) string { return filepath.Join(n.Settings().Tenants, "default.yaml") }

// greetNew makes the first key of a new server, and says what to type next.
func greetNew(out io.Writer, n *node.Node, at net.Addr) error {
	file := defaultFile(n)
	fmt.Fprintf(out, "\nThis server is new. Its tenant is named default; its file is %s.\n", file)
	if !terminal.IsTerminal(out) {
		fmt.Fprintln(out, "Make a first key with 'wasmres key new default --name NAME --role reader --data "+n.Settings().Data+"'.")
		return nil
	}
	_, text, err := n.Create(context.Background(), "serve", admin.KeySpec{
		Tenant: "default", Name: "first", Roles: []string{"reader"}, Expires: time.Now().Add(keys.DefaultLife),
	})
	if err != nil {
		return fmt.Errorf("make the first key: %w", err)
	}
	fmt.Fprintf(out, `The first key, which is shown only now:

   %s

Next: give the tenant a provider, whose .wasm file 'wasmres build' makes, by these lines in %s:

   providers:
     notes: {module: /path/to/notes.wasm}

The server reads the file as soon as it is saved. Then read a resource of the provider, or give an MCP client this URL
without "?uri=URI", and the header:

   curl -H 'Authorization: Bearer %s' 'http://%s/t/default/mcp?uri=URI'

`, text, file, text, at)
	return nil
}
