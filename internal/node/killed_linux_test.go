package node_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/hosttest"
	"github.com/wasmres/wasmres/internal/project"
)

// descendants returns the processes that this one has started, and those that these have.
func descendants(tb testing.TB) (pids []int) {
	tb.Helper()
	children := map[int][]int{} // by parent
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		tb.Fatal(err)
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		parent, wrong := strconv.Atoi(fields[1])
		if err != nil || wrong != nil {
			tb.Fatalf("%s: %s", file, text)
		}
		children[parent] = append(children[parent], pid)
	}
	for pids = children[os.Getpid()]; len(children) > 0; {
		next := children
		children = map[int][]int{}
		for _, pid := range pids {
			if of := next[pid]; len(of) > 0 {
				pids = append(pids, of...)
				delete(next, pid)
				children = next
			}
		}
	}
	return pids
}

// Half of the server's processes are killed again and again while clients read, the standby ones among them: each request is answered
// by its result or by an error that says what has happened. No value is lost, and at the end all tenants are served.
func TestWorkersAreKilledUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	const many, clients, between = 4, 20, 60
	rounds := hosttest.Size(5, 60)
	tenants := map[string]string{}
	for i := range many {
		tenants[fmt.Sprintf("t%d", i)] = fmt.Sprintf("plan: light\nproviders: {kit: {module: %q, permissions: {kv: {}}}}\n", guesttest.Kit(t, project.C))
	}
	h := hostFair(t, tenants)
	read := func(id string) answer {
		return h.do(request{tenant: id, method: "resources/read", uri: "kit://kv/name"})
	}
	isOwn := func(id string, a answer) bool {
		return a.isResult() && strings.Contains(a.body, base64.StdEncoding.EncodeToString([]byte("value-of-"+id)))
	}
	for id := range tenants {
		for a := (answer{}); !a.isResult(); { // the value of keep lasts for 1.5 s
			h.do(request{tenant: id, method: "resources/read", uri: "kit://keep/name/short"})
			a = h.do(request{tenant: id, method: "resources/read", uri: "kit://swap/name/value-of-" + id})
		}
	}
	failure := regexp.MustCompile(`"message":"[^"]+","data":{"code":"(unavailable|busy|limited)"`)
	var results, failed atomic.Int64
	var seen sync.Map // errors
	stop := make(chan struct{})
	var calling sync.WaitGroup
	for i := range clients {
		id := fmt.Sprintf("t%d", i%many)
		calling.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				a := read(id)
				if isOwn(id, a) {
					results.Add(1)
					continue
				}
				failed.Add(1)
				if code := failure.FindStringSubmatch(a.body); code != nil {
					seen.Store(code[0], true)
				} else {
					t.Errorf("%s got %d %s", id, a.status, a.body)
				}
			}
		})
	}
	killed := 0
	for n := 0; n < rounds || killed < rounds; n++ {
		from, until := results.Load(), time.Now().Add(time.Minute)
		for results.Load() < from+between && time.Now().Before(until) { // errors come at once, also while no process runs
			time.Sleep(time.Millisecond)
		}
		if results.Load() < from+between {
			t.Errorf("%d results in a minute, want %d; %d processes were killed", results.Load()-from, between, killed)
			break
		}
		for _, pid := range descendants(t) {
			if rand.N(2) == 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
	}
	close(stop)
	calling.Wait()
	for id := range tenants {
		a := read(id)
		for until := time.Now().Add(time.Minute); !isOwn(id, a) && a.isLater() && time.Now().Before(until); a = read(id) {
			time.Sleep(5 * time.Millisecond)
		}
		if !isOwn(id, a) {
			t.Errorf("at the end %s got %d %s", id, a.status, a.body)
		}
	}
	t.Logf("%d results, %d processes killed, %d errors:", results.Load(), killed, failed.Load())
	seen.Range(func(text, _ any) bool { t.Log(text); return true })
}
