// Package references finds the modules of providers that a command line names by a reference.
package references
