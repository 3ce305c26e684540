package limits_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/limits"
)

// Package admit finds a limit by its place in Counts.
func TestCountsAreTheFieldsInOrder(t *testing.T) {
	var m limits.Module
	fields := reflect.ValueOf(&m).Elem()
	counts := m.Counts()
	if len(counts) != fields.NumField()-1 {
		t.Fatalf("there are %d counts and %d fields, of which all but Cost are counts", len(counts), fields.NumField())
	}
	for i, c := range counts {
		name := fields.Type().Field(i).Name
		if c.Value != fields.Field(i).Addr().Interface() || strings.ReplaceAll(c.Name, "_", "") != strings.ToLower(name) {
			t.Errorf("count %d is %s, want the field %s", i, c.Name, name)
		}
	}
}

func TestZeroFieldsTakeTheDefault(t *testing.T) {
	defaults := reflect.ValueOf(limits.Module{}.WithDefaults())
	for i := range defaults.NumField() {
		if defaults.Field(i).IsZero() {
			t.Errorf("%s has no default", defaults.Type().Field(i).Name)
		}
	}
	if got := (limits.Module{Functions: 7}).WithDefaults().Functions; got != 7 {
		t.Errorf("a limit of 7 functions became %d", got)
	}
}
