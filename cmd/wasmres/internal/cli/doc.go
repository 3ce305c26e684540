// Package cli has what all commands of wasmres share: arguments and errors in them, exit statuses, output formats, logs, and
// messages for failures. It has the types of urfave/cli under the same names; no other package imports urfave/cli.
package cli
