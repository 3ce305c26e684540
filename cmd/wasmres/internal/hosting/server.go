package hosting

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
)

// serverFlags are those of a command that asks a server, and more.
func serverFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.StringFlag{Name: "socket", Category: cli.CategoryServer, EnvVars: []string{"WASMRES_SOCKET"}, Usage: "the `PATH` of the server's admin socket (default: admin.sock in the folder of --data)"},
		DataFlag(cli.CategoryServer),
		&cli.StringFlag{Name: "url", Category: cli.CategoryServer, EnvVars: []string{"WASMRES_URL"}, Usage: "the `URL` of the admin API of a server on another machine, as https://host:9443, instead of a socket"},
		&cli.StringFlag{Name: "admin-key-file", Category: cli.CategoryServer, EnvVars: []string{"WASMRES_ADMIN_KEY_FILE"}, Usage: "for --url: the `FILE` that has the admin key, which only its owner may read"},
		&cli.StringFlag{Name: "ca", Category: cli.CategoryServer, EnvVars: []string{"WASMRES_CA"}, Usage: "for --url: the PEM `FILE` of the authority of the server's certificate (default: those of the system)"},
		&cli.StringFlag{Name: "cert", Category: cli.CategoryServer, Usage: "for --url: the PEM `FILE` of a certificate that says who asks"},
		&cli.StringFlag{Name: "cert-key", Category: cli.CategoryServer, Usage: "for --url: the PEM `FILE` of the key of --cert"},
	)
}

// ask calls do with a client of the server that the flags name, and explains its error.
func ask(c *cli.Context, do func(ctx context.Context, s *admin.Client) error) error {
	if c.String("url") != "" {
		return askRemote(c, do)
	}
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

// askRemote calls do with a client of the server at --url.
func askRemote(c *cli.Context, do func(ctx context.Context, s *admin.Client) error) error {
	if c.IsSet("socket") || c.IsSet("data") {
		return cli.Usagef(c, "--url excludes --socket and --data")
	}
	to := admin.Remote{URL: c.String("url"), TLS: &tls.Config{MinVersion: tls.VersionTLS12}}
	if file := c.String("ca"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read --ca: %w", err)
		}
		if to.TLS.RootCAs = x509.NewCertPool(); !to.TLS.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("read --ca: %s has no certificate in PEM", file)
		}
	}
	if cert := c.String("cert"); cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, c.String("cert-key"))
		if err != nil {
			return fmt.Errorf("read --cert and --cert-key: %w", err)
		}
		to.TLS.Certificates = []tls.Certificate{pair}
	}
	if file := c.String("admin-key-file"); file != "" {
		var err error
		if to.Key, err = readKey(file); err != nil {
			return fmt.Errorf("read --admin-key-file: %w", err)
		}
	}
	client, err := admin.NewRemoteClient(to)
	if err != nil {
		return cli.Usagef(c, "--url: %w", err)
	}
	defer client.Close()
	err = do(c.Context, client)
	if errors.Is(err, admin.ErrUnreachable) {
		return cli.Unreachable(err)
	}
	return explain(err, "", "")
}

// maxKeyFile bounds the file of an admin key, in bytes.
const maxKeyFile = 4 << 10

// readKey reads the admin key in a file, which other users must not be able to read.
func readKey(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 && runtime.GOOS != "windows" { // which has no such modes
		return "", fmt.Errorf("other users can read %s (mode %#o): run chmod 600 %s", file, mode.Perm(), file)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(text) > maxKeyFile {
		err = fmt.Errorf("%s has more than %d bytes", file, maxKeyFile)
	}
	return strings.TrimSpace(string(text)), err
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

// printList prints all items of a list of the server: as a table with a row for each, or as the command's flag says.
func printList[T any](
	c *cli.Context, next func(ctx context.Context, s *admin.Client, cursor string) (admin.Page[T], error), head []string, row func(*T) []string,
) error {
	return printSorted(c, next, func([]T) {}, head, row)
}

// printSorted does as printList does, in an order of its own.
func printSorted[T any](
	c *cli.Context, next func(ctx context.Context, s *admin.Client, cursor string) (admin.Page[T], error), sort func([]T), head []string, row func(*T) []string,
) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		all, err := everyPage(func(cursor string) (admin.Page[T], error) { return next(ctx, s, cursor) })
		if err != nil {
			return err
		}
		sort(all)
		if format != cli.FormatTable {
			return cli.PrintValue(c.App.Writer, format, all)
		}
		var rows [][]string
		for i := range all {
			rows = append(rows, row(&all[i]))
		}
		return terminal.PrintTable(c.App.Writer, head, rows)
	})
}
