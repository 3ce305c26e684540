package ledger_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/ledger"
)

// Whatever a line says, reading it neither fails badly nor accepts a form that no server writes.
func FuzzLedgerLine(f *testing.F) {
	l := ledger.Line{Seq: 7, Time: time.UnixMilli(1_795_000_000_123), Node: "0123456789abcdef", Entry: entry(7), Prev: ledger.Hash{1}}
	whole := bytes.TrimSuffix(ledger.AppendLine(nil, &l), []byte("\n"))
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte(strings.Replace(string(whole), "acme", "<\u2028é", 1)))
	f.Add([]byte(`{"seq":1,"prev":"","hash":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := ledger.ParseLine(text)
		if err == nil && !bytes.Equal(ledger.AppendLine(nil, l), append(bytes.Clone(text), '\n')) {
			t.Errorf("another form of %+v was accepted: %q", l, text)
		}
		// The same text with hashes that fit.
		made := ledger.Line{Seq: uint64(len(text)), Node: "n", Entry: ledger.Entry{Action: strings.ToValidUTF8(string(text), "?")}}
		line := bytes.TrimSuffix(ledger.AppendLine(nil, &made), []byte("\n"))
		again, err := ledger.ParseLine(line)
		if err != nil || again.Action != made.Action || again.Hash != made.Hash {
			t.Errorf("%q: got %+v, %v", line, again, err)
		}
	})
}
