package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/printable"
)

// A view looks at a provider. args are the file of the provider, or of the first of several, and the command's others.
type view func(c *cli.Context, a *app.App, args []string) error

// viewCommand is a command that opens a provider to look at it, without serving it. names are its arguments behind the
// provider.
func viewCommand(cmd *cli.Command, look view, names ...string) *cli.Command {
	return viewing(cmd, func(c *cli.Context) error {
		file, rest, err := providerArguments(c, names...)
		if err != nil {
			return err
		}
		cfg, err := providerConfig(c, file, plainLog)
		if err != nil {
			return err
		}
		return lookAt(c, []app.Config{cfg}, look, rest)
	})
}

// viewAllCommand is a command that opens several providers as one to look at them.
func viewAllCommand(cmd *cli.Command, look view) *cli.Command {
	return viewing(cmd, func(c *cli.Context) error {
		files, err := providerFiles(c)
		if err != nil {
			return err
		}
		configs, err := providerConfigs(c, files, plainLog)
		if err != nil {
			return err
		}
		return lookAt(c, configs, look, nil)
	})
}

// viewing gives a command the flags of those that look.
func viewing(cmd *cli.Command, action cli.ActionFunc) *cli.Command {
	cmd.Flags = providerFlags(append(cmd.Flags, approvalsFlag())...)
	cmd.OnUsageError = onUsageError
	cmd.Action = func(c *cli.Context) error {
		if _, err := outputFormat(c); err != nil {
			return err
		}
		return action(c)
	}
	return cmd
}

// lookAt opens providers, and says of failures which request they were of.
func lookAt(c *cli.Context, configs []app.Config, look view, rest []string) error {
	denied := &denials{}
	for i := range configs {
		configs[i].Denied = denied.add
	}
	a, err := openView(c, configs)
	if err != nil {
		return err
	}
	defer a.Close()
	args := append([]string{configs[0].File}, rest...)
	return explain(c, a, args, denied, look(c, a, args))
}

func listCommand() *cli.Command {
	return viewAllCommand(&cli.Command{
		Name: "list", Usage: "list a provider's resources, all pages", ArgsUsage: providersArg,
		Description: several + "   wasmres list provider.wasm\n   wasmres list --output-format json provider.wasm | jq -r '.resources[].uri'",
		Flags:       []cli.Flag{formatFlag(resultFormats)},
	}, list)
}

// several is what commands say of their providers that list what they have.
const several = "Of several providers, lists what a client gets that is served all of them as one.\n\n"

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
	return viewAllCommand(&cli.Command{
		Name: "templates", Usage: "list a provider's resource templates", ArgsUsage: providersArg,
		Description: several + "   wasmres templates provider.wasm",
		Flags:       []cli.Flag{formatFlag(resultFormats)},
	}, templates)
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

// Of a list that is read to its end. A provider makes up its cursors, so that a list may have no end.
const (
	maxPages      = 10_000
	maxEmptyPages = 100       // one after the other
	maxListed     = 256 << 20 // bytes of entries, as JSON
)

// allPages follows the cursors of a list method and gives its entries. A list that does not end is an error.
func allPages(ctx context.Context, a *app.App, method, key string) (all []json.RawMessage, err error) {
	given := map[string]bool{}
	cursor, empty, size := "", 0, 0
	for pages := 1; ; pages++ {
		entries, next, err := onePage(ctx, a, method, key, cursor)
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
		case given[next]:
			return nil, endless(method, "its cursor %.60q comes again after %d entries", next, len(all))
		case empty == maxEmptyPages:
			return nil, endless(method, "%d pages one after the other are empty", empty)
		case pages == maxPages:
			return nil, endless(method, "there are more than %d pages, which have %d entries", maxPages, len(all))
		case size > maxListed:
			return nil, endless(method, "its first %d entries take more than %s", len(all), humanSize(maxListed))
		}
		given[next], cursor = true, next
	}
}

// endless is the error for a list that is given up.
func endless(method, format string, args ...any) error {
	return fmt.Errorf("%s was given up, since the list does not seem to end: %s", method, fmt.Sprintf(format, args...))
}

// onePage gives the entries of the page at a cursor, and the cursor of the next page, empty after the last.
func onePage(
	ctx context.Context, a *app.App, method, key, cursor string,
) (entries []json.RawMessage, next string, err error) {
	params := map[string]string{}
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
	return printData(c.App.Writer, c.String("output-format"), text)
}

func completeCommand() *cli.Command {
	return viewCommand(&cli.Command{
		Name: "complete", Usage: "complete a variable of a resource template", ArgsUsage: providerArg + " TEMPLATE VARIABLE PREFIX",
		Description: `PREFIX is what was typed so far. What a completion depends on, as the values of the template's other
variables, is given with --given.

   wasmres complete hello.wasm 'greeting://{name}' name W
   wasmres complete --given table=users db.wasm 'db://{table}/{column}' column na`,
		Flags: []cli.Flag{
			formatFlag(resultFormats),
			&cli.StringSliceFlag{Name: "given", Category: "Completing", Usage: "say that another variable has a value, as `VARIABLE=VALUE`; may be repeated"},
		},
	}, complete, "TEMPLATE", "VARIABLE", "PREFIX")
}

// givenValues reads --given.
func givenValues(c *cli.Context) (map[string]string, error) {
	values := map[string]string{}
	for _, spec := range c.StringSlice("given") {
		name, value, ok := strings.Cut(spec, "=")
		if _, twice := values[name]; !ok || name == "" || twice {
			return nil, usagef(c, "--given %s: write it as VARIABLE=VALUE, once for each variable", spec)
		}
		values[name] = value
	}
	return values, nil
}

// completionParams gives the parameters of completion/complete for the arguments of the command and the values of --given.
func completionParams(args []string, given map[string]string) map[string]any {
	params := map[string]any{
		"ref":      map[string]string{"type": "ref/resource", "uri": args[1]},
		"argument": map[string]string{"name": args[2], "value": args[3]},
	}
	if len(given) > 0 {
		params["context"] = map[string]any{"arguments": given}
	}
	return params
}

func complete(c *cli.Context, a *app.App, args []string) error {
	given, err := givenValues(c)
	if err != nil {
		return err
	}
	result, err := a.Call(c.Context, "completion/complete", completionParams(args, given))
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
		fmt.Fprintln(c.App.Writer, printable.Line(v))
	}
	return nil
}
