package hosting

import (
	"path/filepath"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
)

// DataFlag returns the flag --data: see [DataDir].
func DataFlag(category string) cli.Flag {
	return &cli.StringFlag{Name: "data", Category: category, EnvVars: []string{"WASMRES_DATA"}, Usage: "the `FOLDER` with the server's data (default: wasmres in the user's state folder)"}
}

// DataDir returns the folder of a server's data: that of --data, or the default one.
func DataDir(c *cli.Context) (string, error) {
	dir := c.String("data")
	if dir == "" {
		dir = cli.StateDir()
	}
	if dir == "" {
		return "", cli.Usagef(c, "there is no folder for the server's data: write --data DIR")
	}
	return filepath.Abs(dir)
}
