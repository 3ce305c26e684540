package providers

import (
	"fmt"
	"os"
	"os/user"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/approval"
)

// ApprovalsFlag returns the flag --approvals, the directory of approvals.
func ApprovalsFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "approvals", Category: cli.CategoryHost, EnvVars: []string{"WASMRES_APPROVALS"},
		Usage: "store approvals in this `FOLDER`, which must be private to you " +
			"(default: wasmres/approvals in the user's configuration folder)",
	}
}

// OpenApprovals opens the store of --approvals.
func OpenApprovals(c *cli.Context) (*approval.Store, error) {
	dir := c.String("approvals")
	if dir == "" {
		var err error
		if dir, err = approval.DefaultDir(); err != nil {
			return nil, fmt.Errorf("open approvals: %w: set --approvals", err)
		}
	}
	return approval.Open(dir)
}

// AskingTerminal opens the terminal on which to ask the user, and gives a function that closes it; both are nil if there
// is none. Standard input and standard error must be a terminal as well: if a client started the program, the user expects
// no question.
func AskingTerminal(c *cli.Context) (*approval.Terminal, func()) {
	if !terminal.IsTerminal(c.App.Reader) || !terminal.IsTerminal(c.App.ErrWriter) {
		return nil, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, nil
	}
	return &approval.Terminal{In: tty, Out: tty, Width: terminal.Width(tty)}, func() { _ = tty.Close() }
}

// UserName returns the name of the user, for records; empty if it is unknown.
func UserName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
