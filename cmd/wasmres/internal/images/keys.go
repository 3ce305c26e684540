package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/registry"
)

// The variables of the environment with the passphrase of a private key: ours, and cosign's.
var passphraseVariables = []string{"WASMRES_KEY_PASSPHRASE", "COSIGN_PASSWORD"}

// KeygenCommand returns the command keygen.
func KeygenCommand() *cli.Command {
	return &cli.Command{
		Name: "keygen", Usage: "make a key that signs providers", ArgsUsage: "NAME",
		Description: `Writes NAME.key, which a passphrase encrypts, and NAME.pub, which users of your providers need. cosign can use
both. The passphrase comes from the terminal or from WASMRES_KEY_PASSPHRASE.

   wasmres keygen ada
   wasmres push --sign ada.key notes.wasm ghcr.io/ada/notes:1.0.0`,
		OnUsageError: cli.OnUsageError, Action: keygen,
	}
}

func keygen(c *cli.Context) error {
	args, err := cli.Arguments(c, "NAME")
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(args[0], ".key")
	secret, err := newPassphrase(c.Context)
	if err != nil {
		return fmt.Errorf("keygen: %w", err)
	}
	pair, err := registry.GenerateKey(secret)
	if err != nil {
		return fmt.Errorf("keygen: %w", err)
	}
	if err := pair.Write(name); err != nil {
		return fmt.Errorf("keygen: %w", err)
	}
	public, err := registry.LoadPublicKey(name + ".pub")
	if err != nil {
		return fmt.Errorf("keygen: %w", err)
	}
	fmt.Fprintf(c.App.Writer, "made %s.key, which is secret, and %s.pub, for users of your providers\nkey %s\n", name, name, public.ID())
	return nil
}

// fixedPassphrase returns the passphrase of the environment, which may be empty.
func fixedPassphrase() (secret []byte, found bool) {
	for _, name := range passphraseVariables {
		if value, found := os.LookupEnv(name); found {
			return []byte(value), true
		}
	}
	return nil, false
}

var errNoTerminal = errors.New("there is no terminal to ask for the passphrase: set WASMRES_KEY_PASSPHRASE")

// newPassphrase asks twice for a passphrase.
func newPassphrase(ctx context.Context) ([]byte, error) {
	if secret, found := fixedPassphrase(); found {
		return secret, nil
	}
	user, err := terminal.OpenConsole()
	if err != nil {
		return nil, errNoTerminal
	}
	defer user.Close()
	first, err := user.Secret(ctx, "Passphrase of the new key (empty: the file itself is the secret): ")
	if err != nil {
		return nil, err
	}
	again, err := user.Secret(ctx, "The same again: ")
	if err != nil {
		return nil, err
	}
	if string(first) != string(again) {
		return nil, errors.New("the passphrases differ: nothing was made")
	}
	return first, nil
}

// loadSigner reads a private key. It tries an empty passphrase before it asks for one.
func loadSigner(ctx context.Context, file string) (*registry.Signer, error) {
	secret, found := fixedPassphrase()
	signer, err := registry.LoadSigner(file, secret)
	if found || !errors.Is(err, registry.ErrPassphrase) {
		return signer, err
	}
	user, err := terminal.OpenConsole()
	if err != nil {
		return nil, errNoTerminal
	}
	defer user.Close()
	if secret, err = user.Secret(ctx, "Passphrase of "+file+": "); err != nil {
		return nil, err
	}
	return registry.LoadSigner(file, secret)
}
