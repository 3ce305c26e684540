// Package viewer serves the web page on which the author of a provider, or a curious user, looks at it: its resources,
// rendered, its templates to fill in, what it logs, and what each read has cost.
//
// It listens on a loopback address, which all users of the machine can reach. A random path and a random token keep others out:
// the token is in the URL that the operator opens, and becomes a cookie that the browser sends for that path only. Requests that
// name another host are refused, so that a web page cannot reach the server by a DNS name of its own, and so are requests that
// pages of other origins send.
package viewer
