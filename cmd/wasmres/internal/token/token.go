// Package token has the command token, which makes, lists and revokes bearer tokens of clients over HTTP.
package token

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// Command returns the command token.
func Command() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "token", Usage: "make and revoke tokens of clients for 'wasmres run --http'",
		Description: `A token is for one client, which sends it in the header Authorization, after "Bearer ". The file has
hashes of tokens, and says which resources each client may see. A running server reads it again
when it changes.

   wasmres token new --tokens tokens.yaml --name ada --uri 'notes://drafts/**'
   wasmres run --http :8080 --tokens tokens.yaml notes.wasm`,
		Subcommands: []*cli.Command{
			{
				Name: "new", Usage: "make a token, and print it once",
				Description: `Prints the token, which nothing can show again. With --tokens adds its entry to the file; otherwise
prints the file with the entry, too.`,
				Flags: []cli.Flag{
					fileFlag("add the entry to this `FILE`, which is made if there is none"),
					&cli.StringFlag{Name: "name", Value: "client", Usage: "the `NAME` of the client, for providers and the access log"},
					&cli.StringFlag{Name: "expires", Value: "90d", Usage: "the `TIME` for which it is good, as 90d or 12h, or never"},
					&cli.StringSliceFlag{Name: "uri", Usage: "let the client see resources with URIs of this `PATTERN` only, as in notes://drafts/**; may be repeated"},
				},
				OnUsageError: cli.OnUsageError, Action: newToken,
			},
			{
				Name: "list", Usage: "list the tokens of a file",
				Flags:        []cli.Flag{fileFlag("list the tokens of this `FILE`"), cli.FormatFlag(cli.ReportFormats)},
				OnUsageError: cli.OnUsageError, Action: listTokens,
			},
			{
				Name: "revoke", Usage: "remove tokens from a file", ArgsUsage: "ID|NAME",
				Description: `Removes the token with the id, or all tokens of the name. Servers refuse them within a second, and end
their streams. The file is written anew, without comments.`,
				Flags:        []cli.Flag{fileFlag("remove tokens from this `FILE`")},
				OnUsageError: cli.OnUsageError, Action: revokeTokens,
			},
		},
	})
}

func fileFlag(usage string) cli.Flag { return &cli.StringFlag{Name: "tokens", Usage: usage} }

func newToken(c *cli.Context) error {
	entry := tokens.Token{Name: c.String("name"), URIs: c.StringSlice("uri")}
	if c.NArg() > 0 {
		return cli.Usagef(c, "one argument too many: %q", c.Args().First())
	}
	if err := tokens.CheckName(entry.Name); err != nil {
		return cli.Usagef(c, "--name: %w", err)
	}
	for _, uri := range entry.URIs {
		if _, err := auth.ParsePattern(uri); err != nil {
			return cli.Usagef(c, "--uri: %w", err)
		}
	}
	if len(entry.URIs) == 0 {
		entry.URIs = []string{"**"}
	}
	var err error
	if entry.Expires, err = expiry(c.String("expires"), time.Now()); err != nil {
		return cli.Usagef(c, "--expires: %w", err)
	}
	text, id, sum := tokens.New()
	entry.ID, entry.SHA256 = id, hex.EncodeToString(sum[:])
	file := c.String("tokens")
	if file == "" {
		all := tokens.File{Version: tokens.Version, Tokens: []tokens.Token{entry}}
		_, err = fmt.Fprintf(c.App.Writer, "%s\n\n%s", text, all.Encode())
		return err
	}
	if err := add(file, entry); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "Token %s of %s added to %s; expires: %s. It is shown only now:\n", id, entry.Name, file, entry.Expires)
	_, err = fmt.Fprintln(c.App.Writer, text)
	return err
}

// expiry returns the end of a token that is good for a time from now on, as a file has it.
func expiry(s string, now time.Time) (string, error) {
	if s == tokens.Never {
		return s, nil
	}
	last, err := cli.ParseDays(s)
	if err != nil {
		return "", fmt.Errorf("%w, or %s", err, tokens.Never)
	}
	return now.Add(last).UTC().Format(time.RFC3339), nil
}

// add adds an entry to a file, and makes the file if there is none.
func add(file string, entry tokens.Token) error {
	all, err := tokens.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		all, err = &tokens.File{Version: tokens.Version}, nil
	}
	if err != nil {
		return err
	}
	if len(all.Tokens) >= tokens.Max {
		return fmt.Errorf("%s has %d tokens, which is the most: revoke some", file, len(all.Tokens))
	}
	all.Tokens = append(all.Tokens, entry)
	return all.Write(file)
}

// read reads the file of --tokens.
func read(c *cli.Context) (file string, all *tokens.File, err error) {
	if file = c.String("tokens"); file == "" {
		return "", nil, cli.Usagef(c, "--tokens FILE is missing")
	}
	all, err = tokens.Read(file)
	return file, all, err
}

// A listed token is one as JSON.
type listed struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Expires string   `json:"expires"`
	URIs    []string `json:"uris"`
}

func listTokens(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	_, all, err := read(c)
	if err != nil {
		return err
	}
	list := make([]listed, 0, len(all.Tokens))
	for _, t := range all.Tokens {
		list = append(list, listed{t.ID, t.Name, t.Expires, t.URIs})
	}
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, list)
	}
	var rows [][]string
	for _, t := range list {
		expires := t.Expires
		if end, err := time.Parse(time.RFC3339, expires); err == nil && end.Before(time.Now()) {
			expires += " (over)"
		}
		rows = append(rows, []string{t.ID, t.Name, expires, strings.Join(t.URIs, " ")})
	}
	return terminal.PrintTable(c.App.Writer, []string{"ID", "NAME", "EXPIRES", "URIS"}, rows)
}

func revokeTokens(c *cli.Context) error {
	if c.NArg() != 1 {
		return cli.Usagef(c, "write the id or the name of a token, as 'wasmres token list' prints it")
	}
	file, all, err := read(c)
	if err != nil {
		return err
	}
	which, before := c.Args().First(), len(all.Tokens)
	all.Tokens = slices.DeleteFunc(all.Tokens, func(t tokens.Token) bool { return t.ID == which || t.Name == which })
	revoked := before - len(all.Tokens)
	if revoked == 0 {
		return fmt.Errorf("no token of %s has the id or name %q", file, which)
	}
	if err := all.Write(file); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "Revoked %s of %s.\n", terminal.Counted(revoked, "token"), file)
	return nil
}
