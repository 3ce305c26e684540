package sqlcap_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/dbtest"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// begin queries the first rows of many.
func begin(ctx context.Context, p *sqlcap.SQL, s *system, rows int64, most uint64) (abi.SQLResponse, error) {
	return part(ctx, p, abi.ServiceSQL, (&abi.SQLRequest{Connection: "main", Query: s.many,
		Args: []abi.SQLValue{number(rows)}, MaxRows: most}).Append(nil))
}

func further(ctx context.Context, p *sqlcap.SQL, stream uint64) (abi.SQLResponse, error) {
	return part(ctx, p, abi.ServiceSQLRows, (&abi.StreamRequest{Stream: stream}).Append(nil))
}

func TestRowsAreReadInParts(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads tens of thousands of rows of each system")
	}
	each(t, func(t *testing.T, s *system) {
		p := s.open(t, "reader", sqlcap.Limits{Sessions: 1}, nil)
		for _, n := range []int64{0, 1, 9_999, 10_000, 10_001, 30_000} {
			got, err := query(call(t), p, s.many, number(n))
			if err != nil || int64(len(got.Rows)) != n || len(got.Columns) != 2 {
				t.Fatalf("%d rows: got %d, %v", n, len(got.Rows), cause(err))
			}
			for i, row := range got.Rows {
				if row.Values[0].Int != int64(i+1) || row.Values[1].Text != fmt.Sprintf("row %d", i+1) {
					t.Fatalf("row %d is %+v", i, row)
				}
			}
		}
	})
}

func TestStreamsBelongToTheirCall(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		p := s.open(t, "reader", sqlcap.Limits{Sessions: 1}, nil)
		ctx, end := context.WithCancel(t.Context())
		got, err := begin(ctx, p, s, 100_000, 0)
		if err != nil || got.Stream == 0 {
			t.Fatalf("got stream %d, %v", got.Stream, cause(err))
		}
		for _, stream := range []uint64{0, got.Stream, got.Stream + 1, 1 << 63} {
			if _, err := further(call(t), p, stream); abi.CodeOf(err) != abi.CodeInvalidParams {
				t.Errorf("stream %d in another call: got %v", stream, err)
			}
		}
		type key struct{}
		if next, err := further(context.WithValue(ctx, key{}, 1), p, got.Stream); err != nil || len(next.Rows) == 0 {
			t.Errorf("in its own call: got %d rows, %v", len(next.Rows), cause(err))
		}
		end()
		if got, err := query(call(t), p, "select 1"); err != nil || len(got.Rows) != 1 {
			t.Errorf("the session has not come back: %v", cause(err))
		}
		if _, err := further(ctx, p, got.Stream); abi.CodeOf(err) != abi.CodeCancelled {
			t.Errorf("after the call: got %v", err)
		}
	})
}

func TestStreamNumbersShowNothingAboutOtherCalls(t *testing.T) {
	s := systems[2]
	p := s.open(t, "reader", sqlcap.Limits{Sessions: 6}, nil)
	for i := range 3 {
		ctx := call(t)
		for want := range uint64(2) {
			if got, err := begin(ctx, p, s, 100_000, 0); err != nil || got.Stream != want+1 {
				t.Errorf("call %d: got stream %d, %v, want %d", i, got.Stream, cause(err), want+1)
			}
		}
	}
}

func TestStreamsAreCounted(t *testing.T) {
	s := systems[2]
	p := s.open(t, "reader", sqlcap.Limits{Cursors: 2, Sessions: 3}, nil)
	ctx := call(t)
	var streams []uint64
	for range 2 {
		got, err := begin(ctx, p, s, 20_001, 0)
		if err != nil {
			t.Fatal(cause(err))
		}
		streams = append(streams, got.Stream)
	}
	if _, err := begin(ctx, p, s, 1, 0); abi.CodeOf(err) != abi.CodeInvalidParams {
		t.Errorf("a third: got %v", err)
	}
	if _, err := begin(call(t), p, s, 20_001, 0); err != nil {
		t.Errorf("of another call: got %v", cause(err))
	}
	for stream := streams[0]; stream != 0; {
		next, err := further(ctx, p, stream)
		if err != nil {
			t.Fatal(cause(err))
		}
		stream = next.Stream
	}
	if _, err := begin(ctx, p, s, 1, 0); err != nil {
		t.Errorf("after one has ended: got %v", cause(err))
	}
	if _, err := further(ctx, p, streams[0]); abi.CodeOf(err) != abi.CodeInvalidParams {
		t.Errorf("the one that has ended: got %v", err)
	}
}

func TestLimits(t *testing.T) {
	limits := sqlcap.Limits{Rows: 15_000, Bytes: 400 << 10, Cell: 1000, Columns: 2, Args: 3, Query: 500}
	each(t, func(t *testing.T, s *system) {
		p := s.open(t, "reader", limits, nil)
		for name, test := range map[string]struct {
			rows, want int64
			most       uint64
			code       abi.Code
		}{
			"as many as granted": {10_000, 10_000, 0, abi.CodeOK}, "more rows": {15_001, 0, 0, abi.CodeTooLarge},
			"as many as asked": {15_001, 10, 10, abi.CodeOK}, "fewer than asked": {5, 5, 10, abi.CodeOK},
			"asked for more than granted": {15_001, 0, 1 << 63, abi.CodeTooLarge},
		} {
			ctx := call(t)
			got, err := begin(ctx, p, s, test.rows, test.most)
			n := int64(len(got.Rows))
			for stream := got.Stream; err == nil && stream != 0; {
				got, err = further(ctx, p, stream)
				n, stream = n+int64(len(got.Rows)), got.Stream
			}
			if abi.CodeOf(err) != test.code || err == nil && n != test.want {
				t.Errorf("%s: got %d rows, %v", name, n, cause(err))
			}
		}
		for statement, code := range map[string]abi.Code{"select 1, 2": abi.CodeOK, "select 1, 2, 3": abi.CodeTooLarge} {
			if _, err := query(call(t), p, statement); abi.CodeOf(err) != code {
				t.Errorf("%s: got %v", statement, cause(err))
			}
		}
		for size, code := range map[int64]abi.Code{1000: abi.CodeOK, 1002: abi.CodeTooLarge, 1 << 20: abi.CodeTooLarge,
			1 << 27: abi.CodeTooLarge} {
			got, err := query(call(t), p, s.large, number(size))
			if s.name == "mariadb" && size == 1<<27 && err == nil {
				continue // null, with a warning: it has a limit of its own
			}
			if abi.CodeOf(err) != code || err == nil && int64(len(got.Rows[0].Values[0].Text)) != size {
				t.Errorf("a value of %d bytes: got %v", size, cause(err))
			}
		}
		if _, err := query(call(t), p, "select 1", number(1), number(2), number(3),
			number(4)); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("four arguments: got %v", err)
		}
		if _, err := query(call(t), p, "select "+s.mark, text(string(make([]byte,
			1001)))); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("a large argument: got %v", err)
		}
		if got, err := query(call(t), p, "select 'still here'"); err != nil || len(got.Rows) != 1 {
			t.Errorf("afterwards: got %v", cause(err))
		}
	})
}

func TestBytesOfAllRows(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		p := s.open(t, "reader", sqlcap.Limits{Bytes: 400 << 10}, nil)
		if _, err := query(call(t), p, s.many, number(60_000)); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("got %v", cause(err))
		}
	})
}

// running counts the running statements of readers on the server.
var running = map[string]string{
	"postgres": "select count(*) from pg_stat_activity where usename = 'reader' and state <> 'idle'",
	"mariadb":  "select count(*) from information_schema.processlist where user = 'reader' and command <> 'Sleep'",
}

func TestCancelledStatementsEndOnTheServer(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		if s.name == "sqlite" {
			return // runs no server: captest tests it
		}
		p := s.open(t, "reader", sqlcap.Limits{Sessions: 2}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := query(ctx, p, s.slow)
			done <- err
		}()
		s.await(t, "1")
		cancel()
		if err := <-done; abi.CodeOf(err) != abi.CodeCancelled {
			t.Errorf("got %v", err)
		}
		s.await(t, "0")
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		if got, err := begin(ctx, p, s, 1_000_000, 0); err != nil || got.Stream == 0 {
			t.Errorf("got %v", cause(err))
		}
		s.await(t, "1")
		cancel()
		s.await(t, "0")
	})
}

// endless are statements that would run for minutes: they wait, compute, or give rows without end.
var endless = map[string][]string{
	"postgres": {
		"select pg_sleep(60)", "select count(*) from generate_series(1, 100000000000)",
		"select n, pg_sleep(0.01)::text from generate_series(1, 100000000000) n",
	},
	"mariadb": {
		"select sleep(60)",
		"select count(*) from seq_1_to_10000000 a, seq_1_to_10000000 b", "select a.seq, sleep(0.01) from seq_1_to_10000000 a, seq_1_to_10000000 b",
	},
}

func TestStatementsEndOnTheServerAtTheDeadline(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		t.Parallel() // it waits
		p := s.open(t, "reader", sqlcap.Limits{Sessions: 1}, nil)
		for _, statement := range endless[s.name] {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			_, err := query(ctx, p, statement)
			cancel()
			if abi.CodeOf(err) != abi.CodeDeadline {
				t.Errorf("%s: got %v, want %v", statement, cause(err), abi.CodeDeadline)
			}
			s.await(t, "0")
		}
		if got, err := query(call(t), p, "select 1"); err != nil || show(got.Rows) != "1" { // the session is free
			t.Errorf("afterwards: got %s, %v", show(got.Rows), cause(err))
		}
	})
}

// A server that does not answer a cancel request delays neither the call nor the close of the capability.
func TestCancellingIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for servers that hang")
	}
	each(t, func(t *testing.T, s *system) {
		if s.name == "sqlite" {
			return
		}
		t.Parallel() // it waits
		between, err := s.server.Proxy(s.socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := between.Close(); err != nil {
				t.Error(err)
			}
		})
		dsn, err := sqlcap.ParseDSN(strings.ReplaceAll(s.urls["reader"], s.server.Dir, between.Dir))
		if err != nil {
			t.Fatal(err)
		}
		cfg := sqlcap.Config{Connections: map[string]sqlcap.Connection{"main": {DSN: dsn, Limits: sqlcap.Limits{Sessions: 1}}}}
		p, err := sqlcap.Open(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := query(ctx, p, s.slow)
			done <- err
		}()
		s.await(t, "1")
		between.Set(dbtest.Hang)
		cancel()
		if err := <-done; abi.CodeOf(err) != abi.CodeCancelled {
			t.Errorf("got %v", cause(err))
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if _, err := s.ask(reap[s.name]); err != nil { // the server never received a request
			t.Error(err)
		}
		s.await(t, "0")
	})
}

// reap ends the statements of readers.
var reap = map[string]string{
	"postgres": "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'reader'",
	"mariadb":  "kill user reader@localhost",
}

// await waits until as many statements run as are wanted.
func (s *system) await(t *testing.T, want string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		got, err := s.ask(running[s.name])
		if err != nil {
			t.Fatal(err)
		}
		if got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s statements run, want %s", got, want)
		}
	}
}

func TestAServerThatEndedTheSession(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		if s.name == "sqlite" {
			return
		}
		p := s.open(t, "reader", sqlcap.Limits{Sessions: 1}, nil)
		for range 3 {
			if err := p.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := query(call(t), p, "select 1"); err != nil || show(got.Rows) != "1" {
				t.Errorf("got %s, %v", show(got.Rows), cause(err))
			}
			if err := p.Check(t.Context()); err != nil { // the session has been reset by now
				t.Fatal(err)
			}
			if _, err := s.ask(reap[s.name]); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestTheWaitForASessionIsBounded(t *testing.T) {
	s := systems[2]
	p := s.open(t, "reader", sqlcap.Limits{Sessions: 1, Wait: 10 * time.Millisecond}, nil)
	if _, err := begin(call(t), p, s, 20_001, 0); err != nil {
		t.Fatal(cause(err))
	}
	if _, err := begin(call(t), p, s, 1, 0); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := begin(ctx, p, s, 1, 0); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("got %v", err)
	}
}

func TestSQLiteStopsBetweenRows(t *testing.T) {
	p := systems[2].open(t, "reader", sqlcap.Limits{}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := query(ctx, p,
		"with recursive c(x) as (select 1 union all select x+1 from c) select x from c where x = 1 or x < 0")
	if abi.CodeOf(err) != abi.CodeDeadline {
		t.Errorf("got %v", cause(err))
	}
}

func TestSQLiteBoundsItsMemory(t *testing.T) {
	p := systems[2].open(t, "reader", sqlcap.Limits{}, nil)
	for _, statement := range []string{
		"with recursive c(x) as (select 1 union all select x+1 from c limit 100000) select x from c order by cast(zeroblob(500000) as text) || x",
		"select zeroblob(1 << 30)", "select group_concat(hex(zeroblob(1 << 19)), '') from users",
	} {
		if _, err := query(call(t), p, statement); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("%s: got %v", statement, cause(err))
		}
	}
	if got, err := query(call(t), p, "select count(*) from users"); err != nil || show(got.Rows) != "3" {
		t.Errorf("afterwards: got %v", cause(err))
	}
}

func TestARowThatIsSlowAfterTheFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for servers")
	}
	s := systems[0]
	s.need(t)
	p := s.open(t, "reader", sqlcap.Limits{Sessions: 1}, nil)
	request := (&abi.SQLRequest{Connection: "main",
		Query: "select case when n > 1 then pg_sleep(60)::text end from generate_series(1, 2) n", MaxRows: 1}).Append(nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := part(ctx, p, abi.ServiceSQL, request); err != nil && abi.CodeOf(err) != abi.CodeDeadline {
		t.Errorf("got %v", cause(err))
	}
	s.await(t, "0")
}

func TestSQLiteSeesANewSchema(t *testing.T) {
	s := systems[2]
	p := s.open(t, "reader", sqlcap.Limits{Sessions: 1}, nil)
	for _, statement := range []string{
		"create table things as select 1 as a", "alter table things add b", "alter table things rename a to c",
		"alter table things drop b", "drop table things",
	} {
		if _, err := s.ask(statement); err != nil {
			t.Fatal(err)
		}
		want, err := s.ask("select group_concat(name) from pragma_table_info('things')")
		if err != nil {
			t.Fatal(err)
		}
		got, err := query(call(t), p, "select * from things")
		var names []string
		for _, c := range got.Columns {
			names = append(names, c.Name)
		}
		if strings.Join(names, ",") != want || (err != nil) != (want == "") {
			t.Errorf("after %s: got the columns %q, %v, want %s", statement, names, cause(err), want)
		}
	}
}

// TestManyAtOnce starts calls that read and end at any moment. Afterwards all sessions must be free.
func TestManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		limits := sqlcap.Limits{Sessions: 3, Wait: time.Minute}
		p := s.open(t, "reader", limits, nil)
		var calls sync.WaitGroup
		for i := range 30 {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if i%2 == 0 {
					ctx, cancel = context.WithTimeout(t.Context(), 2*time.Duration(i)*time.Millisecond)
				}
				defer cancel()
				got, err := query(ctx, p, s.many, number(int64(i*200)))
				if code := abi.CodeOf(err); err == nil && len(got.Rows) != i*200 || err != nil && code != abi.CodeDeadline {
					t.Errorf("%d: got %d rows, %v", i, len(got.Rows), cause(err))
				}
			})
		}
		calls.Wait()
		ctx := call(t)
		for i := range limits.Sessions { // all of them at the same time
			if got, err := begin(ctx, p, s, 50_000, 0); err != nil || got.Stream == 0 {
				t.Errorf("session %d: got %v", i, cause(err))
			}
		}
	})
}
