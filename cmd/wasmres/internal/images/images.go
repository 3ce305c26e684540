package images

import (
	"fmt"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/registry"
)

// Command returns the command images.
func Command() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "images", Usage: "list and remove the providers in the store",
		Description: `The store has what was pulled, pushed or run by a reference. A provider is found in it without a registry.

   wasmres images list
   wasmres images remove ghcr.io/ada/notes:1.0.0
   wasmres images prune --unused 90d`,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the providers in the store",
				Flags:        []cli.Flag{references.StoreFlag(), cli.FormatFlag(cli.ReportFormats)},
				OnUsageError: cli.OnUsageError, Action: withStore(listImages),
			},
			{
				Name: "remove", Usage: "remove names from the store", ArgsUsage: "REFERENCE...",
				Description:  `Removes the names. 'wasmres images prune' removes the modules that have no name left.`,
				Flags:        []cli.Flag{references.StoreFlag()},
				OnUsageError: cli.OnUsageError, Action: withStore(removeImages),
			},
			{
				Name: "prune", Usage: "remove what no name needs, and compress what is not used",
				Description: `A provider that runs is kept. One that has lost its name, since its tag names a later version, is kept for 30
days; modules that were not run lately are compressed, and run all the same.`,
				Flags: []cli.Flag{
					references.StoreFlag(),
					&cli.StringFlag{Name: "unused", Usage: "also remove providers with a name that were not pulled or run for this `TIME`, as 90d"},
					&cli.BoolFlag{Name: "all", Usage: "keep nothing that has no name, however new it is"},
					&cli.BoolFlag{Name: "dry-run", Usage: "say what would be removed, and remove nothing"},
				},
				OnUsageError: cli.OnUsageError, Action: withStore(pruneImages),
			},
			{
				Name: "usage", Usage: "print what the store takes on the disk",
				Flags:        []cli.Flag{references.StoreFlag(), cli.FormatFlag(cli.ReportFormats)},
				OnUsageError: cli.OnUsageError, Action: withStore(printUsage),
			},
		},
	})
}

// withStore opens the store for an action.
func withStore(action func(*cli.Context, *registry.Store) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		store, err := references.OpenStore(c)
		if err != nil {
			return err
		}
		defer store.Close()
		return action(c, store)
	}
}

// An image is one line of the list, and its JSON.
type image struct {
	Reference  string     `json:"reference,omitempty"`
	Repository string     `json:"repository,omitempty"`
	Digest     string     `json:"digest"`
	Module     string     `json:"module,omitempty"`
	Version    string     `json:"version,omitempty"`
	Size       int64      `json:"size"`
	Disk       int64      `json:"disk"`
	Compressed bool       `json:"compressed"`
	Signatures int        `json:"signatures"`
	Running    bool       `json:"running"`
	Stored     *time.Time `json:"stored,omitempty"`
	Used       *time.Time `json:"used,omitempty"`
	Problem    string     `json:"problem,omitempty"`
}

func describe(i registry.Image) image {
	found := image{
		Reference: i.Name, Repository: i.Repository, Digest: string(i.Manifest.Digest), Module: string(i.Module.Digest),
		Version: i.Annotations["org.opencontainers.image.version"], Size: i.Size, Disk: i.Disk, Compressed: i.Compressed,
		Signatures: i.Signatures, Running: i.Running, Stored: unlessZero(i.Stored), Used: unlessZero(i.Used),
	}
	if i.Err != nil {
		found.Problem = i.Err.Error()
	}
	return found
}

func unlessZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

func listImages(c *cli.Context, store *registry.Store) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	found, err := store.Images(c.Context)
	if err != nil {
		return err
	}
	all := make([]image, len(found))
	for i := range found {
		all[i] = describe(found[i])
	}
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, all)
	}
	rows := make([][]string, len(all))
	for i := range all {
		rows[i] = all[i].row()
	}
	return terminal.PrintTable(c.App.Writer, []string{"REFERENCE", "DIGEST", "VERSION", "SIZE", "ON DISK", "SIGNATURES", "USED"}, rows)
}

// digestShown is how many characters of a digest the list has.
const digestShown = len("sha256:") + 12

func (i image) row() []string {
	name := i.Reference
	if name == "" {
		name = i.Repository + " (an earlier version)"
	}
	used := "-"
	switch {
	case i.Problem != "":
		used = "not usable: " + i.Problem
	case i.Running:
		used = "now"
	case i.Used != nil:
		used = i.Used.Local().Format(time.DateOnly)
	}
	return []string{
		terminal.Cell(name), i.Digest[:min(len(i.Digest), digestShown)], terminal.Cell(i.Version), terminal.Size(uint64(max(i.Size, 0))),
		terminal.Size(uint64(max(i.Disk, 0))), strconv.Itoa(i.Signatures), terminal.Cell(used),
	}
}

func removeImages(c *cli.Context, store *registry.Store) error {
	if c.NArg() == 0 {
		return cli.Usagef(c, "missing argument REFERENCE")
	}
	for _, arg := range c.Args().Slice() {
		ref, err := references.Parse(c, arg)
		if err != nil {
			return err
		}
		if err := store.Remove(c.Context, ref); err != nil {
			return err
		}
		fmt.Fprintf(c.App.Writer, "removed %s\n", ref)
	}
	return nil
}

func pruneImages(c *cli.Context, store *registry.Store) error {
	options := registry.PruneOptions{DryRun: c.Bool("dry-run")}
	if c.Bool("all") {
		options.Unnamed, options.Grace = time.Nanosecond, time.Nanosecond
	}
	if text := c.String("unused"); text != "" {
		unused, err := cli.ParseDays(text)
		if err != nil {
			return cli.Usagef(c, "--unused: %w", err)
		}
		options.Unused = unused
	}
	result, err := store.Prune(c.Context, options)
	if err != nil {
		return err
	}
	verb := "removed"
	if options.DryRun {
		verb = "would remove"
	}
	for _, name := range result.Names {
		fmt.Fprintf(c.App.Writer, "%s %s\n", verb, printable.Line(name))
	}
	fmt.Fprintf(c.App.Writer, "%s %s and %s, compressed %s: %s freed\n", verb, terminal.Counted(result.Images, "manifest"),
		terminal.Counted(result.Files, "file"), terminal.Counted(result.Compressed, "module"), terminal.Size(uint64(max(result.Freed, 0))))
	return nil
}

func printUsage(c *cli.Context, store *registry.Store) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	usage, err := store.Usage(c.Context)
	if err != nil {
		return err
	}
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, map[string]any{
			"images": usage.Images, "blobs": usage.Blobs, "size": usage.Size, "disk": usage.Disk, "removable": usage.Removable, "folder": store.Dir(),
		})
	}
	terminal.NewStyle(c.App.Writer).Figures(c.App.Writer, [][]string{
		{"providers", strconv.Itoa(usage.Images)},
		{"their size", terminal.Size(uint64(max(usage.Size, 0)))},
		{"on disk", terminal.Size(uint64(max(usage.Disk, 0)))},
		{"that can be freed", terminal.Size(uint64(max(usage.Removable, 0)))},
		{"folder", store.Dir()},
	})
	return nil
}
