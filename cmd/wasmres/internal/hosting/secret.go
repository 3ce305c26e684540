package hosting

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/seal"
)

// SecretCommand returns the command secret.
func SecretCommand() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "secret", Usage: "set and remove secrets that a running server keeps sealed for a tenant",
		Description: `Requests of a tenant's providers may carry its secrets, as policies permit: 'sealed: NAME' in secrets. Providers
never see them, and nothing shows them again.

   wasmres secret new-key /etc/wasmres/secrets.key
   wasmres secret set acme token < token.txt`,
		Subcommands: []*cli.Command{
			{
				Name: "set", Usage: "set a secret to the text on standard input", ArgsUsage: "TENANT NAME",
				Description:  `A line end at the end of the text is not part of the secret. Providers that use the secret are opened anew.`,
				Flags:        serverFlags(),
				OnUsageError: cli.OnUsageError, Action: setSecret,
			},
			{
				Name: "list", Usage: "list the names of a tenant's secrets", ArgsUsage: "TENANT",
				Flags:        serverFlags(cli.FormatFlag(cli.ReportFormats)),
				OnUsageError: cli.OnUsageError, Action: listSecrets,
			},
			{
				Name: "remove", Usage: "remove a secret", ArgsUsage: "TENANT NAME",
				Flags:        serverFlags(),
				OnUsageError: cli.OnUsageError, Action: removeSecret,
			},
			{
				Name: "new-key", Usage: "write a key by which a server seals secrets", ArgsUsage: "FILE",
				Description:  `Never replaces a file. Name it as secrets.key in serve.yaml. A person with the key and the server's data has the secrets.`,
				OnUsageError: cli.OnUsageError, Action: newSealKey,
			},
			{
				Name: "rotate-key", Usage: "seal all secrets by a new key",
				Description: `The server writes the new key into its file beside the old one, seals all secrets anew, and removes the old key. If it
was ended meanwhile, the next call goes on. With a systemd credential, put the new key on the line before the old one, start the
server again, run this, and remove the old line then.`,
				Flags:        serverFlags(),
				OnUsageError: cli.OnUsageError, Action: rotateSealKey,
			},
		},
	})
}

func setSecret(c *cli.Context) error {
	args, err := cli.Arguments(c, "TENANT", "NAME")
	if err != nil {
		return err
	}
	if terminal.IsTerminal(c.App.ErrWriter) {
		fmt.Fprintln(c.App.ErrWriter, "Reading the secret from standard input.")
	}
	text, err := io.ReadAll(io.LimitReader(c.App.Reader, seal.MaxValue))
	if err != nil {
		return fmt.Errorf("read the secret from standard input: %w", err)
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		made, err := s.SetSecret(ctx, args[0], args[1], value)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "Secret %s of %s: set.\n", terminal.Cell(made.Name), terminal.Cell(made.Tenant))
		return nil
	})
}

func listSecrets(c *cli.Context) error {
	args, err := cli.Arguments(c, "TENANT")
	if err != nil {
		return err
	}
	next := func(ctx context.Context, s *admin.Client, cursor string) (admin.Page[admin.Secret], error) {
		return s.Secrets(ctx, args[0], cursor)
	}
	return printList(c, next, []string{"NAME", "CHANGED", "BY"}, func(one *admin.Secret) []string {
		return []string{one.Name, one.Changed.UTC().Format("2006-01-02T15:04:05Z"), one.Changer}
	})
}

func removeSecret(c *cli.Context) error {
	args, err := cli.Arguments(c, "TENANT", "NAME")
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		if err := s.RemoveSecret(ctx, args[0], args[1]); err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "Secret %s of %s: removed.\n", terminal.Cell(args[1]), terminal.Cell(args[0]))
		return nil
	})
}

func newSealKey(c *cli.Context) error {
	args, err := cli.Arguments(c, "FILE")
	if err != nil {
		return err
	}
	if err := seal.New().WriteNew(args[0]); err != nil {
		return fmt.Errorf("write a key: %w", err)
	}
	fmt.Fprintf(c.App.ErrWriter, "Wrote a key to %s. Keep a copy in a safe place: without it, secrets are lost.\n", terminal.Cell(args[0]))
	return nil
}

func rotateSealKey(c *cli.Context) error {
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		did, err := s.RotateSecretKey(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "Sealed %s anew.\n", terminal.Counted(did.Sealed, "secret"))
		if did.Remaining > 0 {
			fmt.Fprintf(c.App.ErrWriter, "Remove all keys but the first from the credential, and start the server again.\n")
		}
		return nil
	})
}
