// Package markdown renders the Markdown of resources, as HTML for the viewer and as text for a terminal. It trusts none of it:
// the HTML has no scripts and loads nothing, and the text has no control characters but those of this package. No other
// package imports goldmark.
package markdown

// MaxSource is how much Markdown callers should render at most, in bytes: the time that the parser takes grows with the square of
// some texts, and is about a second for those of this size.
const MaxSource = 64 << 10
