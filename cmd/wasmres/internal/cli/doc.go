// Package cli is what the commands of wasmres share: flags, arguments and mistakes in them, exit statuses, output formats,
// logs, and messages for failures. Commands find the types of urfave/cli here under the same names; no other package
// imports urfave/cli.
package cli
