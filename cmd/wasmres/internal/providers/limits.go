package providers

import (
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/limits"
)

// limitFlags returns a flag for each limit of a provider.
func limitFlags() []cli.Flag {
	size := func(name, value, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Category: cli.CategoryLimits, Value: value, Usage: usage}
	}
	count := func(name string, value int, usage string) cli.Flag {
		return &cli.IntFlag{Name: name, Category: cli.CategoryLimits, Value: value, Usage: usage}
	}
	return []cli.Flag{
		size("memory", "64MiB", "linear memory of one instance, as a `SIZE` like 64MiB"),
		&cli.Uint64Flag{Name: "fuel", Category: cli.CategoryLimits, Value: limits.DefaultFuel, Usage: "metered `INSTRUCTIONS` of one call"},
		&cli.StringFlag{Name: "cpu", Category: cli.CategoryLimits, DefaultText: "all", Usage: "`PROCESSORS` that all calls together may use, on average, as 500m or 2"},
		&cli.DurationFlag{Name: "timeout", Category: cli.CategoryLimits, Value: limits.DefaultTimeout, Usage: "wall-clock `TIME` of one call, and of starting an instance"},
		&cli.DurationFlag{Name: "max-wait", Category: cli.CategoryLimits, Value: limits.DefaultWait, Usage: "total `TIME` for which slow clients may delay one call"},
		size("stack", "8MiB", "estimated native stack of one call, as a `SIZE`"),
		size("max-output", "64MiB", "all contents of one read, as a `SIZE`"),
		size("max-log", "64KiB", "what the provider may log in one call, as a `SIZE`"),
		count("max-items", limits.DefaultItems, "at most this many `ENTRIES` on a page of a list, or contents of one read"),
		count("max-table", limits.DefaultTable, "at most this many `ENTRIES` of a function table"),
		count("max-log-lines", limits.DefaultLogLines, "at most this many `LINES` logged in one call"),
		count("max-host-calls", limits.DefaultHostCalls, "at most this many `CALLS` of the host in one call"),
		&cli.IntFlag{Name: "max-calls", Category: cli.CategoryLimits, DefaultText: "4 for each processor", Usage: "at most this many `CALLS` at once; others wait"},
		count("max-sessions", limits.DefaultSessions, "at most this many `SESSIONS` with an instance of their own, with --lifecycle session"),
		&cli.StringSliceFlag{Name: "admit", Category: cli.CategoryLimits, Usage: "change a limit on modules, as `LIMIT=N`; an error names the limit that a module exceeds; may be repeated"},
		&cli.DurationFlag{Name: "idle", Category: cli.CategoryLimits, Value: limits.DefaultIdle, Usage: "discard instances and sessions after this idle `TIME`, which frees memory"},
	}
}

// limitsOf reads limitFlags.
func limitsOf(c *cli.Context) (limits.Limits, error) {
	var l limits.Limits
	for _, f := range []struct {
		name string
		into func(uint64)
	}{
		{"memory", func(n uint64) { l.Memory = n }},
		{"stack", func(n uint64) { l.Stack = uint32(min(n, 1<<32-1)) }},
		{"max-output", func(n uint64) { l.Output = n }},
		{"max-log", func(n uint64) { l.Log = int(n) }},
	} {
		n, err := cli.ParseSize(c.String(f.name))
		if err != nil {
			return l, cli.Usagef(c, "--%s: %w", f.name, err)
		}
		f.into(n)
	}
	if cpu := c.String("cpu"); cpu != "" {
		var err error
		if l.MilliCPU, err = policy.Processors(cpu); err != nil {
			return l, cli.Usagef(c, "--cpu: %w", err)
		}
	}
	l.Fuel, l.Timeout, l.Wait, l.Idle = c.Uint64("fuel"), c.Duration("timeout"), c.Duration("max-wait"), c.Duration("idle")
	l.Items, l.Table, l.LogLines = c.Int("max-items"), uint32(min(c.Int("max-table"), 1<<32-1)), c.Int("max-log-lines")
	l.HostCalls, l.Calls, l.Sessions = c.Int("max-host-calls"), c.Int("max-calls"), c.Int("max-sessions")
	if err := checkLimitFlags(c); err != nil {
		return l, err
	}
	l, err := l.WithDefaults()
	if err != nil {
		return l, cli.Usagef(c, "%w", err)
	}
	return l, nil
}

// admission reads --admit, the limits on modules.
func admission(c *cli.Context) (runtime.ModuleLimits, error) {
	var l runtime.ModuleLimits
	for _, spec := range c.StringSlice("admit") {
		name, value, ok := strings.Cut(spec, "=")
		if !ok {
			return l, cli.Usagef(c, "--admit %s: write it as LIMIT=N, as in --admit functions=60000", spec)
		}
		if err := l.Set(name, value); err != nil {
			return l, cli.Usagef(c, "--admit %s: %w", spec, err)
		}
	}
	return l, nil
}

// checkLimitFlags refuses zeros, which [limits.Limits] would take for defaults.
func checkLimitFlags(c *cli.Context) error {
	for _, name := range []string{"timeout", "max-wait", "idle"} {
		if c.Duration(name) <= 0 {
			return cli.Usagef(c, "--%s %v: it must be more than nothing", name, c.Duration(name))
		}
	}
	if c.Uint64("fuel") == 0 {
		return cli.Usagef(c, "--fuel 0: it must be at least 1")
	}
	for _, name := range []string{"max-items", "max-table", "max-log-lines", "max-host-calls", "max-calls", "max-sessions"} {
		if c.Int(name) < 0 || c.Int(name) == 0 && c.IsSet(name) {
			return cli.Usagef(c, "--%s %d: it must be at least 1", name, c.Int(name))
		}
	}
	return nil
}
