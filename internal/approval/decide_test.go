package approval_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
)

// asking is a manifest that requests one capability.
func asking(capability, params string) *abi.Manifest {
	return &abi.Manifest{Name: "notes", Version: "2.0.0", Capabilities: []abi.Capability{{Name: capability, Params: params, Reason: "to be useful"}}}
}

// asks is a manifest that requests several, each "capability params".
func asks(all ...string) *abi.Manifest {
	m := &abi.Manifest{Name: "notes", Version: "2.0.0"}
	for _, one := range all {
		capability, params, _ := strings.Cut(one, " ")
		m.Capabilities = append(m.Capabilities, abi.Capability{Name: capability, Params: params})
	}
	return m
}

// provider is a file that only this user can write to.
func provider(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err, os.Chmod(dir, 0o700), os.Chmod(filepath.Dir(dir), 0o755))
	file := filepath.Join(dir, "notes.wasm")
	must(t, os.WriteFile(file, nil, 0o600))
	return file
}

func server(host string) *policy.Policy {
	return &policy.Policy{Network: []policy.Network{{Host: host}}}
}

func TestNothingIsGrantedByDefault(t *testing.T) {
	s, _ := newStore(t)
	for _, store := range []*approval.Store{s, nil} {
		d := approval.Decide(approval.Request{Manifest: asking("kv", ""), Digest: digestA, File: provider(t), Store: store})
		if d.Outcome != approval.Ask || d.Policy != nil || d.Problem != nil {
			t.Errorf("got %+v", d)
		}
		d = approval.Decide(approval.Request{Manifest: asks(), Digest: digestA, File: provider(t), Store: store})
		if d.Outcome != approval.Granted || !d.Policy.Empty() {
			t.Errorf("a provider without requests gets %+v", d)
		}
		d = approval.Decide(approval.Request{Manifest: asks("teleport"), Digest: digestA, File: provider(t), Store: store})
		if d.Outcome != approval.Granted || !d.Policy.Empty() {
			t.Errorf("a provider that requests an unknown capability gets %+v", d)
		}
	}
}

func TestTheCommandLineReplacesApprovals(t *testing.T) {
	s, _ := newStore(t)
	must(t, s.Grant(record(digestA)))
	d := approval.Decide(approval.Request{
		Manifest: asks(`http {"hosts":["a.org"]}`, "kv"), Digest: digestA, File: provider(t), Store: s, Given: server("b.org"),
	})
	if d.Outcome != approval.Granted || d.Policy.KV != nil || d.Policy.Network[0].Host != "b.org" || len(d.Policy.Network) != 1 {
		t.Errorf("got %+v", d.Policy)
	}
	if missing := d.Missing(d.Policy); len(missing) != 2 {
		t.Errorf("missing is %+v", missing)
	}
	// Configuration is not a grant: the approval remains valid.
	d = approval.Decide(approval.Request{
		Manifest: asking("kv", ""), Digest: digestA, File: provider(t), Store: s, Given: &policy.Policy{Config: map[string]string{"a": "b"}},
	})
	if d.Outcome != approval.Granted || d.Policy.KV == nil || d.Policy.Config["a"] != "b" {
		t.Errorf("got %+v", d)
	}
}

func TestAnApprovalIsForADigest(t *testing.T) {
	s, _ := newStore(t)
	must(t, s.Grant(record(digestA)))
	m, file := asking("http", `{"hosts":["a.org"]}`), provider(t)
	if d := approval.Decide(approval.Request{Manifest: m, Digest: digestA, File: file, Store: s}); d.Outcome != approval.Granted || d.Policy.Network[0].Host != "a.org" {
		t.Errorf("got %+v", d)
	}
	d := approval.Decide(approval.Request{Manifest: m, Digest: digestB, File: file, Store: s})
	if d.Outcome != approval.Ask || d.SameName == nil || !strings.Contains(d.Mismatch, "/srv/notes.wasm") {
		t.Errorf("another digest of that name, elsewhere: got %+v", d)
	}
	must(t, s.Revoke(record(digestA)))
	if d := approval.Decide(approval.Request{Manifest: m, Digest: digestA, File: file, Store: s}); d.Outcome != approval.Revoked {
		t.Errorf("after revoking: got %+v", d)
	}
}

// A new version of version 1, which asked for a.org, a folder and a store, and was granted them.
func TestANewVersionThatRequestsMoreNeedsApproval(t *testing.T) {
	before := asks(`http {"hosts":["a.org"],"methods":["GET","POST"]}`, `fs {"paths":["/data"]}`, "kv")
	for _, tt := range []struct {
		name string
		m    *abi.Manifest
		more int
	}{
		{"the same", before, 0},
		{"less", asks(`fs {"paths":["/data/a"]}`), 0},
		{"the same in other words", asks(`http { "methods": ["POST", "GET"], "hosts": ["a.org"] }`), 0},
		{"nothing", asks(), 0},
		{"another host", asks(`http {"hosts":["a.org","b.org"]}`), 1},
		{"another method", asks(`http {"hosts":["a.org"],"methods":["DELETE"]}`), 1},
		{"no particular host", asks("http"), 1},
		{"no particular host, by an empty object", asks("http {}"), 1},
		{"a folder around", asks(`fs {"paths":["/"]}`), 1},
		{"writing", asks(`fs {"paths":["/data"],"access":["write"]}`), 1},
		{"other capabilities", asks("kv", `env {"keys":["A"]}`, `secret {"names":["a"]}`, "sql"), 3},
		{"invalid parameters", asks(`fs {"path":"/data"}`), 1},
		{"an unknown capability", asks("kv", "teleport"), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newStore(t)
			file := provider(t)
			granted := &policy.Policy{
				Network: []policy.Network{{Host: "a.org", Methods: []string{"GET"}}}, KV: &policy.KV{},
				Storage: []policy.Storage{{Host: "/srv", Guest: "/data", Access: policy.Read}},
			}
			first := approval.Decide(approval.Request{Manifest: before, Digest: digestA, File: file, Store: s})
			must(t, s.Grant(first.Record(granted, noon, "ada")))
			d := approval.Decide(approval.Request{Manifest: tt.m, Digest: digestB, File: file, Store: s})
			if len(d.More) != tt.more || (d.Outcome == approval.Granted) != (tt.more == 0) || d.Previous == nil {
				t.Fatalf("outcome %v, more %+v, previous %v", d.Outcome, d.More, d.Previous)
			}
			if d.Outcome == approval.Granted && !policy.Covers(granted, d.Policy) {
				t.Errorf("it gets more than was granted: %q", d.Policy.Lines())
			}
		})
	}
}

func TestANewVersionThatRequestsToWriteMoreNeedsApproval(t *testing.T) {
	writes := func(bounds string) *abi.Manifest {
		return asks(`fs {"paths":["/data"],"access":["read","write"]` + bounds + `}`)
	}
	for now, more := range map[string]bool{
		``:                                       true, // which is the default
		`,"max_bytes":"64Mi"`:                    true, // of files
		`,"max_bytes":"64Mi","max_files":100`:    false,
		`,"max_bytes":67108864,"max_files":100`:  false,
		`,"max_bytes":"32Mi","max_files":10`:     false,
		`,"max_bytes":"65Mi","max_files":100`:    true,
		`,"max_bytes":"64Mi","max_files":101`:    true,
		`,"max_bytes":"64Mi","max_files":"many"`: true,
	} {
		s, _ := newStore(t)
		file := provider(t)
		first := approval.Decide(approval.Request{
			Manifest: writes(`,"max_bytes":"64Mi","max_files":100`), Digest: digestA, File: file, Store: s,
		})
		granted := &policy.Policy{Storage: []policy.Storage{
			{Host: "/srv", Guest: "/data", Access: policy.Read | policy.Write, MaxBytes: 1 << 20},
		}}
		must(t, s.Grant(first.Record(granted, noon, "ada")))
		d := approval.Decide(approval.Request{Manifest: writes(now), Digest: digestB, File: file, Store: s})
		if (d.Outcome == approval.Granted) == more || len(d.More) > 0 != more {
			t.Errorf("%s: outcome %v, more %+v", now, d.Outcome, d.More)
		}
		if !more && (d.Policy.Storage[0].MaxBytes != 1<<20 || !policy.Covers(granted, d.Policy)) {
			t.Errorf("%s: it gets more than was granted: %q", now, d.Policy.Lines())
		}
	}
}

func TestANewVersionInheritsWhatItStillRequests(t *testing.T) {
	s, _ := newStore(t)
	file := provider(t)
	d := approval.Decide(approval.Request{Manifest: asks("kv", `http {"hosts":["a.org"]}`), Digest: digestA, File: file, Store: s})
	granted := server("a.org")
	granted.KV, granted.Environment = &policy.KV{}, []string{"LANG"} // which it never asked for
	must(t, s.Grant(d.Record(granted, noon, "ada")))
	d = approval.Decide(approval.Request{Manifest: asks(`http {"hosts":["a.org"]}`), Digest: digestB, File: file, Store: s})
	if d.Outcome != approval.Granted || d.Policy.KV != nil || len(d.Policy.Network) != 1 || len(d.Policy.Environment) != 1 || len(d.Less) != 1 {
		t.Errorf("got %+v", d)
	}
}

// What the name of an approved provider is worth to another one.
func TestANameAloneInheritsNothing(t *testing.T) {
	params := `{"hosts":["a.org"]}`
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, s *approval.Store, r approval.Record, file string) string
		want    string
	}{
		"another file": {func(t *testing.T, s *approval.Store, r approval.Record, file string) string {
			must(t, s.Grant(r))
			return provider(t)
		}, "it was the file"},
		"a pinned approval": {func(t *testing.T, s *approval.Store, r approval.Record, file string) string {
			r.Pinned = true
			must(t, s.Grant(r))
			return file
		}, "for its digest only"},
		"a file others can write": {func(t *testing.T, s *approval.Store, r approval.Record, file string) string {
			must(t, s.Grant(r), os.Chmod(file, 0o666))
			return file
		}, "others can write"},
		"a folder others can write": {func(t *testing.T, s *approval.Store, r approval.Record, file string) string {
			must(t, s.Grant(r), os.Chmod(filepath.Dir(file), 0o777))
			return file
		}, "others can write"},
		"a folder like /tmp": {func(t *testing.T, s *approval.Store, r approval.Record, file string) string {
			must(t, s.Grant(r), os.Chmod(filepath.Dir(file), 0o777|os.ModeSticky))
			return file
		}, "others can write"},
		"a folder around that others can write": {func(t *testing.T, s *approval.Store, r approval.Record, file string) string {
			must(t, s.Grant(r), os.Chmod(filepath.Dir(filepath.Dir(file)), 0o777))
			return file
		}, "others can write"},
		"a link to another file": {func(t *testing.T, s *approval.Store, r approval.Record, file string) string {
			other := provider(t)
			must(t, s.Grant(r), os.Remove(file), os.Symlink(other, file))
			return file
		}, "it was the file"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore(t)
			file := provider(t)
			first := approval.Decide(approval.Request{Manifest: asking("http", params), Digest: digestA, File: file, Store: s})
			file = tt.prepare(t, s, first.Record(server("a.org"), noon, "ada"), file)
			d := approval.Decide(approval.Request{Manifest: asking("http", params), Digest: digestB, File: file, Store: s})
			if d.Outcome != approval.Ask || d.Previous != nil || !strings.Contains(d.Mismatch, tt.want) {
				t.Errorf("got %v, previous %v, doubt %q, want %q", d.Outcome, d.Previous, d.Mismatch, tt.want)
			}
		})
	}
	t.Run("another name", func(t *testing.T) {
		s, _ := newStore(t)
		file := provider(t)
		first := approval.Decide(approval.Request{Manifest: asking("http", params), Digest: digestA, File: file, Store: s})
		must(t, s.Grant(first.Record(server("a.org"), noon, "ada")))
		m := asking("http", params)
		m.Name = "other"
		if d := approval.Decide(approval.Request{Manifest: m, Digest: digestB, File: file, Store: s}); d.Outcome != approval.Ask || d.SameName != nil {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("revoked", func(t *testing.T) {
		s, _ := newStore(t)
		file := provider(t)
		first := approval.Decide(approval.Request{Manifest: asking("http", params), Digest: digestA, File: file, Store: s})
		must(t, s.Grant(first.Record(server("a.org"), noon, "ada")))
		second := first.Record(nil, noon, "ada")
		second.Digest = digestB
		must(t, s.Revoke(second))
		if d := approval.Decide(approval.Request{Manifest: asking("http", params), Digest: digestB, File: file, Store: s}); d.Outcome != approval.Revoked {
			t.Errorf("a revoked version passes as a new one: %+v", d)
		}
	})
}

// A revoked version ends inheritance from earlier ones, until the user grants again.
func TestARevokedVersionEndsInheritance(t *testing.T) {
	s, _ := newStore(t)
	file, m := provider(t), asking("http", `{"hosts":["a.org"]}`)
	decide := func(digest string) *approval.Decision {
		return approval.Decide(approval.Request{Manifest: m, Digest: digest, File: file, Store: s})
	}
	must(t, s.Grant(decide(digestA).Record(server("a.org"), noon, "ada")))
	if d := decide(digestB); d.Outcome != approval.Granted {
		t.Fatalf("got %+v", d)
	}
	must(t, s.Revoke(decide(digestB).Record(nil, noon.Add(time.Minute), "ada")))
	digestC := "sha256:" + strings.Repeat("c", 64)
	if d := decide(digestC); d.Outcome != approval.Ask || d.Previous != nil {
		t.Errorf("after a revoked one: got %+v", d)
	}
	if d := decide(digestA); d.Outcome != approval.Granted {
		t.Errorf("the first one: got %+v", d)
	}
	must(t, s.Grant(decide(digestC).Record(server("a.org"), noon.Add(time.Hour), "ada")))
	if d := decide("sha256:" + strings.Repeat("d", 64)); d.Outcome != approval.Granted || d.Previous.Digest != digestC {
		t.Errorf("after a person granted again: got %+v", d)
	}
}

func TestWithoutATerminalItIsRefusedWithTheCommand(t *testing.T) {
	s, _ := newStore(t)
	dir := filepath.Dir(provider(t))
	file := filepath.Join(dir, "it's notes.wasm")
	must(t, os.WriteFile(file, nil, 0o600))
	m := asks(`fs {"paths":["/data"]}`, `http {"hosts":["a.org"],"methods":["POST"]}`, `secret {"names":["token"]}`, `sql {"connections":["main"]}`, "kv", `env {"keys":["LANG"]}`)
	m.Capabilities[4].Optional = true
	request := approval.Request{Manifest: m, Digest: digestA, File: file, Store: s}
	_, err := approval.Obtain(t.Context(), request, nil, "ada")
	refusal, ok := approval.Refused(err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	// The command has nothing in it that would have to be filled in: it asks.
	want := `wasmres permission grant '` + dir + `/it'\''s notes.wasm'`
	if refusal.Command != want || !strings.Contains(err.Error(), ". Grant them on a terminal, where the command asks for what only you know: "+want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	want += ` --dir FOLDER:/data --net POST:https://a.org --env LANG --secret token=env:VARIABLE --sql main=env:VARIABLE --kv`
	if got := approval.Decide(request).Example(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.Contains(err.Error(), "provider notes not started: it needs capabilities that are not granted (read files at /data; send POST to https://a.org;") {
		t.Errorf("got %v", err)
	}
	m = asks(`http {"hosts":["a.org"]}`, "kv")
	m.Capabilities[1].Optional = true
	_, err = approval.Obtain(t.Context(), approval.Request{Manifest: m, Digest: digestA, File: file, Store: s}, nil, "ada")
	if err == nil || !strings.Contains(err.Error(), "(send GET, HEAD to https://a.org; keep values between requests (optional))") ||
		!strings.HasSuffix(err.Error(), ". Grant them with: wasmres permission grant '"+dir+`/it'\''s notes.wasm' --net https://a.org --kv`) {
		t.Errorf("got %v", err)
	}
	// What flags cannot say, a file must.
	m = asks(`http {"hosts":["intern.example.org"],"private":true}`)
	_, err = approval.Obtain(t.Context(), approval.Request{Manifest: m, Digest: digestA, File: file, Store: s}, nil, "ada")
	if refusal, ok := approval.Refused(err); !ok || !strings.HasSuffix(refusal.Command, "--policy POLICY.yaml") ||
		!strings.Contains(err.Error(), ". Grant them with a POLICY.yaml, which 'wasmres inspect' prints: wasmres permission grant ") {
		t.Errorf("got %v", err)
	}
}

func TestAProviderWithOptionalRequestsRuns(t *testing.T) {
	m := asking("kv", "")
	m.Capabilities[0].Optional = true
	d, err := approval.Obtain(t.Context(), approval.Request{Manifest: m, Digest: digestA, File: provider(t)}, nil, "ada")
	if err != nil || d.Outcome != approval.Granted || !d.Policy.Empty() || !strings.Contains(d.Why, "all optional") {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestSettleAsksAndRemembers(t *testing.T) {
	s, _ := newStore(t)
	r := approval.Request{Manifest: asking("http", `{"hosts":["a.org"]}`), Digest: digestA, File: provider(t), Store: s}
	settle := func(typed string) (*approval.Decision, error) {
		return approval.Obtain(t.Context(), r, &approval.Terminal{In: strings.NewReader(typed), Out: &strings.Builder{}}, "ada")
	}
	for _, no := range []string{"", "\n", "n\n", "no\n", "yes", "ja\n", "y y\n", strings.Repeat("y", 10_000) + "\n"} {
		if d, err := settle(no); err == nil {
			t.Errorf("%.20q is taken for a yes: %+v", no, d)
		}
	}
	if d, err := settle("once\n"); err != nil || d.Policy.Network[0].Host != "a.org" {
		t.Errorf("once: got %+v, %v", d, err)
	}
	if _, err := s.Get(digestA); err == nil {
		t.Error("what was for this time is remembered")
	}
	if d, err := settle(" Yes \n"); err != nil || d.Outcome != approval.Granted {
		t.Errorf("yes: got %+v, %v", d, err)
	}
	kept, err := s.Get(digestA)
	if err != nil || kept.By != "ada" || kept.Name != "notes" || time.Since(kept.When) > time.Minute {
		t.Errorf("got %+v, %v", kept, err)
	}
	if d, err := approval.Obtain(t.Context(), r, nil, "ada"); err != nil || d.Policy.Network[0].Host != "a.org" {
		t.Errorf("the next time: got %+v, %v", d, err)
	}
}

func TestAWaitingPromptEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, typed, err := os.Pipe()
	must(t, err)
	defer in.Close()
	defer typed.Close()
	r := approval.Request{Manifest: asking("kv", ""), Digest: digestA, File: provider(t)}
	out := &signalled{seen: cancel}
	if _, err := approval.Obtain(ctx, r, &approval.Terminal{In: in, Out: out}, "ada"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// signalled calls seen when the question has been written.
type signalled struct{ seen func() }

func (s *signalled) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "Grant this?") {
		s.seen()
	}
	return len(p), nil
}

// Where the latest approved version is pinned, none before it speaks for a new one.
func TestAPinEndsInheritance(t *testing.T) {
	s, _ := newStore(t)
	file := provider(t)
	grant := func(digest string, when time.Time, pinned bool) {
		d := approval.Decide(approval.Request{Manifest: asks("kv"), Digest: digest, File: file, Store: s})
		r := d.Record(&policy.Policy{KV: &policy.KV{}}, when, "ada")
		r.Pinned = pinned
		must(t, s.Grant(r))
	}
	grant(digestA, noon, false)
	grant(digestB, noon.Add(time.Hour), true)
	d := approval.Decide(approval.Request{Manifest: asks("kv"), Digest: digestC, File: file, Store: s})
	if d.Outcome != approval.Ask || d.SameName == nil {
		t.Errorf("the third version: got %v, because %q; want a question", d.Outcome, d.Why)
	}
}

// A version that inherited is listed, so that the user can revoke it by its digest. Later versions then need approval.
func TestAVersionThatInheritedCanBeRevoked(t *testing.T) {
	s, _ := newStore(t)
	file := provider(t)
	request := func(digest string) approval.Request {
		return approval.Request{Manifest: asks("kv"), Digest: digest, File: file, Store: s}
	}
	must(t, s.Grant(approval.Decide(request(digestA)).Record(&policy.Policy{KV: &policy.KV{}}, noon, "ada")))
	for range 2 {
		d, err := approval.Obtain(t.Context(), request(digestB), nil, "ada")
		if err != nil || d.Outcome != approval.Granted || d.Problem != nil {
			t.Fatalf("the second version: got %+v, %v", d, err)
		}
	}
	r, err := s.Get(digestB)
	if err != nil || !r.Inherited || r.Origin != file {
		t.Fatalf("its record: got %+v, %v", r, err)
	}
	r.When = noon.Add(time.Hour)
	must(t, s.Revoke(*r))
	for _, digest := range []string{digestB, digestC} {
		if d, err := approval.Obtain(t.Context(), request(digest), nil, "ada"); err == nil {
			t.Errorf("%.12s: got %v, because %q", digest, d.Policy.Lines(), d.Why)
		}
	}
}

// What a version inherited goes with what it inherited from.
func TestWhatWasInheritedEndsWithTheFirst(t *testing.T) {
	s, _ := newStore(t)
	file := provider(t)
	request := func(digest string) approval.Request {
		return approval.Request{Manifest: asks("kv"), Digest: digest, File: file, Store: s}
	}
	must(t, s.Grant(approval.Decide(request(digestA)).Record(&policy.Policy{KV: &policy.KV{}}, noon, "ada")))
	_, err := approval.Obtain(t.Context(), request(digestB), nil, "ada")
	must(t, err, s.Reset(digestA))
	if d := approval.Decide(request(digestB)); d.Outcome != approval.Ask {
		t.Errorf("got %v, because %q; want a question", d.Outcome, d.Why)
	}
}

// A record that does not count may be a refusal: nothing is inherited past it.
func TestNothingIsInheritedPastADamagedRecord(t *testing.T) {
	s, dir := newStore(t)
	file := provider(t)
	request := func(digest string) approval.Request {
		return approval.Request{Manifest: asks("kv"), Digest: digest, File: file, Store: s}
	}
	must(t, s.Grant(approval.Decide(request(digestA)).Record(&policy.Policy{KV: &policy.KV{}}, noon, "ada")))
	must(t, s.Revoke(approval.Decide(request(digestB)).Record(&policy.Policy{}, noon.Add(time.Hour), "ada")))
	must(t, os.WriteFile(filepath.Join(dir, strings.TrimPrefix(digestB, "sha256:")+".approval"), []byte("{}"), 0o600))
	if d := approval.Decide(request(digestC)); d.Outcome != approval.Ask || d.Problem == nil {
		t.Errorf("got %v, because %q; problem %v", d.Outcome, d.Why, d.Problem)
	}
}

// However many builds inherit, a few records are kept of them.
func TestInheritedRecordsAreBounded(t *testing.T) {
	s, _ := newStore(t)
	file := provider(t)
	request := func(digest string) approval.Request {
		return approval.Request{Manifest: asks("kv"), Digest: digest, File: file, Store: s}
	}
	must(t, s.Grant(approval.Decide(request(digestA)).Record(&policy.Policy{KV: &policy.KV{}}, time.Now(), "ada")))
	for i := range 30 {
		d, err := approval.Obtain(t.Context(), request(fmt.Sprintf("sha256:%064d", i)), nil, "ada")
		if err != nil || d.Outcome != approval.Granted || d.Problem != nil {
			t.Fatalf("got %+v, %v", d, err)
		}
	}
	records, err := s.List()
	if err != nil || len(records) != 11 || records[0].Digest != fmt.Sprintf("sha256:%064d", 29) {
		t.Errorf("got %d records, %v", len(records), err)
	}
}
