package hosting

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
)

// KeyCommand returns the command key.
func KeyCommand() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "key", Usage: "make and revoke API keys of a tenant's clients, on a running server",
		Description: `A key is for one client of one tenant of 'wasmres serve'. The client sends it in the header
Authorization, after "Bearer ". What it may do is what its roles permit, which the tenant's file has.

   wasmres key new acme --name ada --role reader
   wasmres key list acme
   wasmres key rotate k7q2mzm5x3fd --grace 24h`,
		Subcommands: []*cli.Command{
			{
				Name: "new", Usage: "make a key, and print it once", ArgsUsage: "TENANT",
				Description: `Prints the key, and nothing else, on standard output. Nothing can show it again.`,
				Flags: serverFlags(
					&cli.StringFlag{Name: "name", Value: "client", Usage: "the `NAME` of the client, for providers and the access log"},
					&cli.StringSliceFlag{Name: "role", Usage: "give the client this `ROLE` of the tenant; may be repeated"},
					&cli.StringSliceFlag{Name: "uri", Usage: "let the client see resources with URIs of this `PATTERN` only, as in notes://drafts/**; may be repeated"},
					&cli.StringSliceFlag{Name: "network", Usage: "accept the key from this `NETWORK` only, as in 192.0.2.0/24; may be repeated"},
					&cli.StringFlag{Name: "expires", Value: "90d", Usage: "the `TIME` for which the key is good, as 90d or 12h, or never"},
				),
				OnUsageError: cli.OnUsageError, Action: newKey,
			},
			{
				Name: "list", Usage: "list the keys of a tenant, or of all", ArgsUsage: "[TENANT]",
				Flags:        serverFlags(cli.FormatFlag(cli.ReportFormats)),
				OnUsageError: cli.OnUsageError, Action: listKeys,
			},
			{
				Name: "revoke", Usage: "refuse a key from now on", ArgsUsage: "ID",
				Description:  `The server refuses the key with the next request, and ends the client's streams.`,
				Flags:        serverFlags(),
				OnUsageError: cli.OnUsageError, Action: revoke("key", (*admin.Client).RevokeKey),
			},
			{
				Name: "rotate", Usage: "make a key that replaces another, and print it once", ArgsUsage: "ID",
				Description: `The new key may do what the old one may, which is good for the time of --grace. Prints the key, and
nothing else, on standard output.`,
				Flags: serverFlags(
					&cli.StringFlag{Name: "grace", Value: "24h", Usage: "the `TIME` for which the old key is good, as 24h or 7d; 0 ends it at once"},
				),
				OnUsageError: cli.OnUsageError, Action: rotateKey,
			},
		},
	})
}

func newKey(c *cli.Context) error {
	args, err := cli.Arguments(c, "TENANT")
	if err != nil {
		return err
	}
	if len(c.StringSlice("role")) == 0 {
		return cli.Usagef(c, "--role is missing: 'wasmres tenant show %s' lists the roles of the tenant", args[0])
	}
	key := admin.NewKey{Name: c.String("name"), Roles: c.StringSlice("role"), URIs: c.StringSlice("uri"), Networks: c.StringSlice("network")}
	if key.Expires, err = expires(c); err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		made, err := s.CreateKey(ctx, args[0], key)
		if err != nil {
			return err
		}
		return printIssued(c, &made)
	})
}

// printIssued prints the text of a key, alone on standard output.
func printIssued(c *cli.Context, k *admin.IssuedKey) error {
	fmt.Fprintf(c.App.ErrWriter, "Key %s of %s for %s, with %s; expires: %s. It is shown only now:\n",
		terminal.Cell(k.ID), terminal.Cell(k.Tenant), terminal.Cell(k.Name), terminal.Cell(strings.Join(k.Roles, ", ")), expiryOf(&k.Key))
	_, err := fmt.Fprintln(c.App.Writer, terminal.Cell(k.Text))
	return err
}

func expiryOf(k *admin.Key) string { return endOf(k.Expires, k.Expired) }

// endOf returns when a key ends.
func endOf(at *time.Time, over bool) string {
	if at == nil {
		return admin.Never
	}
	end := at.UTC().Format(time.RFC3339)
	if over {
		end += " (over)"
	}
	return end
}

func listKeys(c *cli.Context) error {
	if c.NArg() > 1 {
		return cli.Usagef(c, "one argument too many: %q", c.Args().Get(1))
	}
	next := func(ctx context.Context, s *admin.Client, cursor string) (admin.Page[admin.Key], error) {
		return s.Keys(ctx, c.Args().First(), cursor)
	}
	return printList(c, next, []string{"ID", "TENANT", "NAME", "ROLES", "EXPIRES", "USED", "ONLY"}, func(k *admin.Key) []string {
		return []string{
			k.ID, k.Tenant, k.Name, strings.Join(k.Roles, " "), expiryOf(k), cmp.Or(k.LastUsed, "never"), strings.Join(append(k.URIs, k.Networks...), " "),
		}
	})
}

// revoke returns the action that revokes the key, of that kind, whose ID is the argument.
func revoke(kind string, request func(s *admin.Client, ctx context.Context, id string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		args, err := cli.Arguments(c, "ID")
		if err != nil {
			return err
		}
		return ask(c, func(ctx context.Context, s *admin.Client) error {
			if err := request(s, ctx, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.App.ErrWriter, "Revoked %s %s.\n", kind, terminal.Cell(args[0]))
			return nil
		})
	}
}

func rotateKey(c *cli.Context) error {
	args, err := cli.Arguments(c, "ID")
	if err != nil {
		return err
	}
	var grace time.Duration
	if given := c.String("grace"); given != "0" {
		if grace, err = cli.ParseDays(given); err != nil {
			return cli.Usagef(c, "--grace: %w, or 0", err)
		}
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		made, err := s.RotateKey(ctx, args[0], grace)
		if err != nil {
			return err
		}
		return printIssued(c, &made)
	})
}
