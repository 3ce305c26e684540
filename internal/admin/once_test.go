package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/tenant"
)

// headed sends a request with headers, each as "Name: value".
func headed(t *testing.T, socket, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://wasmres"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	return send(t, socket, r)
}

// codeOf returns the code of a problem.
func codeOf(t *testing.T, text string) string {
	t.Helper()
	var p admin.Problem
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return p.Code
}

const newKey = `{"name":"ada","roles":["reader"]}`

// A write that is sent again with its Idempotency-Key is made once, whatever its answer was, and whether or not the server was
// started again meanwhile.
func TestAWriteIsMadeOnce(t *testing.T) {
	h := admintest.New(t, acme())
	socket, key := h.Serve(t), "Idempotency-Key: "+admin.NewIdempotencyKey()
	first, text := headed(t, socket, "POST", "/v1/tenants/acme/keys", newKey, key)
	if first.StatusCode != 201 || first.Header.Get("Idempotency-Replayed") != "" {
		t.Fatalf("got %d %s", first.StatusCode, text)
	}
	for _, server := range []string{socket, h.Serve(t)} { // the second one has nothing but the store
		again, same := headed(t, server, "POST", "/v1/tenants/acme/keys", newKey, key)
		if again.StatusCode != 201 || same != text || again.Header.Get("Idempotency-Replayed") != "true" || again.Header.Get("Location") != first.Header.Get("Location") ||
			again.Header.Get("ETag") != first.Header.Get("ETag") {
			t.Errorf("got %d %s, want %s", again.StatusCode, same, text)
		}
	}
	if n := len(h.Snapshot().Keys); n != 1 {
		t.Errorf("%d keys were made", n)
	}
	for _, other := range []struct{ method, path, body string }{
		{"POST", "/v1/tenants/acme/keys", `{"name":"ben","roles":["reader"]}`},
		{"POST", "/v1/tenants/acme/keys", newKey + " "},
		{"POST", "/v1/tenants/acme/keys?x=1", newKey},
		{"DELETE", "/v1/keys/x", ""},
	} {
		if answer, text := headed(t, socket, other.method, other.path, other.body, key); answer.StatusCode != 422 || codeOf(t, text) != admin.CodeKeyReused {
			t.Errorf("%+v: got %d %s", other, answer.StatusCode, text)
		}
	}
	refused := "Idempotency-Key: " + admin.NewIdempotencyKey()
	_, was := headed(t, socket, "DELETE", "/v1/keys/absent", "", refused)
	if again, text := headed(t, socket, "DELETE", "/v1/keys/absent", "", refused); again.StatusCode != 404 || text != was {
		t.Errorf("a refusal is answered by %d %s, want %s", again.StatusCode, text, was)
	}
	for _, wrong := range []string{"short", strings.Repeat("x", 129), "0123456789 123456789"} {
		if answer, _ := headed(t, socket, "POST", "/v1/reload", "", "Idempotency-Key: "+wrong); answer.StatusCode != 400 {
			t.Errorf("the key %q is answered by %d", wrong, answer.StatusCode)
		}
	}
}

// The same request at the same time is made once, too; and one that had no effect, as when the disk was full, may be made again.
func TestConcurrentAndFailedWrites(t *testing.T) {
	h := admintest.New(t, acme())
	socket, key := h.Serve(t), "Idempotency-Key: "+admin.NewIdempotencyKey()
	h.SetFailure(tenant.ErrUnavailable)
	if answer, text := headed(t, socket, "POST", "/v1/tenants/acme/keys", newKey, key); answer.StatusCode != 503 {
		t.Fatalf("got %d %s", answer.StatusCode, text)
	}
	h.SetFailure(nil)
	var all sync.WaitGroup
	statuses := make(chan int, 16)
	for range cap(statuses) {
		all.Go(func() {
			answer, text := headed(t, socket, "POST", "/v1/tenants/acme/keys", newKey, key)
			if answer.StatusCode != 201 && (answer.StatusCode != 409 || codeOf(t, text) != admin.CodeRepeated) {
				t.Errorf("got %d %s", answer.StatusCode, text)
			}
			statuses <- answer.StatusCode
		})
	}
	all.Wait()
	if n := len(h.Snapshot().Keys); n != 1 {
		t.Errorf("%d keys were made", n)
	}
	unknown := "Idempotency-Key: " + admin.NewIdempotencyKey()
	h.SetFailure(fmt.Errorf("it broke somewhere"))
	headed(t, socket, "POST", "/v1/tenants/acme/keys", newKey, unknown)
	h.SetFailure(nil)
	if answer, text := headed(t, socket, "POST", "/v1/tenants/acme/keys", newKey, unknown); answer.StatusCode != 409 || codeOf(t, text) != admin.CodeRepeated {
		t.Errorf("a write whose end is not known is answered by %d %s", answer.StatusCode, text)
	}
}

// What the store keeps for repeated requests has neither the Idempotency-Key nor the answer in it.
func TestKeptAnswersAreSealed(t *testing.T) {
	h := admintest.New(t, acme())
	key := admin.NewIdempotencyKey()
	_, text := headed(t, h.Serve(t), "POST", "/v1/tenants/acme/keys", newKey, "Idempotency-Key: "+key)
	var made admin.IssuedKey
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		t.Fatal(err)
	}
	for _, file := range h.Files() {
		for _, secret := range []string{key, made.Text, "graceSeconds"} {
			if strings.Contains(file, secret) {
				t.Errorf("the store has %s", secret)
			}
		}
	}
}

// A write with a tag is made if the object is as it was, whatever else has changed.
func TestConditions(t *testing.T) {
	h := admintest.New(t, acme())
	socket := h.Serve(t)
	made, text := headed(t, socket, "POST", "/v1/tenants/acme/keys", newKey)
	tag, path := made.Header.Get("ETag"), made.Header.Get("Location")
	if tag == "" || !strings.HasPrefix(path, "/v1/keys/") {
		t.Fatalf("got %v %s", made.Header, text)
	}
	headed(t, socket, "POST", "/v1/tenants/acme/keys", newKey) // something else
	if err := h.SetLastUsed(t.Context(), map[string]time.Time{path[len("/v1/keys/"):]: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{`"other"`, `W/` + tag, "other", tag[1:]} {
		if answer, text := headed(t, socket, "DELETE", path, "", "If-Match: "+wrong); answer.StatusCode != 412 || codeOf(t, text) != admin.CodeConflict {
			t.Errorf("%s: got %d %s", wrong, answer.StatusCode, text)
		}
	}
	if answer, text := headed(t, socket, "POST", path+"/rotate", `{"graceSeconds":60}`, `If-Match: "x", `+tag); answer.StatusCode != 201 {
		t.Errorf("got %d %s", answer.StatusCode, text)
	}
	if answer, _ := headed(t, socket, "DELETE", path, "", "If-Match: "+tag); answer.StatusCode != 412 {
		t.Errorf("the key has another end now, and is revoked: %d", answer.StatusCode)
	}
	if answer, _ := headed(t, socket, "DELETE", path, "", "If-Match: *"); answer.StatusCode != 204 {
		t.Errorf("got %d", answer.StatusCode)
	}
	if answer, _ := headed(t, socket, "DELETE", path, "", "If-Match: *"); answer.StatusCode != 412 {
		t.Errorf("a key that is gone matches: %d", answer.StatusCode)
	}
	node, _ := headed(t, socket, "GET", "/v1/node", "")
	if answer, _ := headed(t, socket, "POST", "/v1/reload", "", "If-Match: "+node.Header.Get("ETag")); answer.StatusCode != 200 {
		t.Errorf("got %d", answer.StatusCode)
	}
	if answer, _ := headed(t, socket, "POST", "/v1/reload", "", `If-Match: "g1"`); answer.StatusCode != 412 {
		t.Errorf("got %d", answer.StatusCode)
	}
}

// A write that is in force, and could not be recorded, is not made again under the same Idempotency-Key.
func TestAWriteThatCouldNotBeRecorded(t *testing.T) {
	h := admintest.New(t, acme())
	reloads := 0
	h.SetReload(func() (*tenant.Snapshot, error) { reloads++; return h.Store.Snapshot(), nil })
	cfg := h.Config()
	cfg.Record = func(context.Context, ledger.Entry) error { return errors.New("the disk is full") }
	server, err := admin.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	handler, key := admin.Permitted(server), admin.NewIdempotencyKey()
	for _, want := range []struct {
		status int
		code   string
	}{{503, admin.CodeUnavailable}, {409, admin.CodeRepeated}, {409, admin.CodeRepeated}} {
		r := httptest.NewRequest("POST", "/v1/reload", nil)
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want.status || codeOf(t, w.Body.String()) != want.code {
			t.Errorf("got %d %s, want %+v", w.Code, w.Body, want)
		}
	}
	if reloads != 1 {
		t.Errorf("it was made %d times", reloads)
	}
}
