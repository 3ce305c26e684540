package load_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

func TestLineID(t *testing.T) {
	long := strings.Repeat("text ", 100)
	for name, c := range map[string]struct {
		line string
		want uint64
	}{
		"first":          {`{"jsonrpc":"2.0","id":1000000007,"result":{}}`, 1000000007},
		"last":           {`{"result":{},"jsonrpc":"2.0","id":1000000007}`, 1000000007},
		"spaced":         {`{"jsonrpc": "2.0", "id": 1000000007, "result": {}}`, 1000000007},
		"first, long":    {`{"jsonrpc":"2.0","id":1000000007,"result":"` + long + `"}`, 1000000007},
		"last, long":     {`{"result":"` + long + `","jsonrpc":"2.0","id":1000000007}`, 1000000007},
		"another's":      {`{"jsonrpc":"2.0","id":7,"method":"ping"}`, 0},
		"notification":   {`{"jsonrpc":"2.0","method":"notifications/message"}`, 0},
		"in the middle":  {`{"result":["` + long + `"],"id":1000000007,"more":"` + long + `"}`, 0},
		"nothing at all": {``, 0},
	} {
		for _, n := range []int{1, 7, 100, 128, 129, 10_000} {
			if got, length := load.LineID([]byte(c.line), n); got != c.want || length != int64(len(c.line)) {
				t.Errorf("%s, %d bytes at a time: got %d of %d bytes, want %d of %d", name, n, got, length, c.want, len(c.line))
			}
		}
	}
}

func TestQuantile(t *testing.T) {
	var all []time.Duration
	for i := range 1000 {
		all = append(all, time.Duration(i+1)*time.Microsecond)
	}
	const us = time.Microsecond
	for q, want := range map[float64]time.Duration{0: us, 0.5: 500 * us, 0.99: 990 * us, 1: 1000 * us} {
		if got := load.Quantile(q, all...); got < want || got > want+want/64 {
			t.Errorf("%v: got %v, want %v or a little more", q, got, want)
		}
	}
	if got := load.Quantile(0.5); got != 0 {
		t.Errorf("of nothing: got %v", got)
	}
	if got := load.Quantile(1, 1<<63-1, -1); got != 1<<63-1 {
		t.Errorf("at the end: got %v", got)
	}
}
