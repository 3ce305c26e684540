package node_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/hosttest"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/tenant"
)

// hostFair runs a server of tenants with one processor slot; every client may read. tenants has the text of their files, without roles.
func hostFair(t *testing.T, tenants map[string]string) *hosted {
	t.Helper()
	return hostOpen(t, "processors: {calls: 1}\n", guesttest.CacheDir(t), tenants)
}

// hostOpen serves tenants of the plans light and heavy that need no key. An empty cache is a new one.
func hostOpen(t *testing.T, settings, cache string, tenants map[string]string) *hosted {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	const rates = "requests: {rate: 1000000/s}, principal_requests: {rate: 1000000/s}, limits: {timeout: 20s}"
	write(t, filepath.Join(dir, "serve.yaml"), settings+"plans: {light: {weight: 1, "+rates+"}, heavy: {weight: 9, "+rates+"}}\n")
	for id, text := range tenants {
		write(t, filepath.Join(dir, "tenants", id+".yaml"), text+"roles: {all: [{uris: [\"**\"]}]}\nauth: {anonymous: [all]}\n")
	}
	s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
	if err != nil {
		t.Fatal(err)
	}
	h := &hosted{tb: t, keys: map[string]string{}}
	n, report, err := node.Open(t.Context(), node.Config{
		Settings: s, CacheDir: cache, Version: "1", Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) > 0 {
		t.Fatal(report.Problems)
	}
	h.Node = n
	h.serve()
	return h
}

// compute has a tenant's provider compute for so many thousand steps.
func (h *hosted) compute(id string, thousands int) answer {
	return h.do(request{tenant: id, method: "resources/read", uri: fmt.Sprint("compute://", thousands)})
}

func (a answer) isResult() bool {
	return a.status == http.StatusOK && strings.Contains(a.body, `"result":`)
}

// TestWeightsReachTheQueueByHTTP has two tenants of weights 1 and 9 send all that they can. How many calls each gets depends on the
// processor time of their processes alone.
func TestWeightsReachTheQueueByHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("it keeps a processor busy for a second")
	}
	text := fmt.Sprintf("providers: {p: {module: %q}}\n", guesttest.Computing(t))
	h := hostFair(t, map[string]string{"light": "plan: light\n" + text, "heavy": "plan: heavy\n" + text})
	const settle, callers = 40, 12 // calls of both together before any is counted; more callers than calls that run, so that some always wait
	counted := hosttest.Size(80, 2000)
	var mu sync.Mutex
	answered, all := map[string]int{}, 0
	note := func(id string) (goesOn bool) {
		mu.Lock()
		defer mu.Unlock()
		if all++; all > settle && all <= settle+counted {
			answered[id]++
		}
		return all < settle+counted
	}
	var calling sync.WaitGroup
	for _, id := range []string{"light", "heavy"} {
		if a := h.compute(id, 1); !a.isResult() {
			t.Fatalf("%s got %d %s", id, a.status, a.body)
		}
		for range callers {
			calling.Go(func() {
				for {
					if a := h.compute(id, 5000); !a.isResult() { // far longer than a request takes beside its call
						t.Errorf("%s got %d %s", id, a.status, a.body)
						return
					}
					if !note(id) {
						return
					}
				}
			})
		}
	}
	calling.Wait()
	if light, heavy := answered["light"], answered["heavy"]; heavy < 3*light || light == 0 {
		t.Errorf("%d calls of weight 1, %d of weight 9", light, heavy)
	}
}

// TestACallThatWaitsHoldsNoProcessor has calls of a tenant wait, for a server, for a database and for clients, while one call may run at
// a time. Those of another tenant go on.
func TestACallThatWaitsHoldsNoProcessor(t *testing.T) {
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "late")
	}))
	defer origin.Close()
	database, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	go func() {
		conn, err := database.Accept() // and says nothing
		if err == nil {
			arrived <- struct{}{}
			<-release
			_ = conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(origin.Listener.Addr().String())
	h := hostFair(t, map[string]string{
		"waits": fmt.Sprintf(`plan: light
providers:
  kit:
    module: %q
    permissions:
      network: {allow: [{host: 127.0.0.1, schemes: [http], ports: [%s], private: true}]}
      sql: [{name: main, dsn: "postgres://ada@%s/books?sslmode=disable", privileged: true}]
`, guesttest.Kit(t, project.C), port, database.Addr()),
		"goes-on": fmt.Sprintf("plan: light\nproviders: {p: {module: %q}}\n", guesttest.Computing(t)),
	})
	goesOn := func(what string) {
		t.Helper()
		for range 3 {
			if a := h.compute("goes-on", 1); !a.isResult() {
				t.Errorf("while a call of another tenant waits for %s: got %d %s", what, a.status, a.body)
			}
		}
	}
	goesOn("nothing")
	var waiting sync.WaitGroup
	for what, uri := range map[string]string{"a server": "kit://fetch/" + origin.URL, "a database": "kit://rows/select%201"} {
		waiting.Go(func() {
			if a := h.do(request{tenant: "waits", method: "resources/read", uri: uri}); what == "a server" && !a.isResult() {
				t.Errorf("%s: got %d %s", what, a.status, a.body)
			}
		})
		<-arrived
		goesOn(what)
	}
	if a := h.do(request{tenant: "waits", method: "subscriptions/listen", params: methods()["listen"].params}); a.status != http.StatusOK {
		t.Errorf("the stream of changes: got %d %s", a.status, a.body)
	}
	for what, r := range map[string]request{
		"the client of a download": {tenant: "waits", uri: "kit://stream/60000000"},
		"the client of a read":     {tenant: "waits", method: "resources/read", uri: "kit://stream/40000000"},
	} {
		resp, err := http.DefaultClient.Do(h.build(r)) // which returns with the head of the answer, whose body is not read
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d", what, resp.StatusCode)
		}
		goesOn(what)
		_ = resp.Body.Close()
	}
	close(release)
	waiting.Wait()
}
