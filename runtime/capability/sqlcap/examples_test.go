package sqlcap_test

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/session"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// hosted runs a guest in this process, with short pages.
func hosted(t *testing.T, binary []byte, services capability.Services) *provider.Provider {
	t.Helper()
	return hostedWith(t, binary, provider.Config{Services: services, PageSize: 2})
}

func hostedWith(t *testing.T, binary []byte, cfg provider.Config) *provider.Provider {
	t.Helper()
	engine, err := wazero.Open(wazero.Config{CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Runner, cfg.ModuleCache = pool.InProcess{Engine: engine}, guesttest.Modules
	guest, err := provider.Open(t.Context(), cfg, binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := guest.Close(); err != nil {
			t.Error(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return guest
}

// body collects the bytes of a read.
type body struct{ strings.Builder }

func (b *body) Content(*abi.Content) error { return nil }
func (b *body) Body(p []byte) error        { _, err := b.Write(p); return err }
func (b *body) Progress(abi.Progress)      {}

// asked checks the answers of a provider: bodies of reads, codes of errors, and lists.
func asked(t *testing.T, guest *provider.Provider, reads map[string]string, codes map[string]abi.Code,
	listed []string) {
	t.Helper()
	for uri, want := range reads {
		var got body
		if _, err := guest.Read(call(t), &resource.Request{URI: abi.MustParseURI(uri)}, &got); err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v, want %s", uri, got.String(), cause(err), want)
		}
	}
	for uri, want := range codes {
		if _, err := guest.Read(call(t), &resource.Request{URI: abi.MustParseURI(uri)}, &body{}); abi.CodeOf(err) != want {
			t.Errorf("%s: got %v, want %v", uri, cause(err), want)
		}
	}
	var uris []string
	for req := (&resource.Request{}); ; {
		page, err := guest.List(call(t), req)
		if err != nil {
			t.Fatal(cause(err))
		}
		for _, r := range page.Resources {
			uris = append(uris, r.URI)
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	if !slices.Equal(uris, listed) {
		t.Errorf("got the list %q, want %q", uris, listed)
	}
}

func completed(t *testing.T, guest *provider.Provider, template, variable, typed string, known []abi.Var,
	want []string) {
	t.Helper()
	got, err := guest.Complete(call(t), &resource.Request{Template: template, Arg: variable, Value: typed, Vars: known})
	if err != nil || !slices.Equal(got.Completions, want) {
		t.Errorf("%s: got %q, %v, want %q", variable, got.Completions, cause(err), want)
	}
}

func TestExampleUsers(t *testing.T) {
	s := systems[2]
	for _, statement := range []string{"alter table users add email text",
		"alter table users add joined text default '2026-11-22'"} {
		if _, err := s.ask(statement); err != nil {
			t.Fatal(err)
		}
	}
	guest := hosted(t, guesttest.Binary(t, "users"), s.open(t, "reader", sqlcap.Limits{}, nil).Services())
	asked(t, guest, map[string]string{
		"db://users/1": `{"id":1,"name":"Ada","email":null,"joined":"2026-11-22"}`,
		"users://1":    `{"id":1,"name":"Ada","email":null,"joined":"2026-11-22"}`,
	},
		map[string]abi.Code{"db://users/9": abi.CodeNotFound, "db://users/x": abi.CodeInvalidParams},
		[]string{"db://users/1", "db://users/2", "db://users/3"})
	completed(t, guest, "db://users/{user_id}", "user_id", "2", nil, []string{"2"})
}

func TestExampleTables(t *testing.T) {
	schemas := map[string]string{"postgres": "public", "mariadb": "test"}
	columns := map[string]string{
		"postgres": `{"columns":[{"name":"id","type":"bigint","null":false,"default":null},{"name":"name","type":"text","null":false,"default":null},{"name":"born","type":"date","null":true,"default":null}]}`,
		"mariadb":  `{"columns":[{"name":"id","type":"bigint(20)","null":false,"default":null},{"name":"name","type":"text","null":false,"default":null},{"name":"born","type":"date","null":true,"default":"NULL"}]}`,
	}
	tables := map[string][]string{"postgres": {"users"}, "mariadb": {"counter", "names", "plain", "users"}}
	each(t, func(t *testing.T, s *system) {
		schema, scheme := schemas[s.name], strings.Replace(s.name, "mariadb", "mysql", 1)
		if schema == "" {
			return // is what the example users is for
		}
		guest := hosted(t, guesttest.Binary(t, scheme), s.open(t, "reader", sqlcap.Limits{}, nil).Services())
		at := scheme + "://tables/" + schema + "/"
		connection, database := scheme+"://main/", map[string]string{"postgres": "postgres", "mariadb": "test"}[s.name]
		var listed []string
		for _, table := range tables[s.name] {
			listed = append(listed, at+table+"/schema")
		}
		asked(t, guest, map[string]string{
			at + "users/schema": columns[s.name], at +
				"users/rows?limit=2": `{"columns":["id","name","born"],"rows":[[1,"Ada","1815-12-10"],[2,"Alan","1912-06-23"]],"more":true}`,
			connection + "users/schema":               columns[s.name],
			connection + database + "/users?offset=2": `{"columns":["id","name","born"],"rows":[[3,"Grace",null]],"more":false}`,
			at + "users/rows?offset=2":                `{"columns":["id","name","born"],"rows":[[3,"Grace",null]],"more":false}`,
		}, map[string]abi.Code{
			connection + "absent/schema": abi.CodeNotFound, connection + "absent/users": abi.CodeNotFound,
			scheme + "://other/users/schema": abi.CodeDenied,
			at + "absent/schema":             abi.CodeNotFound, at + "users%22%3Bdrop/rows": abi.CodeNotFound, at +
				"users/rows?limit=5000": abi.CodeInvalidParams,
		}, listed)
		template := scheme + "://tables/{schema}/{table}/rows{?limit,offset}"
		completed(t, guest, template, "schema", schema[:2], nil, []string{schema})
		completed(t, guest, template, "table", "us", []abi.Var{{Name: "schema", Value: schema}}, []string{"users"})
		completed(t, guest, template, "table", "%", []abi.Var{{Name: "schema", Value: schema}}, nil)
	})
}

// TestStreamsEndWithTheGuestsCall reads a part of a stream in each of several calls, and leaves it open. All share one
// session.
func TestStreamsEndWithTheGuestsCall(t *testing.T) {
	s := systems[2]
	var codes []abi.Code
	p := s.open(t, "reader", sqlcap.Limits{Sessions: 1}, func(_ context.Context,
		use capability.Use) {
		codes = append(codes, use.Code)
	})
	request := (&abi.SQLRequest{Connection: "main", Query: s.many, Args: []abi.SQLValue{number(100_000)}}).Append(nil)
	puppet := &guesttest.Puppet{
		Manifest: abi.Manifest{Name: "puppet", Ops: 1<<abi.OpDescribe | 1<<abi.OpRead},
		Next: func(_ context.Context, _ abi.Op, n int, _ *abi.Request) guesttest.Step {
			switch n {
			case 0:
				return guesttest.Ask(abi.ServiceSQL, request)
			case 1, 2:
				return guesttest.Ask(abi.ServiceSQLRows, (&abi.StreamRequest{Stream: 1}).Append(nil))
			}
			return guesttest.Return(abi.CodeNotFound)
		},
	}
	services := puppet.Services()
	maps.Copy(services, p.Services())
	guest := hostedWith(t, puppet.Binary(t), provider.Config{
		Services: services, Limits: limits.Limits{Timeout: 20 * time.Second},
	})
	for range 3 {
		if _, err := guest.Read(call(t), &resource.Request{URI: abi.MustParseURI("p://x")}, &body{}); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("got %v", cause(err))
		}
	}
	if want := make([]abi.Code, 9); !slices.Equal(codes, want) {
		t.Errorf("the statements ended with %v, want %v", codes, want)
	}
}

var update = flag.Bool("update", false, "write the recorded sessions of the examples anew")

// TestExampleSessions records the sessions of the examples again, and compares them.
func TestExampleSessions(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		name := map[string]string{"postgres": "postgres", "mariadb": "mysql", "sqlite": "users"}[s.name]
		example := filepath.Join("..", "..", "..", "examples", "wasm", name)
		file := filepath.Join(example, "tests", name+".txtar")
		recorded, err := session.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if s.name == "sqlite" {
			s = usersOf(t, filepath.Join(example, "users.sql"))
		}
		host := session.Record(recorded)
		services, err := host.Services(s.open(t, "reader", sqlcap.Limits{}, nil).Services())
		if err != nil {
			t.Fatal(err)
		}
		guest := hostedWith(t, guesttest.Binary(t, name), provider.Config{
			Services: services, Clock: (*guest.Clock)(recorded.Clock()),
		})
		report, err := session.Run(t.Context(), session.Config{Session: recorded, Host: host, Source: guest, Update: true})
		if err != nil || len(report.Failures) > 0 || report.Steps == 0 {
			t.Fatalf("got %+v, %v", report, err)
		}
		if *update {
			if err := recorded.Save(file); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), string(recorded.Format())); diff != "" {
			t.Errorf("%s is not what is recorded now: run this test with -update; file -, now +:\n%s", file, diff)
		}
	})
}

// usersOf makes a database by the statements of a file.
func usersOf(t *testing.T, statements string) *system {
	t.Helper()
	text, err := os.ReadFile(statements)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users.db")
	ask, err := administrator("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(string(text)); err != nil {
		t.Fatal(err)
	}
	return &system{name: "sqlite", urls: map[string]string{"reader": "sqlite:" + file}}
}
