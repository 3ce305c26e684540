package composite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/uritemplate"
)

// anything, appended to a prefix, makes a template for the same URIs.
const anything = "{+rest}"

// The owners map URIs to members.
type owners struct {
	// fixed at creation
	names     []string       // of the members
	bounds    [][]string     // of each member: each of its URIs begins with one of these prefixes
	exclusive [][]string     // of each member: every URI that begins with one of these prefixes is its own
	resources map[string]int // the member of each claimed resource, by normal form
	templates map[string]int // the member of each claimed template, by normal form
	claims    []claim        // templates and prefixes, most specific first
}

// A claim is a template or a prefix of one member.
type claim struct {
	member   int
	template *uritemplate.Template // of a prefix: the one that matches the same
	isPrefix bool
	prefix   string // in normal form
}

func newOwners(members []Member) (*owners, error) {
	o := &owners{resources: map[string]int{}, templates: map[string]int{}}
	for _, m := range members {
		o.names, o.bounds = append(o.names, m.Name), append(o.bounds, m.Claims.bounds())
	}
	claimed := map[string]int{} // the member of each template and prefix, by what they match
	for i := range members {
		if err := o.add(i, &members[i].Claims, claimed); err != nil {
			return nil, fmt.Errorf("composite: %w", err)
		}
	}
	slices.SortStableFunc(o.claims, func(a, b claim) int { return uritemplate.Compare(a.template, b.template) })
	for i := range members {
		o.exclusive = append(o.exclusive, o.exclusivePrefixes(i))
	}
	return o, nil
}

// conflict is the error of two members with equal claims.
func (o *owners) conflict(first, second int, what string) error {
	return fmt.Errorf("%s and %s both claim %s: serve them apart, or have one of them claim something else",
		o.names[first], o.names[second], what)
}

// add takes the claims of a member.
func (o *owners) add(member int, c *Claims, claimed map[string]int) error {
	for _, uri := range c.Resources {
		normal := abi.NormalURI(uri)
		if other, taken := o.resources[normal]; taken && other != member {
			return o.conflict(other, member, fmt.Sprintf("the resource %.128q", uri))
		}
		if hasPrefix(normal, o.bounds[member]) {
			o.resources[normal] = member
		}
	}
	for _, text := range c.Templates {
		if err := o.claim(claim{member: member}, text, claimed); err != nil {
			return err
		}
		o.templates[abi.NormalURI(text)] = member
	}
	for _, p := range c.prefixes() {
		if err := o.claim(claim{member: member, isPrefix: true, prefix: p}, p+anything, claimed); err != nil {
			return err
		}
	}
	return nil
}

// claim adds a claim: a template, or the template of a prefix.
func (o *owners) claim(c claim, text string, claimed map[string]int) (err error) {
	if c.template, err = uritemplate.Parse(abi.FoldURI(text)); err != nil {
		return fmt.Errorf("%s claims %.128q: %w", o.names[c.member], text, err)
	}
	matches := anonymous(text)
	if other, taken := claimed[matches]; taken && other != c.member {
		return o.conflict(other, c.member, c.String())
	}
	claimed[matches] = c.member
	o.claims = append(o.claims, c)
	return nil
}

// String names the claim in an error.
func (c *claim) String() string {
	switch {
	case c.isPrefix && c.prefix == "":
		return "all other URIs, since they list resources and declare no prefixes"
	case c.isPrefix:
		return fmt.Sprintf("the prefix %.128q", c.prefix)
	}
	return fmt.Sprintf("the template %.128q", c.template)
}

// of returns the member uri belongs to.
func (o *owners) of(uri abi.URI) (member int, ok bool) {
	return o.ofSpelled(uri.Folded(), uri.Normal())
}

// ofSpelled is of, for a URI as spelled and in normal form.
func (o *owners) ofSpelled(uri, normal string) (member int, ok bool) {
	if member, ok := o.resources[normal]; ok {
		return member, true
	}
	for i := range o.claims {
		if o.matches(&o.claims[i], uri, normal) {
			return o.claims[i].member, true
		}
	}
	return 0, false
}

// ofTemplate returns the member that claims a template.
func (o *owners) ofTemplate(text string) (member int, ok bool) {
	member, ok = o.templates[abi.NormalURI(text)]
	return member, ok
}

// matches reports whether a claim matches a URI.
func (o *owners) matches(c *claim, uri, normal string) bool {
	if c.isPrefix {
		return strings.HasPrefix(normal, c.prefix)
	}
	if !hasPrefix(normal, o.bounds[c.member]) {
		return false
	}
	_, ok := c.template.Match(uri)
	return ok
}
