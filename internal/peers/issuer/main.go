// Command issuer is the example provider of zitadel/oidc, an OpenID Connect provider of other people, for the tests of internal/e2e:
//
//	issuer jwt|opaque REDIRECT_URI
//
// It serves at a loopback address until its standard input ends, and prints that address as its first line. The client "app" gets access
// tokens of the given kind; so does the client "api", with the secret "secret", which may also ask about opaque ones. The user is
// test-user@127.0.0.1, with the password verysecure. Like many providers, this one ignores the parameter resource: tokens are for the
// client that has asked for them.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: issuer jwt|opaque REDIRECT_URI")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kind, redirect string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	url := "http://" + l.Addr().String()
	storage.RegisterClients(storage.NativeClient("app", redirect), storage.WebClient("api", "secret", redirect))
	store := &clients{storage.NewStorage(storage.NewUserStore(url)), op.AccessTokenTypeBearer}
	if kind == "jwt" {
		store.kind = op.AccessTokenTypeJWT
	}
	server := &http.Server{Handler: exampleop.SetupServer(url, store, nil, false), ReadHeaderTimeout: time.Minute}
	fmt.Println(url)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// clients give all clients access tokens of one kind, for any scope.
type clients struct {
	*storage.Storage
	kind op.AccessTokenType
}

// GetClientByClientID implements [op.Storage].
func (c *clients) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	one, err := c.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, err
	}
	return client{one, c.kind}, nil
}

// GetPrivateClaimsFromScopes implements [op.Storage]: JSON Web Tokens have the scopes, as RFC 9068 asks for.
func (c *clients) GetPrivateClaimsFromScopes(_ context.Context, _, _ string, scopes []string) (map[string]any, error) {
	return map[string]any{"scope": strings.Join(scopes, " ")}, nil
}

type client struct {
	op.Client
	kind op.AccessTokenType
}

func (c client) AccessTokenType() op.AccessTokenType { return c.kind }

func (client) IsScopeAllowed(string) bool { return true }
