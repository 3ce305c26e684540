package wasmrestest

import (
	"fmt"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/uritemplate"
)

// match finds the most specific template that fits a URI, and the values of its variables, as the host does. The number
// is one more than its index; 0 for none.
func match(templates []Entry, uri string) (number int, vars []uritemplate.Value, err error) {
	var best *uritemplate.Template
	for i := range templates {
		t, err := uritemplate.Parse(templates[i].URI)
		if err != nil {
			return 0, nil, fmt.Errorf("template %q: %w", templates[i].URI, err)
		}
		if best != nil && uritemplate.Compare(best, t) <= 0 {
			continue
		}
		if values, ok := t.Match(uri); ok {
			best, number, vars = t, i+1, values
		}
	}
	return number, vars, nil
}
