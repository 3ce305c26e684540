package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

// rolePrefix begins the file names of helpers that violate the protocol: a helper has neither arguments nor environment.
const rolePrefix = "helper-that-"

// liar returns the answers of the helper that the file of this program is named after; nil when it is not one.
func liar() func(number uint64) []byte {
	program, err := os.Executable()
	if err != nil || len(os.Args) != 1 {
		return nil
	}
	role, _ := strings.CutPrefix(filepath.Base(program), rolePrefix)
	if lie, ok := boxLies[role]; ok {
		if err := sqlite.LieInBox(lie.state, lie.size, lie.data); err != nil {
			panic(err)
		}
		return func(uint64) []byte { return []byte{} }
	}
	return lies[role]
}

// play answers the first request correctly, and each further one with a violation.
func play(answer func(number uint64) []byte) {
	in := bufio.NewReader(os.Stdin)
	for n := 0; ; n++ {
		number, err := sqlite.Request(in)
		if err != nil {
			return
		}
		b := answer(number)
		if n == 0 {
			b = sqlite.Frame(sqlite.KindReady, number, []byte("null"))
		}
		if b == nil {
			_ = os.Stdout.Close() // it takes a while to end with the race detector
			return
		}
		if _, err := os.Stdout.Write(b); err != nil {
			return
		}
	}
}

var oneColumn = []abi.SQLColumn{{Name: "x"}}

// lies are the answers of helpers to a statement, by violation; nil to exit.
var lies = map[string]func(number uint64) []byte{
	"floods":              func(uint64) []byte { return bytes.Repeat([]byte{0xff}, 1<<20) },
	"is-silent":           func(uint64) []byte { return []byte{} },
	"answers-another":     func(n uint64) []byte { return answerTo(n+1, false, oneColumn, abi.SQLValue{}) },
	"answers-the-last":    func(n uint64) []byte { return answerTo(n-1, false, oneColumn, abi.SQLValue{}) },
	"ends":                func(uint64) []byte { return nil },
	"stops-halfway":       func(n uint64) []byte { b := answerTo(n, false, oneColumn, abi.SQLValue{}); return b[:len(b)-1] },
	"has-no-columns":      func(n uint64) []byte { return answerTo(n, false, nil) },
	"has-many-columns":    func(n uint64) []byte { return answerTo(n, false, make([]abi.SQLColumn, 10_000)) },
	"gives-too-much":      func(n uint64) []byte { return sqlite.Frame(sqlite.KindAnswer, n, make([]byte, sqlite.MaxAnswer+1)) },
	"gives-half-a-row":    func(n uint64) []byte { return answerTo(n, false, make([]abi.SQLColumn, 2), abi.SQLValue{}) },
	"gives-a-large-value": func(n uint64) []byte { return answerTo(n, false, oneColumn, large) },
	"gives-no-text": func(n uint64) []byte {
		return answerTo(n, false, oneColumn, abi.SQLValue{Kind: abi.SQLText, Text: "\xff"})
	},
	"fails-with-ok":     func(n uint64) []byte { return sqlite.Frame(sqlite.KindFailed, n, []byte(`{"code":0}`)) },
	"fails-as-the-host": func(n uint64) []byte { return sqlite.Frame(sqlite.KindFailed, n, []byte(`{"code":32}`)) },
	"fails-with-noise":  func(n uint64) []byte { return sqlite.Frame(sqlite.KindFailed, n, []byte(`{`)) },
	"is-ready-again":    func(n uint64) []byte { return sqlite.Frame(sqlite.KindReady, n, nil) },
	"has-no-end":        func(n uint64) []byte { return answerTo(n, true, oneColumn) },
}

// boxLies are what helpers write to their box in answer to a statement, by violation.
var boxLies = map[string]struct {
	state, size uint32
	data        []byte
}{
	"shuts-a-box":            {0, 0, nil},
	"opens-an-empty-box":     {1, 0, nil},
	"asks-in-a-box":          {2, 5, nil},
	"overfills-a-box":        {1, 1 << 31, nil},
	"has-an-unknown-state":   {77, 5, nil},
	"answers-another-in-one": {1, uint32(len(another)), another},
	"stops-halfway-in-one":   {1, uint32(len(another)) - 1, another},
}

var another = answerTo(77, false, oneColumn, abi.SQLValue{})

var large = abi.SQLValue{Kind: abi.SQLBytes, Bytes: make([]byte, limits.Cell+1)}

func answerTo(number uint64, more bool, columns []abi.SQLColumn, values ...abi.SQLValue) []byte {
	return sqlite.Frame(sqlite.KindAnswer, number, sqlite.Answer(more, columns, values...))
}

// roleOf links this program as the file of a helper that violates the protocol.
func roleOf(t *testing.T, dir, role string) string {
	t.Helper()
	file := filepath.Join(dir, rolePrefix+role)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Link(self, file) == nil {
		return file
	}
	text, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(file, text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A helper that violates the protocol is ended, and so is its statement.
func TestHelpersThatLie(t *testing.T) {
	file, dir := makeFile(t), t.TempDir()
	honest := connect(t, open(t, file))
	roles := slices.Collect(maps.Keys(lies))
	if sqlite.Look(honest) {
		roles = slices.AppendSeq(roles, maps.Keys(boxLies))
	}
	for _, role := range roles {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			d := open(t, file)
			sqlite.StartAs(d, roleOf(t, dir, role))
			s := connect(t, d)
			sqlite.Look(s)
			want, or, timeout := abi.CodeUnavailable, abi.CodeUnavailable, time.Minute
			switch role {
			case "is-silent", "stops-halfway", "shuts-a-box", "opens-an-empty-box", "asks-in-a-box":
				want, or, timeout = abi.CodeDeadline, abi.CodeDeadline, 200*time.Millisecond
			}
			if _, boxed := boxLies[role]; boxed { // the parent tires of a slow answer, and awaits another by the pipe
				or, timeout = abi.CodeDeadline, 200*time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			rows, err := all(ctx, s, timeout, "select 1")
			if code := abi.CodeOf(err); code != want && code != or {
				t.Errorf("got %v, %s", rows, cause(err))
			}
			<-sqlite.Ended(s)
			if _, err := s.Query(ctx, &database.Statement{Query: "select 1", Timeout: time.Second}); err == nil {
				t.Error("it is used again")
			}
		})
	}
	if rows, err := all(t.Context(), honest, time.Minute, "select 1"); err != nil || len(rows) != 1 {
		t.Errorf("another helper: got %v, %s", rows, cause(err))
	}
}
