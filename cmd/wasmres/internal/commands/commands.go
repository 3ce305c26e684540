// Package commands has all commands of the program, for the program and for what describes it.
package commands

import (
	"io"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/bench"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/browse"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/build"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/check"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/completion"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/dev"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/hosting"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/images"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/inspect"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/install"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/machine"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/permission"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/serve"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/test"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/token"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/view"
)

// New returns the program with all commands, for one command line. cli.Describe describes it.
func New(in io.Reader, out, errOut io.Writer) *cli.App {
	return &cli.App{
		Name:        "wasmres",
		Usage:       "serve MCP resources from untrusted WebAssembly providers",
		Description: description,
		Version:     cli.Version(),
		Reader:      in,
		Writer:      out,
		ErrWriter:   errOut,
		Commands:    all(),
	}
}

const description = `A provider is a .wasm file that lists and reads resources. It runs in a sandbox
without access to files, network and environment, except what you grant.

   wasmres install p.wasm                     have your MCP clients run it
   wasmres run p.wasm                         serve a client on stdin and stdout
   wasmres run --http 127.0.0.1:8080 p.wasm   serve clients over HTTP
   wasmres read p.wasm greeting://World       read a resource without a client
   wasmres new notes                          begin a provider of your own

Exit status: 0 success, 1 the provider or the request failed, 2 wrong usage, 3 no compiler, 4 a conflict
with another change, 5 no server answers.`

// all returns the commands by category, in the order of the help.
func all() (commands []*cli.Command) {
	for _, of := range []struct {
		category string
		commands []*cli.Command
	}{
		{"Use providers", []*cli.Command{
			serve.Command(), view.ListCommand(), view.TemplatesCommand(), view.ReadCommand(), view.CompleteCommand(), browse.Command(),
			inspect.Command(), install.Command(), install.UninstallCommand(),
		}},
		{"Write providers", []*cli.Command{
			build.NewCommand(), dev.Command(), build.Command(), test.Command(), check.Command(), bench.Command(),
		}},
		{"Publish providers", []*cli.Command{
			images.PushCommand(), images.PullCommand(), images.CopyCommand(), images.SignCommand(), images.VerifyCommand(),
			images.KeygenCommand(), images.LoginCommand(), images.LogoutCommand(), images.Command(), images.ServerJSONCommand(),
		}},
		{"Permit and admit", []*cli.Command{permission.Command(), permission.PolicyCommand(), token.Command()}},
		{"Host tenants", []*cli.Command{
			hosting.ServeCommand(), hosting.KeyCommand(), hosting.AdminKeyCommand(), hosting.SecretCommand(), hosting.TenantCommand(),
			hosting.PlanCommand(), hosting.ReloadCommand(), hosting.TopCommand(), hosting.AuditCommand(), hosting.UsageCommand(),
			hosting.CrashCommand(), hosting.LogsCommand(), hosting.SessionCommand(), hosting.DeployCommand(), hosting.ApproveCommand(), hosting.RejectCommand(),
			hosting.PromoteCommand(), hosting.RollbackCommand(),
		}},
		{"This program", []*cli.Command{hosting.VersionCommand(), machine.DoctorCommand(), machine.CacheCommand(), completion.Command(), completion.WordsCommand(New)}},
	} {
		for _, c := range of.commands {
			c.Category = of.category
		}
		commands = append(commands, of.commands...)
	}
	return commands
}
