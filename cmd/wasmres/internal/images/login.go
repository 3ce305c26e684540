package images

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
)

// LoginCommand returns the command login.
func LoginCommand() *cli.Command {
	return &cli.Command{
		Name: "login", Usage: "store credentials of a registry", ArgsUsage: "HOST",
		Description: `Checks the credentials with the registry and stores them where docker, oras and crane find them: in the
credential helper that docker's config.json names, or else in that file.

   wasmres login ghcr.io --username ada
   wasmres login ghcr.io --username ada --password-stdin < token`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "username", Aliases: []string{"u"}, Usage: "the `NAME` of the user at the registry"},
			&cli.BoolFlag{Name: "password-stdin", Usage: "read the password or token from standard input"},
		}, references.ClientFlags()...),
		OnUsageError: cli.OnUsageError, Action: login,
	}
}

// LogoutCommand returns the command logout.
func LogoutCommand() *cli.Command {
	return &cli.Command{
		Name: "logout", Usage: "forget the credentials of a registry", ArgsUsage: "HOST",
		OnUsageError: cli.OnUsageError, Action: logout, Flags: references.ClientFlags(),
	}
}

func login(c *cli.Context) error {
	args, err := cli.Arguments(c, "HOST")
	if err != nil {
		return err
	}
	client, err := references.OpenClient(c)
	if err != nil {
		return err
	}
	defer client.Close()
	user, secret, err := credentials(c)
	if err != nil {
		return err
	}
	if err := client.Login(c.Context, args[0], user, secret); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "logged in to %s as %s\n", args[0], user)
	return nil
}

// maxPassword bounds a password on standard input, in bytes: tokens may be some kilobytes.
const maxPassword = 64 << 10

// credentials reads those of the flags, and asks for what is missing.
func credentials(c *cli.Context) (user, secret string, err error) {
	user = c.String("username")
	if c.Bool("password-stdin") {
		if user == "" {
			return "", "", cli.Usagef(c, "--password-stdin needs --username")
		}
		text, err := io.ReadAll(io.LimitReader(c.App.Reader, maxPassword+1))
		if err == nil && len(text) > maxPassword {
			err = fmt.Errorf("it has more than %d bytes", maxPassword)
		}
		if err != nil {
			return "", "", fmt.Errorf("read the password: %w", err)
		}
		return user, strings.TrimRight(string(text), "\r\n"), nil
	}
	console, err := terminal.OpenConsole()
	if err != nil {
		return "", "", errors.New("there is no terminal to ask for the password: use --username and --password-stdin")
	}
	defer console.Close()
	if user == "" {
		if user, err = console.Line(c.Context, "Username: "); err != nil {
			return "", "", err
		}
		user = strings.TrimSpace(user)
	}
	password, err := console.Secret(c.Context, "Password: ")
	return user, string(password), err
}

func logout(c *cli.Context) error {
	args, err := cli.Arguments(c, "HOST")
	if err != nil {
		return err
	}
	client, err := references.OpenClient(c)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Logout(c.Context, args[0]); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "logged out of %s\n", args[0])
	return nil
}
