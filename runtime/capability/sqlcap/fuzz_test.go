package sqlcap_test

import (
	"bytes"
	"math"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// FuzzValues sends values through SQLite, which must return the same.
func FuzzValues(f *testing.F) {
	f.Add(int64(math.MinInt64), 0.1, "日本\x00'", []byte{0, 0xff})
	f.Add(int64(0), math.Inf(-1), "", []byte{})
	f.Add(int64(-1), math.Copysign(0, -1), "\\x00", []byte("'"))
	p := systems[2].open(f, "reader", sqlcap.Limits{}, nil)
	f.Fuzz(func(t *testing.T, n int64, x float64, s string, b []byte) {
		if !utf8.ValidString(s) {
			t.Skip() // not a text of the ABI
		}
		got, err := query(t.Context(), p, "select ?1, ?2, ?3, ?4, ?5, ?6", number(n), abi.SQLValue{Kind: abi.SQLFloat,
			Float: x}, text(s),
			abi.SQLValue{Kind: abi.SQLBytes, Bytes: b}, abi.SQLValue{}, abi.SQLValue{Kind: abi.SQLBool, Int: 1})
		if err != nil {
			if abi.CodeOf(err) == abi.CodeTooLarge && len(s)+len(b) > 500<<10 {
				return
			}
			t.Fatal(cause(err))
		}
		v := got.Rows[0].Values
		isFloat := v[1].Kind == abi.SQLFloat && math.Float64bits(v[1].Float) == math.Float64bits(x)
		if math.IsNaN(x) {
			isFloat = v[1].Kind == abi.SQLNull
		}
		if v[0].Int != n || v[0].Kind != abi.SQLInt || !isFloat || v[2].Text != s || v[2].Kind != abi.SQLText ||
			!bytes.Equal(v[3].Bytes, b) || v[3].Kind != abi.SQLBytes || v[4].Kind != abi.SQLNull || v[5].Int != 1 {
			t.Errorf("sent %d %v %q %x, got %+v", n, x, s, b, v)
		}
	})
}
