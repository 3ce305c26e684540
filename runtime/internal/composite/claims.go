package composite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// Claims are the URIs that a member claims. The package comment says which claim wins.
type Claims struct {
	Resources []string // URIs
	Templates []string // as in RFC 6570
	Prefixes  []string // if there are any, nothing outside of them belongs to the member
	Rest      bool     // also URIs that no other member claims; of no effect beside Prefixes
}

// ClaimsOf returns the claims of a provider: the resources, templates and prefixes that its manifest declares, and the
// rest when it declares no prefixes and has a dynamic list.
func ClaimsOf(m *abi.Manifest) Claims {
	c := Claims{Prefixes: m.URIPrefixes, Rest: m.Implements(abi.OpList)}
	for i := range m.Resources {
		c.Resources = append(c.Resources, m.Resources[i].URI)
	}
	for i := range m.Templates {
		c.Templates = append(c.Templates, m.Templates[i].URITemplate)
	}
	return c
}

// Narrow leaves of the claims what begins with one of prefixes; none leaves all. It fails when nothing is left.
func (c *Claims) Narrow(prefixes []string) error {
	if len(prefixes) == 0 {
		return nil
	}
	if len(c.Prefixes) == 0 {
		c.Prefixes = slices.Clone(prefixes)
		return nil
	}
	var both []string
	for _, own := range c.Prefixes {
		for _, most := range prefixes {
			switch a, b := abi.NormalURI(own), abi.NormalURI(most); {
			case strings.HasPrefix(a, b):
				both = append(both, own)
			case strings.HasPrefix(b, a):
				both = append(both, most)
			}
		}
	}
	if len(both) == 0 {
		return fmt.Errorf("its URIs begin with %q, and none of them with %q", c.Prefixes, prefixes)
	}
	c.Prefixes = both
	return nil
}

// prefixes returns the claimed prefixes, in normal form. The empty prefix is the rest.
func (c *Claims) prefixes() []string {
	if len(c.Prefixes) == 0 && c.Rest {
		return []string{""}
	}
	var list []string
	for _, p := range c.Prefixes {
		list = append(list, abi.NormalURI(p))
	}
	return list
}

// bounds returns prefixes, in normal form. Each URI of the member begins with one of them.
func (c *Claims) bounds() []string {
	if len(c.Prefixes) == 0 {
		return []string{""}
	}
	return c.prefixes()
}

// hasPrefix reports whether a URI in normal form has one of prefixes.
func hasPrefix(normal string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(normal, p) {
			return true
		}
	}
	return false
}

// anonymous returns a template in normal form, without the names of variables unless these are part of the URI. Two
// templates match the same URIs if the results are equal.
func anonymous(template string) string {
	template = abi.NormalURI(template)
	var b strings.Builder
	for {
		literal, rest, more := strings.Cut(template, "{")
		b.WriteString(literal)
		if !more {
			return b.String()
		}
		expression, after, _ := strings.Cut(rest, "}")
		b.WriteString("{" + anonymousExpression(expression) + "}")
		template = after
	}
}

// anonymousExpression is anonymous for the text between braces.
func anonymousExpression(expression string) string {
	if strings.IndexAny(expression, ";?&") == 0 { // followed by names that stand in the URI
		return expression
	}
	operator := ""
	if strings.IndexAny(expression, "+#./") == 0 {
		operator, expression = expression[:1], expression[1:]
	}
	variables := strings.Split(expression, ",")
	for i, v := range variables {
		variables[i] = ""
		if at := strings.IndexAny(v, "*:"); at >= 0 {
			variables[i] = v[at:]
		}
	}
	return operator + strings.Join(variables, ",")
}
