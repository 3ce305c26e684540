// Package terminal writes text for a person: tables, wrapped paragraphs, numbers and a progress line, as wide as the
// terminal. No other package imports golang.org/x/term.
package terminal
