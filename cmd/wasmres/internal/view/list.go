package view

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
)

// ListCommand returns the command list.
func ListCommand() *cli.Command {
	return providers.NewCombinedCommand(&cli.Command{
		Name: "list", Usage: "list a provider's resources, all pages", ArgsUsage: providers.ArgsUsage,
		Description: several + "   wasmres list provider.wasm\n   wasmres list --output-format json provider.wasm | jq -r '.resources[].uri'",
		Flags:       []cli.Flag{cli.FormatFlag(cli.ResultFormats)},
	}, list)
}

// several begins the description of commands that list.
const several = "With several providers, lists what a client gets from all of them, served as one.\n\n"

const maxName = 40 // characters of a name in a table

func list(c *cli.Context, a *app.App, _ []string) error {
	all, err := allPages(c.Context, a, "resources/list", "resources", nil)
	if err != nil {
		return err
	}
	return printResources(c, all)
}

// printResources prints the resources of a list, or of a directory.
func printResources(c *cli.Context, all []json.RawMessage) error {
	if c.String("output-format") != cli.FormatTable {
		return printList(c, "resources", all)
	}
	var rows [][]string
	for _, raw := range all {
		var r struct {
			URI, Name, Title, Description, MIMEType string
			Size                                    *uint64
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		size := ""
		if r.Size != nil {
			size = terminal.Size(*r.Size)
		}
		rows = append(rows, []string{r.URI, terminal.Clip(r.Name, maxName), r.MIMEType, size, r.Description})
	}
	return terminal.PrintTable(c.App.Writer, []string{"URI", "NAME", "TYPE", "SIZE", "DESCRIPTION"}, rows)
}

// TemplatesCommand returns the command templates.
func TemplatesCommand() *cli.Command {
	return providers.NewCombinedCommand(&cli.Command{
		Name: "templates", Usage: "list a provider's resource templates", ArgsUsage: providers.ArgsUsage,
		Description: several + "   wasmres templates provider.wasm",
		Flags:       []cli.Flag{cli.FormatFlag(cli.ResultFormats)},
	}, templates)
}

func templates(c *cli.Context, a *app.App, _ []string) error {
	all, err := allPages(c.Context, a, "resources/templates/list", "resourceTemplates", nil)
	if err != nil {
		return err
	}
	if c.String("output-format") != cli.FormatTable {
		return printList(c, "resourceTemplates", all)
	}
	var rows [][]string
	for _, raw := range all {
		var r struct{ URITemplate, Name, Description, MIMEType string }
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		rows = append(rows, []string{r.URITemplate, terminal.Clip(r.Name, maxName), r.MIMEType, r.Description})
	}
	return terminal.PrintTable(c.App.Writer, []string{"TEMPLATE", "NAME", "TYPE", "DESCRIPTION"}, rows)
}

// Limits of a list that is read to its end. A provider chooses its cursors, so that a list can be endless.
const (
	maxPages      = 10_000
	maxEmptyPages = 100       // one after the other
	maxListed     = 256 << 20 // bytes of entries, as JSON
)

// allPages calls a list method, with these parameters beside the cursor, until its last page and gives all entries. A list that
// seems endless is an error.
func allPages(ctx context.Context, a *app.App, method, key string, params map[string]string) (all []json.RawMessage, err error) {
	used := map[string]bool{}
	cursor, empty, size := "", 0, 0
	for pages := 1; ; pages++ {
		entries, next, err := onePage(ctx, a, method, key, cursor, params)
		if err != nil {
			return nil, err
		}
		if empty++; len(entries) > 0 {
			empty = 0
		}
		for _, e := range entries {
			size += len(e)
		}
		if all = append(all, entries...); next == "" {
			return all, nil
		}
		switch {
		case used[next]:
			return nil, endless(method, "the cursor %.60q came again after %d entries", next, len(all))
		case empty == maxEmptyPages:
			return nil, endless(method, "%d pages in a row were empty", empty)
		case pages == maxPages:
			return nil, endless(method, "it has more than %d pages, with %d entries", maxPages, len(all))
		case size > maxListed:
			return nil, endless(method, "its first %d entries have more than %s", len(all), terminal.Size(maxListed))
		}
		used[next], cursor = true, next
	}
}

// endless returns the error for a list that seems endless.
func endless(method, format string, args ...any) error {
	return fmt.Errorf("%s stopped: the list seems endless: %s", method, fmt.Sprintf(format, args...))
}

// onePage returns the entries of the page at a cursor, and the cursor of the next page: empty after the last.
func onePage(
	ctx context.Context, a *app.App, method, key, cursor string, params map[string]string,
) (entries []json.RawMessage, next string, err error) {
	if params = maps.Clone(params); params == nil {
		params = map[string]string{}
	}
	if cursor != "" {
		params["cursor"] = cursor
	}
	result, err := a.Call(ctx, method, params)
	if err != nil {
		return nil, "", err
	}
	var page map[string]json.RawMessage
	if err := json.Unmarshal(result, &page); err != nil {
		return nil, "", err
	}
	if err := json.Unmarshal(page[key], &entries); err != nil {
		return nil, "", err
	}
	if raw, ok := page["nextCursor"]; ok {
		err = json.Unmarshal(raw, &next)
	}
	return entries, next, err
}

// printList prints the entries of all pages as one MCP result.
func printList(c *cli.Context, key string, entries []json.RawMessage) error {
	if entries == nil {
		entries = []json.RawMessage{}
	}
	text, err := json.Marshal(map[string][]json.RawMessage{key: entries})
	if err != nil {
		return err
	}
	return cli.PrintData(c.App.Writer, c.String("output-format"), text)
}
