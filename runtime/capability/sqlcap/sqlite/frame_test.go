package sqlite_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

var (
	someColumns = []abi.SQLColumn{{Name: "id", Type: "integer"}, {Name: "größe"}}
	someValues  = []abi.SQLValue{
		{Kind: abi.SQLNull}, {Kind: abi.SQLInt, Int: -1}, {Kind: abi.SQLFloat, Float: 0.5},
		{Kind: abi.SQLText, Text: "größer"}, {Kind: abi.SQLText}, {Kind: abi.SQLBytes, Bytes: []byte{0, 0xff}},
	}
)

func TestAnswersCross(t *testing.T) {
	for _, more := range []bool{false, true} {
		text := sqlite.Frame(sqlite.KindAnswer, 1, sqlite.Answer(more, someColumns, someValues...))
		gotMore, columns, values, err := sqlite.Parse(text)
		if err != nil || gotMore != more {
			t.Errorf("got %t, %v, want %t", gotMore, err, more)
		}
		if diff := cmp.Diff(someColumns, columns) + cmp.Diff(someValues, values, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
		for n := range text {
			if _, _, values, err := sqlite.Parse(text[:n]); err == nil {
				t.Errorf("the first %d of %d bytes are taken for an answer: %v", n, len(text), values)
			}
		}
	}
}

func FuzzAnswer(f *testing.F) {
	whole := sqlite.Answer(true, someColumns, someValues...)
	f.Add(sqlite.Frame(sqlite.KindAnswer, 1, whole))
	f.Add(sqlite.Frame(sqlite.KindAnswer, 1, sqlite.Answer(false, nil)))
	f.Add(sqlite.Frame(sqlite.KindAnswer, 1, whole)[:30])
	f.Add(sqlite.Frame(sqlite.KindAnswer, 1, []byte{0, 0xff, 0xff, 0xff, 0xff, 0x0f}))
	f.Add(sqlite.Frame(sqlite.KindAnswer, 1, []byte{1, 0, 4, 0xff, 0xff, 0xff, 0xff, 0x0f, 'x'}))
	f.Fuzz(func(t *testing.T, text []byte) {
		more, columns, values, err := sqlite.Parse(text)
		if err != nil {
			return
		}
		if len(columns)+len(values) > len(text) {
			t.Fatalf("%d columns and %d values of %d bytes", len(columns), len(values), len(text))
		}
		again := sqlite.Frame(sqlite.KindAnswer, 1, sqlite.Answer(more, columns, values...))
		gotMore, gotColumns, gotValues, err := sqlite.Parse(again)
		if err != nil || more != gotMore || !cmp.Equal(columns, gotColumns) || !cmp.Equal(values, gotValues, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()) {
			t.Fatalf("%x becomes %x: %v", text, again, err)
		}
		if !bytes.Equal(again, sqlite.Frame(sqlite.KindAnswer, 1, sqlite.Answer(gotMore, gotColumns, gotValues...))) {
			t.Fatalf("%x is not written as it was read", again)
		}
	})
}
