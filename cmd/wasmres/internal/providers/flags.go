package providers

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/runtime"
)

// Flags returns the flags of a command that opens a provider, and more.
func Flags(more ...cli.Flag) []cli.Flag {
	return slices.Concat(grantFlags(), []cli.Flag{
		&cli.StringSliceFlag{Name: "dir", Category: cli.CategoryGrants, Usage: "grant a directory for reading, or with :rw for writing too, as `HOST:GUEST[:ro|:rw]`; may be repeated"},
		cli.Choice(&cli.StringFlag{Name: "lifecycle", Category: cli.CategoryGrants, Value: "fresh", Usage: "longest `LIFECYCLE` of the provider's memory, if it requests one: fresh (one request), session, or shared (all requests)"}, "fresh", "session", "shared"),
		&cli.StringSliceFlag{Name: "config", Category: cli.CategoryGrants, Usage: "give the provider a configuration value, as `KEY=VALUE`; may be repeated"},
		cli.Choice(&cli.StringFlag{Name: "isolation", Category: cli.CategoryHost, Value: runtime.IsolateDefault.String(), EnvVars: []string{"WASMRES_ISOLATION"}, Usage: "run the provider in this `PLACE`: process (a locked-down worker process of its own, on Linux) or in-process"}, runtime.IsolateProcess.String(), runtime.IsolateNone.String()),
		EngineFlag(),
		CacheDirFlag(),
		CacheSizeFlag(),
		&cli.StringFlag{Name: "data-dir", Category: cli.CategoryHost, EnvVars: []string{"WASMRES_DATA_DIR"}, Usage: "store the data of providers in this `FOLDER`, which must be private to you (default: wasmres in the user's state folder)"},
		cli.LogLevelFlag(cli.CategoryHost),
	}, limitFlags(), references.Flags(), more)
}

// EngineFlag returns the flag --engine.
func EngineFlag() cli.Flag {
	return cli.Choice(&cli.StringFlag{Name: "engine", Category: cli.CategoryHost, Value: runtime.Engines()[0], EnvVars: []string{"WASMRES_ENGINE"}, Usage: "compile and run providers with this `ENGINE`: wazero, or wasmtime in a program built with it"}, "wazero", "wasmtime")
}

// CacheDirFlag returns the flag --cache-dir: see [CacheDir].
func CacheDirFlag() cli.Flag {
	return &cli.StringFlag{Name: "cache-dir", Category: cli.CategoryHost, EnvVars: []string{"WASMRES_CACHE_DIR"}, Usage: "cache compiled modules in this `FOLDER`, which must be private to you; '' caches nothing (default: wasmres in the user's cache folder)"}
}

// CacheSizeFlag returns the flag --cache-size: see [CacheSize].
func CacheSizeFlag() cli.Flag {
	return &cli.StringFlag{Name: "cache-size", Category: cli.CategoryHost, Value: "2GiB", EnvVars: []string{"WASMRES_CACHE_SIZE"}, Usage: "cache at most this `SIZE` of modules; the least recently used are removed first"}
}

// CacheSize reads --cache-size, in bytes.
func CacheSize(c *cli.Context) (int64, error) {
	n, err := cli.ParseSize(c.String("cache-size"))
	if err != nil {
		return 0, cli.Usagef(c, "--cache-size: %w", err)
	}
	return int64(n), nil
}

// Config reads [Flags] for one provider, named by its file or a reference. If file is empty, the caller sets it later.
func Config(c *cli.Context, file string, log cli.LogHandler) (cfg app.Config, err error) {
	if cfg, err = CommonConfig(c, log); err != nil {
		return app.Config{}, err
	}
	if err := SetModule(c, &cfg, file); err != nil {
		return app.Config{}, err
	}
	granted, err := Policy(c)
	if err != nil {
		return app.Config{}, err
	}
	return applyPolicy(c, cfg, granted), nil
}

// applyPolicy adds the grants of a policy to a provider, and its engine and limits unless a flag sets them.
func applyPolicy(c *cli.Context, cfg app.Config, p *policy.Policy) app.Config {
	cfg.Grants = *p
	if p.Engine != "" && !c.IsSet("engine") {
		cfg.Engine = p.Engine
	}
	for _, l := range []struct {
		flag string
		set  func()
		has  bool // the policy sets it
	}{
		{"cpu", func() { cfg.Limits.MilliCPU = p.Limits.MilliCPU }, p.Limits.MilliCPU > 0},
		{"memory", func() { cfg.Limits.Memory = p.Limits.Memory }, p.Limits.Memory > 0},
		{"fuel", func() { cfg.Limits.Fuel = p.Limits.Fuel }, p.Limits.Fuel > 0},
		{"timeout", func() { cfg.Limits.Timeout = p.Limits.Timeout }, p.Limits.Timeout > 0},
		{"max-output", func() { cfg.Limits.Output = p.Limits.Output }, p.Limits.Output > 0},
		{"stack", func() { cfg.Limits.Stack = uint32(min(p.Limits.Stack, math.MaxUint32)) }, p.Limits.Stack > 0},
		{"max-log", func() { cfg.Limits.Log = int(min(p.Limits.Log, math.MaxInt32)) }, p.Limits.Log > 0},
	} {
		if l.has && !c.IsSet(l.flag) {
			l.set()
		}
	}
	return cfg
}

// CommonConfig reads those of [Flags] that are the same for all providers: all but the grants.
func CommonConfig(c *cli.Context, log cli.LogHandler) (app.Config, error) {
	limits, err := limitsOf(c)
	if err != nil {
		return app.Config{}, err
	}
	shape, err := admission(c)
	if err != nil {
		return app.Config{}, err
	}
	lifecycle, err := lifecycleOf(c)
	if err != nil {
		return app.Config{}, err
	}
	level, err := cli.LogLevel(c)
	if err != nil {
		return app.Config{}, err
	}
	size, err := CacheSize(c)
	if err != nil {
		return app.Config{}, err
	}
	isolation, err := isolationFlag(c)
	if err != nil {
		return app.Config{}, err
	}
	logger := cli.NewLog(c, log, level)
	return app.Config{
		Limits: limits, ModuleLimits: shape, Lifecycle: lifecycle, Isolation: isolation, Engine: c.String("engine"), Logger: logger, Version: c.App.Version,
		CacheDir: CacheDir(c, logger), CacheSize: size, CacheOptional: !c.IsSet("cache-dir"), DataDir: dataDir(c), Loading: loadingOf(c),
	}, nil
}

// isolationFlag reads --isolation.
func isolationFlag(c *cli.Context) (runtime.Isolation, error) {
	for _, i := range []runtime.Isolation{runtime.IsolateProcess, runtime.IsolateNone} {
		if c.String("isolation") == i.String() {
			return i, nil
		}
	}
	return 0, cli.Usagef(c, "--isolation %s: expected %s or %s", c.String("isolation"), runtime.IsolateProcess, runtime.IsolateNone)
}

// loadingOf returns the function that shows that a module is loading; nil for a server, which logs that.
func loadingOf(c *cli.Context) func(file string, size int) (end func()) {
	if c.Command.Name == "run" {
		return nil
	}
	line := terminal.NewProgress(c.App.ErrWriter)
	return func(file string, size int) func() {
		line.Show("Loading %s, %s: compiling it first …", file, terminal.Size(uint64(size)))
		return line.Clear
	}
}

// CacheDir returns the directory of compiled modules; empty if there is none.
func CacheDir(c *cli.Context, logger *slog.Logger) string {
	if c.IsSet("cache-dir") {
		return c.String("cache-dir")
	}
	base, err := os.UserCacheDir()
	if err != nil {
		logger.Debug("no user cache directory, compiled modules not cached", "err", err)
		return ""
	}
	return filepath.Join(base, "wasmres")
}

// dataDir returns the directory for the data of providers; empty if there is none.
func dataDir(c *cli.Context) string {
	if dir := c.String("data-dir"); dir != "" {
		return dir
	}
	return cli.StateDir()
}

func lifecycleOf(c *cli.Context) (abi.Lifecycle, error) {
	for _, l := range []abi.Lifecycle{abi.LifecycleFresh, abi.LifecycleSession, abi.LifecycleShared} {
		if c.String("lifecycle") == l.String() {
			return l, nil
		}
	}
	return 0, cli.Usagef(c, "--lifecycle %s: it is one of fresh, session, shared", c.String("lifecycle"))
}
