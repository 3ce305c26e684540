package app

import (
	"context"
	"errors"
	"io"

	"github.com/wasmres/wasmres/internal/inflight"
	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/legacy"
	"github.com/wasmres/wasmres/internal/mcp/stdio"
)

// ServeStdio speaks MCP with one client until in or ctx ends.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	core, old, err := a.openFronts()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, within(closeTime, "sessions", old.Close)) }()
	return stdio.Serve(ctx, stdio.Config{Core: core, Legacy: connector{old}, In: in, Out: out, Logger: a.cfg.Logger})
}

// openFronts makes the core and the front of the older revisions that stands on it.
func (a *App) openFronts() (*mcp.Core, *legacy.Front, error) {
	for _, one := range a.each() {
		one.logIsolation()
		one.WarnUngranted()
	}
	budget := inflight.New(a.cfg.InFlight)
	uris := mcp.NewURIs(a.cfg.MaxSubscribed)
	core, err := a.newCore(a.cfg.Logger, budget, uris)
	if err != nil {
		return nil, nil, err
	}
	about := a.identity()
	old, err := legacy.New(legacy.Config{
		Core: core, Source: a.source, Name: about.name, Title: about.title, Version: about.version,
		Instructions: about.instructions, Tools: a.cfg.Tools, InFlight: budget, URIs: uris, Logger: a.cfg.Logger,
		MaxSessions: a.cfg.MaxHTTPSessions, MaxPerClient: a.cfg.MaxPerAddress, Idle: a.cfg.HTTPSessionIdle,
	})
	return core, old, err
}

// A connector is the older front as the stdio front wants it.
type connector struct{ front *legacy.Front }

func (c connector) Connect(ctx context.Context, send func(line []byte) error) (stdio.LegacySession, error) {
	return c.front.Connect(ctx, send)
}
