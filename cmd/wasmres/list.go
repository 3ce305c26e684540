package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/internal/app"
)

// viewCommand is a command that opens a provider to look at it, without serving it.
func viewCommand(cmd *cli.Command, view func(c *cli.Context, a *app.App, args []string) error, args ...string) *cli.Command {
	cmd.Flags = providerFlags(append(cmd.Flags, approvalsFlag())...)
	cmd.OnUsageError = onUsageError
	cmd.Action = func(c *cli.Context) error {
		given, err := arguments(c, args...)
		if err != nil {
			return err
		}
		if _, err := outputFormat(c); err != nil {
			return err
		}
		cfg, err := providerConfig(c, given[0], plainLog)
		if err != nil {
			return err
		}
		a, err := openView(c, cfg)
		if err != nil {
			return err
		}
		defer a.Close()
		return explain(c, a, given, view(c, a, given))
	}
	return cmd
}

func listCommand() *cli.Command {
	return viewCommand(&cli.Command{
		Name: "list", Usage: "list a provider's resources, all pages", ArgsUsage: "PROVIDER.wasm",
		Description: "   wasmres list provider.wasm\n   wasmres list --output-format json provider.wasm | jq -r '.resources[].uri'",
		Flags:       []cli.Flag{formatFlag(resultFormats)},
	}, list, "PROVIDER.wasm")
}

const maxName = 40 // characters of a name in a table

func list(c *cli.Context, a *app.App, _ []string) error {
	all, err := allPages(c.Context, a, "resources/list", "resources")
	if err != nil {
		return err
	}
	if c.String("output-format") != formatTable {
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
			size = humanSize(*r.Size)
		}
		rows = append(rows, []string{r.URI, clip(r.Name, maxName), r.MIMEType, size, r.Description})
	}
	return printTable(c.App.Writer, []string{"URI", "NAME", "TYPE", "SIZE", "DESCRIPTION"}, rows)
}

func templatesCommand() *cli.Command {
	return viewCommand(&cli.Command{
		Name: "templates", Usage: "list a provider's resource templates", ArgsUsage: "PROVIDER.wasm",
		Description: "   wasmres templates provider.wasm",
		Flags:       []cli.Flag{formatFlag(resultFormats)},
	}, templates, "PROVIDER.wasm")
}

func templates(c *cli.Context, a *app.App, _ []string) error {
	all, err := allPages(c.Context, a, "resources/templates/list", "resourceTemplates")
	if err != nil {
		return err
	}
	if c.String("output-format") != formatTable {
		return printList(c, "resourceTemplates", all)
	}
	var rows [][]string
	for _, raw := range all {
		var r struct{ URITemplate, Name, Description, MIMEType string }
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		rows = append(rows, []string{r.URITemplate, clip(r.Name, maxName), r.MIMEType, r.Description})
	}
	return printTable(c.App.Writer, []string{"TEMPLATE", "NAME", "TYPE", "DESCRIPTION"}, rows)
}

// allPages follows the cursors of a list method and gives its entries.
func allPages(ctx context.Context, a *app.App, method, key string) ([]json.RawMessage, error) {
	var all []json.RawMessage
	cursor := ""
	for {
		params := map[string]string{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		result, err := a.Call(ctx, method, params)
		if err != nil {
			return nil, err
		}
		var page map[string]json.RawMessage
		var entries []json.RawMessage
		if err := json.Unmarshal(result, &page); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(page[key], &entries); err != nil {
			return nil, err
		}
		all = append(all, entries...)
		next := ""
		if raw, ok := page["nextCursor"]; ok {
			if err := json.Unmarshal(raw, &next); err != nil {
				return nil, err
			}
		}
		if next == "" {
			return all, nil
		}
		if next == cursor {
			return nil, fmt.Errorf("%s does not advance: the next cursor repeats the last", method)
		}
		cursor = next
	}
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
	return printData(c.App.Writer, c.String("output-format"), text)
}

func completeCommand() *cli.Command {
	return viewCommand(&cli.Command{
		Name: "complete", Usage: "complete a variable of a resource template", ArgsUsage: "PROVIDER.wasm TEMPLATE VARIABLE PREFIX",
		Description: "   wasmres complete hello.wasm 'greeting://{name}' name W",
		Flags:       []cli.Flag{formatFlag(resultFormats)},
	}, complete, "PROVIDER.wasm", "TEMPLATE", "VARIABLE", "PREFIX")
}

func complete(c *cli.Context, a *app.App, args []string) error {
	result, err := a.Call(c.Context, "completion/complete", map[string]any{
		"ref":      map[string]string{"type": "ref/resource", "uri": args[1]},
		"argument": map[string]string{"name": args[2], "value": args[3]},
	})
	if err != nil {
		return err
	}
	if c.String("output-format") != formatTable {
		return printData(c.App.Writer, c.String("output-format"), result)
	}
	var done struct{ Completion struct{ Values []string } }
	if err := json.Unmarshal(result, &done); err != nil {
		return err
	}
	for _, v := range done.Completion.Values {
		fmt.Fprintln(c.App.Writer, plain(v))
	}
	return nil
}
