// Package completion has the command completion, which prints scripts for shells, and the hidden command that those scripts
// ask: it completes commands, flags, their values, files of modules, and URIs of the provider on the command line.
package completion
