// Command wasmres serves MCP resources from untrusted WebAssembly providers.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/bench"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/build"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/check"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/dev"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/hosting"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/images"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/inspect"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/machine"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/permission"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/serve"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/test"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/token"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/view"
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
	err := cli.Run(ctx, newApp(in, out, errOut), args)
	if err != nil {
		fmt.Fprintf(errOut, "wasmres: %s\n", cli.OneLine(err))
		cli.PrintCrash(errOut, err)
	}
	return cli.Status(err)
}

func newApp(in io.Reader, out, errOut io.Writer) *cli.App {
	return &cli.App{
		Name:        "wasmres",
		Usage:       "serve MCP resources from untrusted WebAssembly providers",
		Description: description,
		Version:     version(),
		Reader:      in,
		Writer:      out,
		ErrWriter:   errOut,
		Commands: []*cli.Command{
			build.NewCommand(), dev.Command(), build.Command(), test.Command(), check.Command(),
			serve.Command(), hosting.ServeCommand(), view.ListCommand(), view.TemplatesCommand(), view.ReadCommand(), view.CompleteCommand(),
			inspect.Command(), bench.Command(), machine.DoctorCommand(),
			images.PushCommand(), images.PullCommand(), images.CopyCommand(), images.SignCommand(), images.VerifyCommand(),
			images.KeygenCommand(), images.LoginCommand(), images.LogoutCommand(), images.Command(), images.ServerJSONCommand(),
			permission.Command(), permission.PolicyCommand(), token.Command(), machine.CacheCommand(),
			hosting.KeyCommand(), hosting.AdminKeyCommand(), hosting.SecretCommand(), hosting.TenantCommand(), hosting.PlanCommand(), hosting.ReloadCommand(), hosting.TopCommand(), hosting.AuditCommand(), hosting.UsageCommand(), hosting.CrashCommand(), hosting.LogsCommand(),
			hosting.DeployCommand(), hosting.ApproveCommand(), hosting.RejectCommand(), hosting.PromoteCommand(), hosting.RollbackCommand(), hosting.VersionCommand(),
		},
	}
}

const description = `A provider is a .wasm file that lists and reads resources. It runs in a sandbox, with limits
on memory, time and output. It has no access to files, network and environment, except what
you grant with flags.

   wasmres run provider.wasm                    serve an MCP client on stdin and stdout
   wasmres run --http 127.0.0.1:8080 p.wasm     serve MCP clients at http://127.0.0.1:8080/mcp
   wasmres list p.wasm                          list its resources without a client
   wasmres read p.wasm greeting://World

   wasmres new notes                            begin a provider of your own

Exit status: 0 success, 1 the provider or the request failed, 2 wrong usage, 3 no compiler,
4 a conflict with another change, 5 no server answers.`

// version is that of the module, as Go's build information has it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
