package view

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/printable"
)

// CompleteCommand returns the command complete.
func CompleteCommand() *cli.Command {
	return providers.NewCommand(&cli.Command{
		Name: "complete", Usage: "complete a variable of a resource template", ArgsUsage: providers.ArgUsage + " TEMPLATE VARIABLE PREFIX",
		Description: `PREFIX is the beginning of the value. --given has the values of other variables of the template, on
which the completion may depend.

   wasmres complete hello.wasm 'greeting://{name}' name W
   wasmres complete --given table=users \
     db.wasm 'db://{table}/{column}' column na`,
		Flags: []cli.Flag{
			cli.FormatFlag(cli.ResultFormats),
			&cli.StringSliceFlag{Name: "given", Category: "Completing", Usage: "value of another variable, as `VARIABLE=VALUE`; may be repeated"},
		},
	}, complete, "TEMPLATE", "VARIABLE", "PREFIX")
}

// givenValues reads --given.
func givenValues(c *cli.Context) (map[string]string, error) {
	values := map[string]string{}
	for _, spec := range c.StringSlice("given") {
		name, value, ok := strings.Cut(spec, "=")
		if _, twice := values[name]; !ok || name == "" || twice {
			return nil, cli.Usagef(c, "--given %s: write it as VARIABLE=VALUE, once for each variable", spec)
		}
		values[name] = value
	}
	return values, nil
}

// completionParams returns the parameters of completion/complete for the arguments of the command and the values of
// --given.
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
	if c.String("output-format") != cli.FormatTable {
		return cli.PrintData(c.App.Writer, c.String("output-format"), result)
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
