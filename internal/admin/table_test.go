package admin

import (
	"net/http"
	"testing"
)

// Each endpoint says all that the server needs to know of it.
func TestEndpointsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range endpoints {
		name := e.method + " " + e.path
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if len(e.may) == 0 || e.may[0] != Operator || e.handle == nil {
			t.Errorf("%s is not complete: an operator may do everything", name)
		}
		if isRead := e.method == http.MethodGet; isRead != (e.action == "") {
			t.Errorf("%s has the action %q: a write has one, and a read has none", name, e.action)
		}
		if e.own && e.isOfTenant() {
			t.Errorf("%s says own, which is for paths without {tenant}", name)
		}
	}
}
