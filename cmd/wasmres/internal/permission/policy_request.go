package permission

import (
	"strings"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// matchRequest asks package httpcap which rule allows a request. It sends nothing.
func matchRequest(rules []policy.Network, method, url string) (policy.Verdict, error) {
	rule, allowed, err := httpcap.Explain(app.HTTPRules(rules), method, url)
	switch rest, none := strings.CutPrefix(rule, "none: "); {
	case err != nil:
		return policy.Verdict{}, err
	case allowed:
		return policy.Verdict{Allowed: true, Rule: rule, Why: method + " " + url + ", if the host's address is one the rule allows"}, nil
	case none:
		return policy.Verdict{Why: "no rule allows " + rest}, nil
	}
	return policy.Verdict{Why: rule}, nil
}
