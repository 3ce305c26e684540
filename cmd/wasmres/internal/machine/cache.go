package machine

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/runtime"
)

// CacheCommand returns the command cache.
func CacheCommand() *cli.Command {
	flags := func(more ...cli.Flag) []cli.Flag {
		return append(more, providers.CacheDirFlag(), providers.CacheSizeFlag())
	}
	return cli.Group(&cli.Command{
		Name: "cache", Usage: "list and remove compiled modules",
		Description: `A module is compiled when it is first loaded, and cached for the next time: about 10 MiB for a
provider in Go. The folder holds at most --cache-size. When a module is added, the least recently
used ones are removed; they are compiled again when they are next loaded.`,
		Subcommands: []*cli.Command{
			{
				Name: "size", Usage: "print the size of the cache, and its folder",
				Flags: flags(cli.FormatFlag(cli.ReportFormats)), OnUsageError: cli.OnUsageError, Action: cacheSizeOf,
			},
			{
				Name: "list", Usage: "list cached modules, the least recently used first",
				Flags: flags(cli.FormatFlag(cli.ReportFormats)), OnUsageError: cli.OnUsageError, Action: listCache,
			},
			{
				Name: "clean", Usage: "remove all cached modules, or those beyond a size",
				Description: `Removes all modules, or with --to the least recently used ones until that size is left. Other
processes can use the cache meanwhile.

   wasmres cache clean
   wasmres cache clean --to 500MiB`,
				Flags: flags(&cli.StringFlag{Name: "to", Usage: "leave at most this `SIZE`"}), OnUsageError: cli.OnUsageError, Action: cleanCache,
			},
		},
	})
}

// openCache returns the cache directory and the modules in it.
func openCache(c *cli.Context) (dir string, all []runtime.CachedModule, err error) {
	if _, err := cli.Arguments(c); err != nil {
		return "", nil, err
	}
	if dir = providers.CacheDir(c, slog.New(slog.DiscardHandler)); dir == "" {
		return "", nil, errors.New("there is no cache folder: name one with --cache-dir")
	}
	all, err = runtime.CachedModules(dir)
	return dir, all, err
}

// A cacheReport has the figures of the whole cache. Sizes are in bytes.
type cacheReport struct {
	Folder string `json:"folder"`
	Bytes  int64  `json:"bytes"`
	Limit  int64  `json:"limit"`
	Files  int    `json:"entries"`
}

func cacheSizeOf(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	limit, err := providers.CacheSize(c)
	if err != nil {
		return err
	}
	dir, all, err := openCache(c)
	if err != nil {
		return err
	}
	report := cacheReport{Folder: dir, Bytes: sizeOf(all), Limit: limit, Files: len(all)}
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, report)
	}
	fmt.Fprintf(c.App.Writer, "%s in %s, of at most %s\n", terminal.Size(uint64(report.Bytes)), terminal.Cell(dir), terminal.Size(uint64(limit)))
	return nil
}

func listCache(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	_, all, err := openCache(c)
	if err != nil {
		return err
	}
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, append([]runtime.CachedModule{}, all...))
	}
	t := terminal.NewTable(c.App.Writer, "DIGEST", "KIND", "SIZE", "USED")
	for _, one := range all {
		t.Row(one.Digest[:12], one.Kind, terminal.Size(uint64(one.Bytes)), one.Used.Local().Format(time.DateTime))
	}
	return t.Flush()
}

func cleanCache(c *cli.Context) error {
	most := uint64(0)
	if to := c.String("to"); to != "" {
		var err error
		if most, err = cli.ParseSize(to); err != nil {
			return cli.Usagef(c, "--to: %w", err)
		}
	}
	dir, before, err := openCache(c)
	if err != nil {
		return err
	}
	removed, err := runtime.CleanCache(dir, int64(most))
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(before, func(one runtime.CachedModule) bool { return slices.Contains(removed, one) })
	fmt.Fprintf(c.App.Writer, "removed %s, %s left\n", terminal.Size(uint64(sizeOf(removed))), terminal.Size(uint64(sizeOf(left))))
	return nil
}

// sizeOf returns the size of all modules together, in bytes.
func sizeOf(all []runtime.CachedModule) (size int64) {
	for _, one := range all {
		size += one.Bytes
	}
	return size
}
