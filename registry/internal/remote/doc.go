// Package remote reads and writes the repositories of registries: the OCI distribution specification, by oras-go, which no
// other package imports.
//
// A registry is hostile until its bytes have the digest that was asked for. The package bounds what it reads, how long it
// waits, how often it repeats a request, and where a redirect or a token server may lead it: by https to public addresses, to
// the registry itself, and to private addresses if the registry has one. Credentials are sent to the registry that they
// belong to and to the token server that it names. Messages of a registry are quoted on one line, without secrets.
package remote
