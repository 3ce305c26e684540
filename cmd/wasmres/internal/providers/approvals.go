package providers

import (
	"fmt"
	"os"
	"os/user"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/approval"
)

// ApprovalsFlag says where approvals are kept.
func ApprovalsFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "approvals", Category: categoryHost, EnvVars: []string{"WASMRES_APPROVALS"},
		Usage: "keep what was granted in this `FOLDER`, which must be private to you " +
			"(default: wasmres/approvals in the user's configuration folder)",
	}
}

// OpenApprovals opens the store of approvalsFlag.
func OpenApprovals(c *cli.Context) (*approval.Store, error) {
	dir := c.String("approvals")
	if dir == "" {
		var err error
		if dir, err = approval.DefaultDir(); err != nil {
			return nil, fmt.Errorf("approvals: %w: say where with --approvals", err)
		}
	}
	return approval.Open(dir)
}

// AskingTerminal opens the terminal of the person who typed the command; nil when there is none. Standard input must be that
// terminal too: where it is a client, there may be a terminal but nobody at it who expects a question.
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

func UserName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
