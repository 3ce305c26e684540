package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/guestlog"
	"github.com/wasmres/wasmres/internal/viewer"
)

// A page is what --ui needs before the provider is opened. Its zero value is no page.
type page struct {
	logs *guestlog.Book
	dir  string // of logs
}

// openPage prepares --ui, and has cfg log what the guest says for it. The caller closes it.
func openPage(c *cli.Context, configs []app.Config) (page, error) {
	if !c.Bool("ui") {
		return page{}, nil
	}
	if len(configs) > 1 {
		return page{}, cli.Usagef(c, "--ui shows one provider, and there are %d: name one", len(configs))
	}
	dir, err := os.MkdirTemp("", "wasmres-ui-")
	if err != nil {
		return page{}, err
	}
	logs, err := guestlog.Open(guestlog.Config{Dir: dir, Logger: configs[0].Logger})
	if err != nil {
		return page{}, errors.Join(err, os.RemoveAll(dir))
	}
	configs[0].Logger = slog.New(viewer.Handler(logs, configs[0].Logger.Handler()))
	return page{logs, dir}, nil
}

// close removes what openPage has made.
func (p page) close() error {
	if p.logs == nil {
		return nil
	}
	return errors.Join(p.logs.Close(), os.RemoveAll(p.dir))
}

// serveUI serves the page of a provider at a port of the loopback address, until the context of c ends; with --http, MCP as
// well.
func serveUI(c *cli.Context, a *app.App, p page, addr string, logger *slog.Logger) error {
	pages, err := viewer.New(viewer.Config{App: a, Logs: p.logs, Logger: logger})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("--ui: %w", err)
	}
	fmt.Fprintf(c.App.ErrWriter, "Open this page; its address has a token, so keep it to yourself:\n%s\n", pages.URL(l.Addr()))
	if addr == "" {
		a.WarnMissingGrants()
		return pages.Serve(ctx, l)
	}
	served := make(chan error, 1)
	go func() { served <- pages.Serve(ctx, l) }()
	err = serveHTTP(c, a, addr, logger)
	cancel()
	return errors.Join(err, <-served)
}
