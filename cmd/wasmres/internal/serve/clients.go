package serve

import (
	"math"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/runtime"
)

// clientFlags gives the flags that bound what clients of a server may hold.
func clientFlags() []cli.Flag {
	const category = "What clients may hold"
	return []cli.Flag{
		&cli.IntFlag{Name: "max-subscriptions", Category: category, Value: 1024, Usage: "at most this many `STREAMS` of changes at once; one takes about 10 KiB, without its URIs: see --max-subscribed"},
		&cli.StringFlag{Name: "max-subscribed", Category: category, Value: "128MiB", Usage: "memory for all URIs that clients have subscribed to, as a `SIZE` of at least 1MiB"},
		&cli.StringFlag{Name: "max-in-flight", Category: category, Value: "256MiB", Usage: "memory for all answers that clients have not read yet, as a `SIZE` of at least 8MiB"},
		&cli.IntFlag{Name: "max-connections", Category: category, Value: 10_000, Usage: "with --http, at most this many `CONNECTIONS` at once; when another one opens, idle ones are closed"},
		&cli.IntFlag{Name: "max-http-sessions", Category: category, Value: 10_000, Usage: "with --http, at most this many `SESSIONS` of revisions before 2026-07-28 at once; when another one begins, an idle one ends"},
		&cli.IntFlag{Name: "max-per-address", Category: category, Value: 1000, Usage: "with --http, at most this `NUMBER` of sessions from one client address; loopback addresses have no such limit"},
		&cli.DurationFlag{Name: "http-session-idle", Category: category, Value: 30 * time.Minute, Usage: "with --http, end a session after this `TIME` without a request"},
	}
}

// clientLimits reads clientFlags into cfg.
func clientLimits(c *cli.Context, cfg *app.Config) error {
	for name, to := range map[string]*int{
		"max-subscriptions": &cfg.Server.MaxSubscriptions, "max-http-sessions": &cfg.Server.MaxSessions, "max-per-address": &cfg.Server.MaxSessionsPerAddress,
		"max-connections": &cfg.Server.MaxConnections,
	} {
		if *to = c.Int(name); *to < 1 {
			return cli.Usagef(c, "--%s %d: it must be at least 1", name, *to)
		}
	}
	size, err := cli.ParseSize(c.String("max-in-flight"))
	if err != nil {
		return cli.Usagef(c, "--max-in-flight: %w", err)
	}
	if cfg.Server.Buffer = int64(min(size, math.MaxInt64)); cfg.Server.Buffer < runtime.MinBuffer {
		return cli.Usagef(c, "--max-in-flight %s: it must be at least 8MiB", c.String("max-in-flight"))
	}
	subscribed, err := cli.ParseSize(c.String("max-subscribed"))
	if err != nil {
		return cli.Usagef(c, "--max-subscribed: %w", err)
	}
	if cfg.Server.MaxSubscribedBytes = int(min(subscribed, math.MaxInt)); cfg.Server.MaxSubscribedBytes < 1<<20 {
		return cli.Usagef(c, "--max-subscribed %s: it must be at least 1MiB", c.String("max-subscribed"))
	}
	if cfg.Server.SessionIdle = c.Duration("http-session-idle"); cfg.Server.SessionIdle < time.Second {
		return cli.Usagef(c, "--http-session-idle %v: it must be at least 1s", cfg.Server.SessionIdle)
	}
	return nil
}
