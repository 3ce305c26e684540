package runtime

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/runtime/internal/composite"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Combined serves several providers as one. It is safe for concurrent use. Close releases it.
type Combined struct {
	source   *composite.Source
	identity resource.Identity
}

// Combine serves several providers as one source. Each member has a claim to the URIs, templates and prefixes of its
// manifest; a URI belongs to the most specific claim. Combine refuses members with the same claim, and members with the
// same name. A list has the entries of each member in turn; a member that fails is left out, and the page says so.
func Combine(members ...*Provider) (*Combined, error) { return CombineWithKey(nil, members...) }

// CombineWithKey is [Combine] with a key of at least 16 bytes. Of all that are combined with one key, from members of the
// same names in the same order, each accepts the cursors of the others. A nil key is one of its own.
func CombineWithKey(key []byte, members ...*Provider) (*Combined, error) {
	if len(members) == 0 {
		return nil, errors.New("combine: no provider")
	}
	first := members[0]
	cfg := composite.Config{Key: key, PageSize: pageSize(first.inner.Info().Limits), Logger: first.log}
	for _, p := range members {
		cfg.MemberTimeout = max(cfg.MemberTimeout, p.inner.Info().Limits.Timeout)
		claims := composite.ClaimsOf(p.Manifest())
		if err := claims.Narrow(p.prefixes); err != nil {
			return nil, fmt.Errorf("combine: provider %s: %w", p.name, err)
		}
		cfg.Members = append(cfg.Members, composite.Member{Name: p.name, Source: p.inner, Claims: claims})
	}
	source, err := composite.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Combined{source: source, identity: identityOfAll(members)}, nil
}

// identityOfAll returns the identity of a server of several providers, whose instructions are those of all of them; one
// provider alone keeps its own.
func identityOfAll(members []*Provider) resource.Identity {
	if len(members) == 1 {
		return members[0].inner.Identity()
	}
	var about []string
	for _, p := range members {
		if text := p.Manifest().Description; text != "" {
			about = append(about, p.name+": "+text)
		}
	}
	return resource.Identity{Name: "wasmres", Version: "0", Instructions: strings.Join(about, "\n")}
}

// Source serves the resources of all members: for [NewServer] and for wrappers.
func (c *Combined) Source() resource.Source { return combinedSource{c.source, c.identity} }

// Close waits for abandoned calls of members, each of which ends soon. It leaves the members open and is idempotent.
func (c *Combined) Close() error { return c.source.Close() }

// A combinedSource is a composite with an identity.
type combinedSource struct {
	*composite.Source
	identity resource.Identity
}

// Identity implements [resource.Identified].
func (s combinedSource) Identity() resource.Identity { return s.identity }
