package app

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/policy"
	runtime "github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
)

// TestADenialIsLoggedOnce has a provider read what it was not granted, wherever it runs: the operator learns which flag
// grants it, and the client does not.
func TestADenialIsLoggedOnce(t *testing.T) {
	const want = `level=WARN msg="permission denied: provider \"project\" called fs, which is not granted; ` +
		`grant it with --dir FOLDER:/project, where FOLDER is a folder of yours"`
	for _, isolation := range []runtime.Isolation{runtime.IsolateNone, runtime.IsolateDefault} {
		t.Run(isolation.String(), func(t *testing.T) {
			var log bytes.Buffer
			a, err := Open(t.Context(), Config{
				File: guesttest.File(t, "project"), CacheDir: guesttest.CacheDir(t), Isolation: isolation,
				Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				_, err = a.Call(t.Context(), "resources/read", map[string]string{"uri": "project://readme"})
				if abi.CodeOf(err) != abi.CodeDenied || strings.Contains(err.Error(), "permission denied") {
					t.Errorf("the client gets %v", err)
				}
			}
			if err := a.Close(); err != nil { // then nothing logs any more
				t.Error(err)
			}
			if got := log.String(); strings.Count(got, want) != 1 || strings.Count(got, "permission denied") != 1 {
				t.Errorf("got the log %s\nwant once %s", got, want)
			}
		})
	}
}

func TestDenialsSayWhichFlagGrants(t *testing.T) {
	http := func(method, url string) []byte { return (&abi.HTTPRequest{Method: method, URL: url}).Append(nil) }
	file := func(path string) []byte { return (&abi.FileRequest{Path: path}).Append(nil) }
	sql := func(name string) []byte { return (&abi.SQLRequest{Connection: name}).Append(nil) }
	const denied = `permission denied: provider "tables" called `
	for name, tt := range map[string]struct {
		id      abi.Service
		request []byte
		want    string
	}{
		"a request": {abi.ServiceHTTP, http("", "https://API.example.org/v1/x?token=secret"),
			"http, which is not granted; grant it with --net https://api.example.org"},
		"with a port":    {abi.ServiceHTTP, http("get", "http://127.0.0.1:8080/"), "http, which is not granted; grant it with --net http://127.0.0.1:8080"},
		"that changes":   {abi.ServiceHTTP, http("POST", "https://a.example/"), "http, which is not granted; grant it with --net POST:https://a.example"},
		"no URL":         {abi.ServiceHTTP, http("GET", "file:///etc/passwd"), "http, which is not granted"},
		"a shell":        {abi.ServiceHTTP, http("GET", "https://a.example;rm -rf/"), "http, which is not granted"},
		"malformed":      {abi.ServiceHTTP, []byte{0xff}, "http, which is not granted"},
		"a file":         {abi.ServiceFileRead, file("/data/a/b.csv"), "fs, which is not granted; grant it with --dir FOLDER:/data, where FOLDER is a folder of yours"},
		"a list":         {abi.ServiceFileList, file("data"), "fs, which is not granted; grant it with --dir FOLDER:/data, where FOLDER is a folder of yours"},
		"writing":        {abi.ServiceFileWrite, file("/out/x"), "fs, which is not granted; grant it with --dir FOLDER:/out:rw, where FOLDER is a folder of yours"},
		"above":          {abi.ServiceFileStat, file("/../etc"), "fs, which is not granted; grant it with --dir FOLDER:/PATH, where FOLDER is a folder of yours"},
		"a database":     {abi.ServiceSQL, sql("main"), "sql, which is not granted; grant it with --sql main=env:VARIABLE, where VARIABLE is an environment variable that has the address of the database, as sqlite:FILE"},
		"a bad name":     {abi.ServiceSQL, sql("a b"), "sql, which is not granted"},
		"a store":        {abi.ServiceKVList, nil, "kv, which is not granted; grant it with --kv"},
		"more of a body": {abi.ServiceStream, nil, ""},
		"unknown":        {63, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := &App{cfg: Config{File: "/srv/tables.wasm"}}
			d, ok := a.denialOf(tt.id, tt.request)
			if tt.want == "" {
				if ok {
					t.Errorf("got %s", d)
				}
				return
			}
			if got := d.String(); got != denied+tt.want {
				t.Errorf("got  %s\nwant %s", got, denied+tt.want)
			}
		})
	}
	t.Run("one of several", func(t *testing.T) {
		a := &App{cfg: Config{File: "tables.wasm", Name: "tables", among: true}}
		d, _ := a.denialOf(abi.ServiceHTTP, http("", "https://a.example/"))
		if want := "--net tables=https://a.example"; d.Grant != want {
			t.Errorf("got %s, want %s", d.Grant, want)
		}
	})
}

// TestGrantsOfDenialsArePossible takes the flags that are suggested for what they say they are.
func TestGrantsOfDenialsArePossible(t *testing.T) {
	_, grant := aboutHTTP((&abi.HTTPRequest{Method: "PUT", URL: "https://[::1]:8443/x"}).Append(nil))
	p, err := policy.FromFlags(policy.Flags{Net: []string{grant}})
	if err != nil || len(p.Network) != 1 || p.Network[0].Host != "::1" || p.Network[0].Methods[0] != "PUT" {
		t.Errorf("--net %s: got %+v, %v", grant, p, err)
	}
}

// TestDenialsAreFew reports each different denial once a minute, and at most eight of them: a guest chooses its requests.
func TestDenialsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		a := &App{cfg: Config{Denied: func(d Denial) { told = append(told, d.Subject) }}}
		for minute := range 2 {
			for i := range 100 {
				a.deny(Denial{Capability: "fs", Why: "x", Subject: fmt.Sprint(i % 50)})
			}
			if want := (minute + 1) * maxDenials; len(told) != want {
				t.Errorf("in minute %d: got %d, want %d", minute, len(told), want)
			}
			time.Sleep(denialsEvery)
		}
	})
}

// promising is a service that makes, or does not make, the promise of a [capability.Prompt].
type promising bool

func (promising) Call(context.Context, []byte) (capability.Response, error) {
	return capability.Response{}, nil
}

func (p promising) IsPrompt() bool { return bool(p) }

func TestAWatchedServiceIsAsPromptAsBefore(t *testing.T) {
	a := &App{}
	for _, want := range []bool{true, false} {
		service := a.reportingServices(capability.Services{abi.ServiceSQL: promising(want)})[abi.ServiceSQL]
		if p, ok := service.(capability.Prompt); !ok || p.IsPrompt() != want {
			t.Errorf("got %v, want %v", !want, want)
		}
	}
}

// TestAWatchedServiceRepeatsAsBefore repeats the reads of files, and not their writes, when a call is repeated.
func TestAWatchedServiceRepeatsAsBefore(t *testing.T) {
	_, granted := guesttest.Folder(t, map[string]string{"a.txt": "a"})
	a := &App{}
	request := (&abi.FileRequest{Path: "/project/a.txt"}).Append(nil)
	for id, service := range a.reportingServices(granted) {
		before, isRepeatable := granted[id].(capability.Repeatable)
		now, ok := service.(capability.Repeatable)
		if !ok || now.MayRepeat(request) != (isRepeatable && before.MayRepeat(request)) {
			t.Errorf("service %d: it may be repeated: %v", id, ok && now.MayRepeat(request))
		}
	}
}
