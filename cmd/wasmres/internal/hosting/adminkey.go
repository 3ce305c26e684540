package hosting

import (
	"context"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
)

// AdminKeyCommand returns the command admin-key.
func AdminKeyCommand() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "admin-key", Usage: "make and revoke the keys by which operators administer a running server from other machines",
		Description: `An admin key is for a person or program that administers 'wasmres serve' at the address admin.tls of
serve.yaml. What it may do is its role:

   operator       everything
   tenant-admin   manages one tenant, but not what its plan permits
   deployer       pushes versions and gives them clients; approves nothing
   auditor        reads

   wasmres admin-key new ci --role deployer --tenant acme
   wasmres tenant show acme --url https://host:9443 --admin-key-file ci.key`,
		Subcommands: []*cli.Command{
			{
				Name: "new", Usage: "make an admin key, and print it once", ArgsUsage: "NAME",
				Description: `Prints the key, and nothing else, on standard output. Nothing can show it again.`,
				Flags: serverFlags(
					cli.Choice(&cli.StringFlag{Name: "role", Usage: "what the key may do: the `ROLE` operator, tenant-admin, deployer or auditor"}, "operator", "tenant-admin", "deployer", "auditor"),
					&cli.StringFlag{Name: "tenant", Usage: "the only `TENANT` that the key is for; a tenant-admin needs one"},
					&cli.StringFlag{Name: "expires", Value: "90d", Usage: "the `TIME` for which the key is good, as 90d or 12h, or never"},
				),
				OnUsageError: cli.OnUsageError, Action: newAdminKey,
			},
			{
				Name: "list", Usage: "list the admin keys",
				Flags:        serverFlags(cli.FormatFlag(cli.ReportFormats)),
				OnUsageError: cli.OnUsageError, Action: listAdminKeys,
			},
			{
				Name: "revoke", Usage: "refuse an admin key from now on", ArgsUsage: "ID",
				Flags:        serverFlags(),
				OnUsageError: cli.OnUsageError, Action: revoke("admin key", (*admin.Client).RevokeAdminKey),
			},
		},
	})
}

func newAdminKey(c *cli.Context) error {
	args, err := cli.Arguments(c, "NAME")
	if err != nil {
		return err
	}
	if c.String("role") == "" {
		return cli.Usagef(c, "--role is missing: it is one of operator, tenant-admin, deployer, auditor")
	}
	key := admin.NewAdminKey{Name: args[0], Role: admin.Role(c.String("role")), Tenant: c.String("tenant")}
	if key.Expires, err = expires(c); err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		made, err := s.CreateAdminKey(ctx, key)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "Admin key %s for %s, %s%s; expires: %s. It is shown only now:\n", terminal.Cell(made.ID), terminal.Cell(made.Name),
			terminal.Cell(string(made.Role)), ofTenant(made.Tenant), endOf(made.Expires, made.Expired))
		_, err = fmt.Fprintln(c.App.Writer, terminal.Cell(made.Text))
		return err
	})
}

// ofTenant says of which tenant a holder of a key is; empty for all.
func ofTenant(id string) string {
	if id == "" {
		return ""
	}
	return " of " + terminal.Cell(id)
}

// expires returns the end of a new key, as --expires says it.
func expires(c *cli.Context) (string, error) {
	given := c.String("expires")
	if given == admin.Never {
		return admin.Never, nil
	}
	last, err := cli.ParseDays(given)
	if err != nil {
		return "", cli.Usagef(c, "--expires: %w, or %s", err, admin.Never)
	}
	return time.Now().Add(last).UTC().Format(time.RFC3339), nil
}

func listAdminKeys(c *cli.Context) error {
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	next := func(ctx context.Context, s *admin.Client, cursor string) (admin.Page[admin.AdminKey], error) {
		return s.AdminKeys(ctx, cursor)
	}
	return printList(c, next, []string{"ID", "NAME", "ROLE", "TENANT", "EXPIRES", "CREATOR"}, func(k *admin.AdminKey) []string {
		return []string{k.ID, k.Name, string(k.Role), k.Tenant, endOf(k.Expires, k.Expired), k.Creator}
	})
}
