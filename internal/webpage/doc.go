// Package webpage writes the web pages of wasmres: for operators of a server, and for the author of a provider.
//
// Pages are made by the server and need no script. One script, for browsers that have it, replaces the parts of a page that
// change. Pages load nothing from elsewhere, and have no styles or scripts within them: see [Protect].
//
// What a page shows may come from a provider or a client. Markup in it is escaped by html/template; [Set.Write] escapes
// control characters and marks of direction in all that a page has.
package webpage
