package hosting

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
)

const (
	maxShown = 400 // characters of an object that is shown on a line
	maxDeep  = 16  // objects in each other that are compared; deeper ones are shown whole
)

// difference returns of two JSON objects the members that are not the same in both, and texts that are no objects as they are.
// Long ones are cut.
func difference(before, after string) (was, is string) {
	a, okBefore := object(before)
	b, okAfter := object(after)
	if okBefore && okAfter {
		prune(a, b, maxDeep)
		before, after = textOf(a), textOf(b)
	}
	return terminal.Clip(before, maxShown), terminal.Clip(after, maxShown)
}

func object(text string) (o map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	err := d.Decode(&o)
	return o, err == nil && o != nil && !d.More()
}

func textOf(o map[string]any) string {
	text, _ := json.Marshal(o) // it was JSON before
	return string(text)
}

// prune removes the members that two objects have in common.
func prune(a, b map[string]any, deep int) {
	for name, before := range a {
		after, ok := b[name]
		if !ok {
			continue
		}
		x, isObject := before.(map[string]any)
		y, areObjects := after.(map[string]any)
		switch {
		case reflect.DeepEqual(before, after):
			delete(a, name)
			delete(b, name)
		case isObject && areObjects && deep > 0:
			prune(x, y, deep-1)
		}
	}
}
