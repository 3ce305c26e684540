package store_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/internal/childtest"
	"github.com/wasmres/wasmres/internal/hosttest"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/store"
	"github.com/wasmres/wasmres/internal/tenant/storetest"
)

var kills = flag.Int("kills", hosttest.Size(50, 200), "how often a process that writes is killed")

// roles has what children do with the store of a folder. They print their results for the parent.
var roles = map[string]func(ctx context.Context, s *store.Store) error{"churn": churn, "overflow": overflow, "hold": hold}

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

func play(ctx context.Context, dir string, role func(context.Context, *store.Store) error) error {
	r := &record{}
	s, err := store.Open(ctx, store.Config{Dir: dir, Record: r})
	if err != nil {
		return err
	}
	err = errors.Join(role(context.WithValue(ctx, recordKey{}, ""), s), s.Close())
	if n := len(r.generations); err == nil && (n == 0 || r.generations[n-1] != s.Snapshot().Generation || r.undone == 0) {
		err = fmt.Errorf("recorded %v, %d undone, and generation %d is in force", r.generations, r.undone, s.Snapshot().Generation)
	}
	return err
}

// round makes the change of a number: two tenants, a key, a version and its route say it, and the key and the version of some
// numbers before are removed.
func round(n int) tenant.Change {
	one, two := storetest.Tenant("one"), storetest.Tenant("two")
	one.Digest, two.Digest = fmt.Sprint(n), fmt.Sprint(n)
	c := tenant.Change{
		Owner: tenant.OwnerFiles, SetTenants: []*tenant.Tenant{one, two},
		SetKeys: []*tenant.Key{storetest.Key("one", fmt.Sprint("k", n))}, RemoveKeys: []string{fmt.Sprint("k", n-10)},
	}
	c.SetVersions = []*tenant.Version{storetest.Version("one", n, tenant.StateApproved)}
	c.SetRoutes = []*tenant.Route{storetest.Route("one", n, max(0, n-1), 0)}
	if n > 10 {
		c.RemoveVersions = []*tenant.Version{storetest.Version("one", n-10, tenant.StateApproved)}
	}
	switch n % 4 {
	case 1:
		c.RemoveTenants = []string{"sometimes"}
	case 3:
		c.SetTenants = append(c.SetTenants, storetest.Tenant("sometimes"))
	}
	return c
}

// roundOf reads the number of the last change that a snapshot has, which must have it whole.
func roundOf(s *tenant.Snapshot) (n int, err error) {
	if s.Generation == 0 {
		return 0, nil
	}
	one, two := s.Tenants["one"], s.Tenants["two"]
	if one == nil || two == nil || one.Digest != two.Digest {
		return 0, fmt.Errorf("one is %+v, two is %+v", one, two)
	}
	if _, err := fmt.Sscan(one.Digest, &n); err != nil {
		return 0, err
	}
	for i := max(1, n-9); i <= n; i++ {
		if s.Keys[fmt.Sprint("k", i)] == nil {
			return n, fmt.Errorf("of change %d, key %d is missing", n, i)
		}
	}
	id := tenant.ProviderID{Tenant: "one", Provider: "notes"}
	all, route := s.Versions[id], s.Routes[id]
	if route == nil || route.Active != n || s.Numbers[id] != n || len(all) != min(n, 10) || all[len(all)-1].Number != n {
		return n, fmt.Errorf("of change %d, the route is %+v, the last number %d, and %d versions are there", n, route, s.Numbers[id], len(all))
	}
	for _, v := range all {
		if isReplaced := v.Number != n; isReplaced == v.Replaced.IsZero() {
			return n, fmt.Errorf("of change %d, version %d was replaced at %v", n, v.Number, v.Replaced)
		}
	}
	_, isGone := s.Gone["sometimes"]
	isThere := s.Tenants["sometimes"] != nil
	if len(s.Keys) != min(n, 10) || isThere != (n >= 3 && (n%4 == 3 || n%4 == 0)) || isGone != (n >= 5 && !isThere) {
		return n, fmt.Errorf("of change %d, %d keys are there; sometimes is there: %t, gone: %t", n, len(s.Keys), isThere, isGone)
	}
	return n, nil
}

// churn makes changes until it is killed, and prints the number of each that was acknowledged.
func churn(ctx context.Context, s *store.Store) error {
	n, err := roundOf(s.Snapshot())
	if err != nil {
		return err
	}
	for n++; ; n++ {
		if _, err := s.Apply(ctx, round(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// A process is killed while it makes changes, again and again: every change that it has acknowledged is there, and none in
// half.
func TestNothingAcknowledgedIsLostWhenAProcessIsKilled(t *testing.T) {
	dir := private(t)
	acknowledged, times := 0, *kills
	if testing.Short() {
		times = min(times, 5)
	}
	for i := range times {
		process, output, end := childtest.Start(t, "churn", dir)
		left := rand.IntN(12)
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			var n int
			if _, err := fmt.Sscan(lines.Text(), &n); err != nil || n < acknowledged {
				t.Fatalf("the child printed %q after %d", lines.Text(), acknowledged)
			}
			acknowledged = n
			if left--; left < 0 {
				_ = process.Kill() // its output until then is read to the end
			}
		}
		end()
		if i%5 != 0 && i != times-1 {
			continue // the next child checks
		}
		s := open(t, dir)
		n, err := roundOf(s.Snapshot())
		if err != nil || n < acknowledged || n > acknowledged+1 {
			t.Fatalf("change %d was acknowledged, %d is there: %v", acknowledged, n, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// hold has the store open until its input ends.
func hold(context.Context, *store.Store) error {
	fmt.Println("open")
	select {}
}

func TestOneServerHasAFolder(t *testing.T) {
	dir := private(t)
	process, output, end := childtest.Start(t, "hold", dir)
	lines := bufio.NewScanner(output)
	if !lines.Scan() {
		t.Fatal("the child has not opened it")
	}
	if got := fails(t, dir); !strings.Contains(got, fmt.Sprint("another process, ", process.Pid, ",")) {
		t.Errorf("got %s", got)
	}
	_ = process.Kill()
	for lines.Scan() {
	}
	end()
	s := open(t, dir)
	if got := fails(t, dir); !strings.Contains(got, fmt.Sprint(os.Getpid())) {
		t.Errorf("got %s", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	open(t, dir)
}

// overflow makes changes until the file cannot grow; then there is room again.
func overflow(ctx context.Context, s *store.Store) error {
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: 200 << 10, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	n := 0
	var err error
	for err == nil && n < 500 {
		n++
		_, err = s.Apply(ctx, round(n))
	}
	if !errors.Is(err, tenant.ErrUnavailable) || !strings.Contains(err.Error(), "full") {
		return fmt.Errorf("change %d on a full disk: %w", n, err)
	}
	present, err := roundOf(s.Snapshot())
	if err != nil || present != n-1 {
		return fmt.Errorf("reading on a full disk: change %d of %d, %w", present, n-1, err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	for range 30 {
		if _, err := s.Apply(ctx, round(n)); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
		n++
	}
	fmt.Println(n - 1)
	return nil
}

func TestAFullDiskRefusesChangesAlone(t *testing.T) {
	dir := private(t)
	_, output, end := childtest.Start(t, "overflow", dir)
	var want int
	if _, err := fmt.Fscan(output, &want); err != nil {
		t.Error(err)
	}
	end()
	if n, err := roundOf(open(t, dir).Snapshot()); n != want || err != nil {
		t.Errorf("change %d is there, want %d: %v", n, want, err)
	}
}
