// Package contents shows the contents of resources to a person on a terminal: text with all escaped that would steer the
// terminal, Markdown as a page, and pictures where the terminal draws them.
package contents
