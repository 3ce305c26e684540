package sqlitekv_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/childtest"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
	"github.com/wasmres/wasmres/runtime/capability/kvcap/kvtest"
	"github.com/wasmres/wasmres/runtime/capability/kvcap/sqlitekv"
)

// roles has what children do with the store of a directory. They print their results for the parent.
var roles = map[string]func(ctx context.Context, s *sqlitekv.Store) error{
	"count": count, "fill": fill, "churn": churn, "overflow": overflow,
}

func TestMain(m *testing.M) {
	role, ok := roles[childtest.Role()]
	if !ok {
		os.Exit(m.Run())
	}
	if err := play(context.Background(), os.Args[1], role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(ctx context.Context, dir string, role func(context.Context, *sqlitekv.Store) error) error {
	s, err := sqlitekv.Open(ctx, sqlitekv.Config{Dir: dir, Namespace: notes, Quota: kvcap.Quota{MaxKeys: fillKeys}})
	if err != nil {
		return err
	}
	return errors.Join(role(ctx, s), s.Close())
}

const countEach = 25

func count(ctx context.Context, s *sqlitekv.Store) error {
	for range countEach {
		if err := kvtest.Increment(ctx, s, "count"); err != nil {
			return err
		}
	}
	return nil
}

func TestProcessesSwapAtomically(t *testing.T) {
	dir := private(t)
	s := open(t, dir, kvcap.Quota{}, nil)
	if _, err := s.Put(t.Context(), kvcap.Put{Key: "count"}); err != nil {
		t.Fatal(err)
	}
	const children = 2
	var running sync.WaitGroup
	for range children {
		_, _, end := childtest.Start(t, "count", dir)
		running.Go(end)
	}
	if err := count(t.Context(), s); err != nil {
		t.Error(err)
	}
	running.Wait()
	if _, value, err := s.Get(t.Context(), "count"); len(value) != (children+1)*countEach || err != nil {
		t.Errorf("counted to %d, %v; want %d", len(value), err, (children+1)*countEach)
	}
}

const fillKeys = 120

// fill puts values until the quota is used up, and prints how many.
func fill(ctx context.Context, s *sqlitekv.Store) error {
	for i := 0; ; i++ {
		_, err := s.Put(ctx, kvcap.Put{Key: fmt.Sprintf("%d/%d", os.Getpid(), i), Value: []byte("v")})
		if abi.CodeOf(err) == abi.CodeTooLarge {
			_, err = fmt.Println(i)
			return err
		}
		if err != nil {
			return err
		}
	}
}

func TestProcessesShareTheQuota(t *testing.T) {
	dir := private(t)
	outputs, ends := [2]io.Reader{}, [2]func(){}
	for i := range outputs {
		_, outputs[i], ends[i] = childtest.Start(t, "fill", dir)
	}
	sum := 0
	for i := range outputs {
		var n int
		if _, err := fmt.Fscan(outputs[i], &n); err != nil {
			t.Error(err)
		}
		sum += n
		ends[i]()
	}
	if sum != fillKeys {
		t.Errorf("two processes put %d values, want %d", sum, fillKeys)
	}
	recount(t, dir, fillKeys)
}

// churn puts and deletes until it is killed, and prints what it has done. Each value begins with its key.
func churn(ctx context.Context, s *sqlitekv.Store) error {
	for i := 0; ; i++ {
		key := fmt.Sprintf("%d/%d", os.Getpid(), i)
		value := append([]byte(key), make([]byte, rand.IntN(20_000))...)
		if _, err := s.Put(ctx, kvcap.Put{Key: key, Value: value}); err != nil {
			return err
		}
		fmt.Println("put", key, len(value))
		if i < 10 {
			continue
		}
		key = fmt.Sprintf("%d/%d", os.Getpid(), i-10)
		fmt.Println("deleting", key)
		if _, err := s.Delete(ctx, key, 0); err != nil {
			return err
		}
		fmt.Println("deleted", key)
	}
}

func TestNothingAcknowledgedIsLostWhenAProcessIsKilled(t *testing.T) {
	dir := private(t)
	for range 8 {
		process, output, end := childtest.Start(t, "churn", dir)
		want := map[string]int{} // bytes; 0 when it is deleted
		left := 1 + rand.IntN(80)
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			var what, key string
			var size int
			switch n, _ := fmt.Sscan(lines.Text(), &what, &key, &size); {
			case what == "put" && n == 3:
				want[key] = size
			case what == "deleting" && n == 2:
				delete(want, key) // from now on it may exist or not
			case what == "deleted" && n == 2:
				want[key] = 0
			default:
				t.Fatalf("the child printed %q", lines.Text())
			}
			if left--; left == 0 {
				_ = process.Kill() // its output until then is read to the end
			}
		}
		end()
		holds(t, dir, want)
		recount(t, dir, -1)
	}
}

// holds opens a store, checks the sizes of its values, and removes them.
func holds(t *testing.T, dir string, want map[string]int) {
	t.Helper()
	s := open(t, dir, kvcap.Quota{MaxKeys: fillKeys}, nil)
	for key, size := range want {
		_, value, err := s.Get(t.Context(), key)
		switch {
		case size == 0 && errors.Is(err, kvcap.ErrNotFound):
		case err != nil, len(value) != size, !strings.HasPrefix(string(value), key):
			t.Errorf("%s: got %d bytes, %v; want %d", key, len(value), err, size)
		}
	}
	entries, _, err := s.List(t.Context(), "", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := s.Delete(t.Context(), e.Key, e.Version); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// overflow puts until the file cannot grow, and prints the puts. The store must continue to answer.
func overflow(ctx context.Context, s *sqlitekv.Store) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 300 << 10, Max: 300 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for i := range 100 {
		key := fmt.Sprintf("key/%d", i)
		_, err := s.Put(ctx, kvcap.Put{Key: key, Value: append([]byte(key), make([]byte, 10_000)...)})
		if err == nil {
			fmt.Println("put", key, len(key)+10_000)
			continue
		}
		cause := errors.Unwrap(err)
		if abi.CodeOf(err) != abi.CodeUnavailable || cause == nil || !strings.Contains(cause.Error(), "full") {
			return fmt.Errorf("got %v because of %v", err, cause)
		}
		if _, _, err := s.Get(ctx, "key/0"); err != nil {
			return fmt.Errorf("get while the disk is full: %w", err)
		}
		fmt.Println("full")
		return nil
	}
	return errors.New("the disk has room for everything")
}

func TestAFullDiskLosesNothing(t *testing.T) {
	dir := private(t)
	_, output, end := childtest.Start(t, "overflow", dir)
	want, full := map[string]int{}, false
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var key string
		var size int
		if n, _ := fmt.Sscanf(lines.Text(), "put %s %d", &key, &size); n == 2 {
			want[key] = size
		}
		full = full || lines.Text() == "full"
	}
	end()
	if !full || len(want) == 0 {
		t.Errorf("the disk was full: %t, after %d values", full, len(want))
	}
	recount(t, dir, len(want))
	holds(t, dir, want)
}

// file finds the one store of a directory.
func file(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.sqlite"))
	if err != nil || len(found) != 1 {
		t.Fatalf("got %v, %v; want one store", found, err)
	}
	return found[0]
}

// raw opens the one store of a directory as a database.
func raw(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", file(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// recount compares the counts of a store with its entries. There must be that many keys, unless keys is negative.
func recount(t *testing.T, dir string, keys int) {
	t.Helper()
	db := raw(t, dir)
	var believed, counted kvcap.Usage
	var verdict string
	err := errors.Join(
		db.QueryRow(`SELECT keys, bytes FROM state`).Scan(&believed.Keys, &believed.Bytes),
		db.QueryRow(`SELECT count(*), coalesce(sum(length(CAST(key AS BLOB)) + length(value)), 0) FROM entry`).
			Scan(&counted.Keys, &counted.Bytes),
		db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict),
		db.Close(),
	)
	if err != nil || believed != counted || verdict != "ok" {
		t.Errorf("the store counts %+v and has %+v: %s, %v", believed, counted, verdict, err)
	}
	if keys >= 0 && counted.Keys != keys {
		t.Errorf("it has %d keys, want %d", counted.Keys, keys)
	}
}
