package hosting

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/admin"
)

const categoryServer = "Which server"

// serverFlags are those of a command that asks a server, and more.
func serverFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.StringFlag{Name: "socket", Category: categoryServer, EnvVars: []string{"WASMRES_SOCKET"}, Usage: "the `PATH` of the server's admin socket (default: admin.sock in the folder of --data)"},
		DataFlag(categoryServer),
	)
}

// ask calls do with a client of the server that the flags name, and explains its error.
func ask(c *cli.Context, do func(ctx context.Context, s *admin.Client) error) error {
	socket := c.String("socket")
	data, err := DataDir(c)
	if socket == "" {
		if err != nil {
			return err
		}
		socket = filepath.Join(data, admin.SocketName)
	}
	client := admin.NewClient(socket)
	defer client.Close()
	return explain(do(c.Context, client), socket, data)
}

// explain adds to the error of a server what to do, and its exit status.
func explain(err error, socket, data string) error {
	var p *admin.Problem
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return cli.Unreachable(fmt.Errorf("the socket %s belongs to another user: run the command as that user, or as root", socket))
	case errors.Is(err, admin.ErrUnreachable):
		return cli.Unreachable(fmt.Errorf("%w: start a server with 'wasmres serve --data %s', or name another one with --data or --socket", err, data))
	case errors.As(err, &p) && (p.Code == admin.CodeConflict || p.Code == admin.CodeOwned):
		return cli.Conflict(err)
	}
	return err
}

// everyPage returns all items of a list.
func everyPage[T any](next func(cursor string) (admin.Page[T], error)) ([]T, error) {
	all := []T{}
	for cursor := ""; ; {
		page, err := next(cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all, nil
		}
		if page.Next <= cursor {
			return nil, errors.New("the server repeats the pages of its list")
		}
		cursor = page.Next
	}
}
