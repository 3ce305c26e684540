// Command wasmres serves MCP resources from untrusted WebAssembly providers.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/commands"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
	_ "github.com/wasmres/wasmres/runtime/early" // first: children need none of the other packages
)

func main() {
	runtime.Main()
	sqlcap.Main()
	tuneGC()
	delayGC()
	runToEnd()
}

// runToEnd runs the command line of this process until it has ended, or a signal asks it to end, and exits.
func runToEnd() {
	ctx, stop := withSignals(context.Background(), os.Args, os.Stderr)
	status := Main(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Main runs the command line args, whose first is the program's name, and gives the exit status. It prints an error to
// errOut.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	err := cli.Run(ctx, commands.New(in, out, errOut), args)
	if err != nil {
		fmt.Fprintf(errOut, "%swasmres: %s\n", cli.ErrorPrefix(errOut), cli.OneLine(err))
		cli.PrintCrash(errOut, err)
	}
	return cli.Status(err)
}
