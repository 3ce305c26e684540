package session_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/session"
	runtime "github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
	"github.com/wasmres/wasmres/runtime/resource"
)

func TestMain(m *testing.M) {
	runtime.Main()
	sqlcap.Main()
	m.Run()
}

// hostOf makes a host for the providers of a test.
func hostOf(t *testing.T, isolation runtime.Isolation) *runtime.Host {
	t.Helper()
	h, err := runtime.NewHost(runtime.HostConfig{Isolation: isolation, CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// inProcess runs guests in this process.
func inProcess(t *testing.T) *runtime.Host {
	t.Helper()
	return hostOf(t, runtime.IsolateNone)
}

// open runs the provider of a session in this process, with services that are the session's.
func open(t *testing.T, binary []byte, s *session.Session, host *session.Host, granted capability.Services) resource.Source {
	t.Helper()
	services := capability.Services{abi.ServiceConfig: capability.Config(s.Grants.Config)}
	maps.Copy(services, granted)
	services, err := host.Services(services)
	if err != nil {
		t.Fatal(err)
	}
	return openWith(t, inProcess(t), binary, runtime.Options{
		Capabilities: []capability.Capability{services}, Values: s.Grants.Config, Clock: s.Clock(),
	})
}

func openWith(t *testing.T, h *runtime.Host, binary []byte, opts runtime.Options) resource.Source {
	t.Helper()
	p, err := h.Load(t.Context(), binary, &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p.Source()
}

// manifestOf is what an example says of itself.
func manifestOf(t *testing.T, example string) *abi.Manifest {
	t.Helper()
	p, err := inProcess(t).Load(t.Context(), guesttest.Binary(t, example), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p.Manifest()
}

func parse(t *testing.T, text string) *session.Session {
	t.Helper()
	s, err := session.Parse("test.txtar", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A source reads one resource, which has these contents.
type source struct {
	resource.Source
	contents []abi.Content
	err      error
}

func (s source) Read(_ context.Context, _ *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	for i := range s.contents {
		if err := sink.Content(&s.contents[i]); err != nil {
			return nil, err
		}
		if err := sink.Body(s.contents[i].Inline); err != nil {
			return nil, err
		}
	}
	return &abi.Reply{}, s.err
}

func textSource(text string) source {
	return source{contents: []abi.Content{{URI: "x:y", Kind: abi.KindText, Inline: []byte(text)}}}
}

func run(t *testing.T, s *session.Session, src resource.Source, update bool) *session.Report {
	t.Helper()
	report, err := session.Run(t.Context(), session.Config{Session: s, Host: session.Replay(s), Source: src, Update: update})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestTextsAreExact records texts that a file could spoil, and finds that each differs from the others.
func TestTextsAreExact(t *testing.T) {
	texts := []string{
		"", "\n", "a", "a\n", "a\n\n", "\na", "a ", "a\t", "a\n ", "a\r\nb\r\n", "a\nb", "a\nb\n", `a\nb`, `"quoted"`, "\"quoted\"\n",
		"-- text --", "-- text --\n", "\n-- read x:y --\n", `\`, "\\\n", `\ No newline at end of file`, "\\ No newline at end of file\n",
		"\x1b[31mred\n", "nul\x00", "\u2028", "\u0085\n", "\ufeff", "日本\n", "{}\n", "a\n\\\"b\"", "--  --\n", "-- --",
	}
	recorded := map[string]string{}
	for _, want := range texts {
		s := parse(t, "-- read x:y --\n")
		if report := run(t, s, textSource(want), true); len(report.Failures) > 0 || report.Changed != 1 {
			t.Fatalf("%q: got %+v", want, report)
		}
		text := string(s.Format())
		if twin, twice := recorded[text]; twice {
			t.Errorf("%q and %q are recorded alike:\n%s", want, twin, text)
		}
		recorded[text] = want
		if strings.ContainsAny(text, "\r\x00\x1b") {
			t.Errorf("%q: what cannot be seen stands in the file: %q", want, text)
		}
		again := parse(t, text)
		for _, got := range texts {
			report := run(t, again, textSource(got), false)
			if same := len(report.Failures) == 0; same != (got == want) {
				t.Errorf("recorded %q, got %q: taken for the same: %v", want, got, same)
			}
		}
	}
}

func TestHandWrittenAnswersNeedNoCertainForm(t *testing.T) {
	for name, text := range map[string]string{
		"order and space": `-- read x:y --
{ "contents" : [
    {"text":"a\nb", "uri":"x:y"} ] }`,
		"text below": "-- read x:y --\n{\"contents\": [{\"uri\": \"x:y\"}]}\n-- text --\na\nb\n\\ No newline at end of file\n",
		"windows":    "-- read x:y --\r\n{\"contents\": [{\"uri\": \"x:y\"}]}\r\n-- text --\r\na\r\nb\r\n\\ No newline at end of file\r\n",
		"escapes":    `-- read   "x:y" --` + "\n" + `{"contents":[{"uri":"x\u003ay","text":"\u0061\u000ab"}]}`,
	} {
		if report := run(t, parse(t, text), textSource("a\nb"), false); len(report.Failures) > 0 || report.Steps != 1 {
			t.Errorf("%s: got %+v", name, report)
		}
	}
}

func TestDifferencesAreShown(t *testing.T) {
	s := parse(t, "About it.\n\n-- read x:y --\n{\"contents\": [{\"uri\": \"x:y\"}]}\n-- text --\none\ntwo\n-- read x:z --\n")
	report := run(t, s, textSource("one\nthree\n"), false)
	want := []session.Failure{
		{Line: 3, Step: "read x:y", Problem: "the answer differs from the recorded one",
			Diff: "--- expected\n+++ got\n@@ -1,4 +1,4 @@\n {\"contents\": [{\"uri\": \"x:y\"}]}\n -- text --\n one\n-two\n+three\n"},
		{Line: 8, Step: "read x:z", Problem: "no answer is recorded: record the session"},
	}
	if diff := cmp.Diff(want, report.Failures); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestErrorsAreAnswers(t *testing.T) {
	failing := source{err: &abi.Error{Code: abi.CodeInternal, Data: `{"z":1,"a":[1.50,{}]}`}}
	s := parse(t, "-- read x:y --\n")
	run(t, s, failing, true)
	want := "-- read x:y --\n{\n  \"error\": {\n    \"code\": -32603,\n    \"message\": \"Internal error\",\n    \"data\": {\n" +
		"      \"code\": \"internal\",\n      \"uri\": \"x:y\",\n      \"detail\": {\n        \"a\": [1.50, {}],\n        \"z\": 1\n      }\n    }\n  }\n}\n"
	if diff := cmp.Diff(want, string(s.Format())); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if report := run(t, s, failing, false); len(report.Failures) > 0 { // the id of the failure is another one
		t.Errorf("got %+v", report)
	}
}

func TestLongBlobsAreDigests(t *testing.T) {
	blob := func(n int, last byte) source {
		return source{contents: []abi.Content{{URI: "x:y", Kind: abi.KindBlob, Inline: append(make([]byte, n-1), last)}}}
	}
	for _, n := range []int{1, 1023, 1024, 1025, 100_000} {
		s := parse(t, "-- read x:y --\n")
		run(t, s, blob(n, 1), true)
		if got := strings.Contains(string(s.Format()), "sha256"); got != (n > 1024) {
			t.Errorf("%d bytes: a digest: %v", n, got)
		}
		if report := run(t, parse(t, string(s.Format())), blob(n, 1), false); len(report.Failures) > 0 {
			t.Errorf("%d bytes: got %+v", n, report)
		}
		if report := run(t, s, blob(n, 2), false); len(report.Failures) != 1 {
			t.Errorf("%d bytes, another one: got %+v", n, report)
		}
	}
}

func TestMatchTakesSteps(t *testing.T) {
	s := parse(t, "-- read x:y --\n-- read x:z --\n")
	report, err := session.Run(t.Context(), session.Config{
		Session: s, Host: session.Replay(s), Source: textSource("a"), Update: true,
		Match: func(request string) bool { return request == "read x:z" },
	})
	if err != nil || report.Steps != 1 || report.Skipped != 1 || s.Steps[0].Want != nil || s.Steps[1].Want == nil {
		t.Errorf("got %+v, %v, %+v", report, err, s.Steps)
	}
}

func TestBegin(t *testing.T) {
	m := manifestOf(t, "hello")
	_, steps := session.Begin(m)
	var got []string
	for _, s := range steps {
		got = append(got, s.Request.String())
	}
	want := []string{"list", "templates", "read hello://about", "complete greeting://{name} name="}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	m.Resources = make([]abi.Resource, 10_000)
	if _, steps := session.Begin(m); len(steps) > 110 {
		t.Errorf("got %d steps of a provider with many resources", len(steps))
	}
}

// folder grants files of all kinds to read.
func folder(t *testing.T) (dir string, granted capability.Services) {
	t.Helper()
	return guesttest.Folder(t, map[string]string{
		"README.md": "# Read\r\n-- list --\n\\ No newline at end of file", "LICENSE": "MIT", "src/a b=\"c\".go": "package main\n",
		"data.bin": "\x00\xff", "empty": "", "long.txt": strings.Repeat("It is long. ", 30_000),
	})
}

const projectSteps = `-- list --
-- read project://readme --
-- read project://file/src/a%20b%3D%22c%22.go --
-- read project://file/data.bin --
-- read project://file/empty --
-- read project://file/long.txt --
-- read project://file/missing --
-- complete project://file/{+path} path= --
`

// recordProject records what the example project says of a folder, which is then no more.
func recordProject(t *testing.T) string {
	t.Helper()
	s := parse(t, projectSteps)
	dir, granted := folder(t)
	host := session.Record(s)
	p := open(t, guesttest.Binary(t, "project"), s, host, granted)
	report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: p, Update: true})
	if err != nil || len(report.Failures) > 0 || report.Changed != 8 {
		t.Fatalf("got %+v, %v", report, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return string(s.Format())
}

func replayProject(t *testing.T, text string) *session.Report {
	t.Helper()
	s := parse(t, text)
	host := session.Replay(s)
	p := open(t, guesttest.Binary(t, "project"), s, host, nil)
	report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: p})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestHostAnswersAreReplayed(t *testing.T) {
	text := recordProject(t)
	if report := replayProject(t, text); len(report.Failures) > 0 || report.Steps != 8 {
		t.Errorf("got %+v", report)
	}
	if again := string(parse(t, text).Format()); again != text {
		t.Error("what was recorded is read in another way")
	}
	t.Run("a question that is not recorded", func(t *testing.T) {
		report := replayProject(t, strings.Replace(text, "host fs.stat /project/missing", "host fs.stat /project/other", 1))
		if len(report.Failures) != 1 || report.Failures[0].Step != "read project://file/missing" ||
			!strings.HasSuffix(report.Failures[0].Problem, "record it again: fs.stat /project/missing") {
			t.Errorf("got %+v", report.Failures)
		}
	})
	t.Run("another answer", func(t *testing.T) {
		report := replayProject(t, strings.Replace(text, "package main\n", "package evil\n", 2)) // of the step, of the host
		if len(report.Failures) > 0 {
			t.Errorf("got %+v", report.Failures)
		}
		report = replayProject(t, strings.Replace(text, "package main\n", "package evil\n", 1)) // of the step
		if len(report.Failures) != 1 || !strings.Contains(report.Failures[0].Diff, "\n-package evil\n+package main\n") {
			t.Errorf("got %+v", report.Failures)
		}
	})
	t.Run("no grants", func(t *testing.T) {
		_, rest, _ := strings.Cut(text, "-- list --")
		if report := replayProject(t, "-- list --"+rest); len(report.Failures) != 8 {
			t.Errorf("got %d failures, want one for each step", len(report.Failures))
		}
	})
}

// TestSharedAnswers has answers that stand before the first step, for all steps.
func TestSharedAnswers(t *testing.T) {
	const text = `-- grants --
{"capabilities": ["fs"]}
-- host fs.stat /project/LICENSE --
{"files": [{"name": "LICENSE", "size": 3}]}
-- host fs.read /project/LICENSE length=512 --
{"files": [{"name": "LICENSE", "size": 3}], "text": "MIT"}
-- host fs.read /project/LICENSE offset=3 length=509 --
{"files": [{"name": "LICENSE", "size": 3}]}
-- read project://license --
{"contents": [{"uri": "project://license", "mimeType": "text/plain", "text": "MIT",
  "_meta": {"io.github.wasmres/etag": "0-3", "io.github.wasmres/lastModified": "1970-01-01T00:00:00Z"}}]}
-- read project://file/LICENSE --
{"contents": [{"uri": "project://file/LICENSE", "mimeType": "text/plain", "text": "BSD",
  "_meta": {"io.github.wasmres/etag": "0-3", "io.github.wasmres/lastModified": "1970-01-01T00:00:00Z"}}]}
-- host fs.read /project/LICENSE length=512 --
{"files": [{"name": "LICENSE", "size": 3}], "text": "BSD"}
-- read project://file/LICENSE --
{"error": {"code": 403, "message": "\"LICENSE\" may not be read: has the project's folder been granted, as with --dir FOLDER:/project?",
  "data": {"code": "denied", "uri": "project://file/LICENSE"}}}
-- host fs.stat /project/LICENSE --
{"error": "denied"}
`
	for _, f := range replayProject(t, text).Failures {
		t.Errorf("%d: %s\n%s", f.Line, f.Problem, f.Diff)
	}
}

// TestRepeatedQuestions has a guest that asks the same three times, of a file that changes after the first.
func TestRepeatedQuestions(t *testing.T) {
	request := (&abi.FileRequest{Path: "/f"}).Append(nil)
	calls := 0
	real := service(func() (capability.Response, error) {
		calls++
		name := map[bool]string{true: "first", false: "later"}[calls == 1]
		return capability.Response{Message: (&abi.FileResponse{Files: []abi.File{{Name: name}}}).Append(nil)}, nil
	})
	ask := func(t *testing.T, host *session.Host, granted capability.Services, s *session.Session, update bool) []string {
		t.Helper()
		services, err := host.Services(granted)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		asking := askingSource{ask: func(ctx context.Context) {
			resp, err := services[abi.ServiceFileStat].Call(ctx, request)
			if err != nil {
				t.Fatal(err)
			}
			var found abi.FileResponse
			if err := found.Decode(resp.Message); err != nil {
				t.Fatal(err)
			}
			names = append(names, found.Files[0].Name)
		}}
		report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: asking, Update: update})
		if err != nil || len(report.Failures) > 0 {
			t.Fatalf("got %+v, %v", report, err)
		}
		return names
	}
	s := parse(t, "-- read x:y --\n")
	want := []string{"first", "later", "later"}
	if got := ask(t, session.Record(s), capability.Services{abi.ServiceFileStat: real}, s, true); !slices.Equal(got, want) {
		t.Errorf("recording: got %q, want %q", got, want)
	}
	if n := strings.Count(string(s.Format()), "-- host fs.stat /f --"); n != 2 {
		t.Errorf("got %d answers in the file, want 2:\n%s", n, s.Format())
	}
	s = parse(t, string(s.Format()))
	if got := ask(t, session.Replay(s), nil, s, false); !slices.Equal(got, want) {
		t.Errorf("replay: got %q, want %q", got, want)
	}
	s.Host, s.Steps[0].Host = s.Steps[0].Host, nil // now for all steps, each from the first answer on
	s.Steps = append(s.Steps, s.Steps[0])
	if got := ask(t, session.Replay(s), nil, s, false); !slices.Equal(got, slices.Concat(want, want)) {
		t.Errorf("replay of shared answers: got %q, want %q twice", got, want)
	}
}

// A guest that has the host answer without end takes no more memory than a session may have.
func TestHowMuchIsRecordedIsBounded(t *testing.T) {
	answer := (&abi.FileResponse{Files: []abi.File{{Name: "f"}}}).Append(nil)
	real := service(func() (capability.Response, error) {
		return capability.Response{Message: answer, Body: make([]byte, 1<<20)}, nil
	})
	s := parse(t, "-- read x:y --\n")
	host := session.Record(s)
	services, err := host.Services(capability.Services{abi.ServiceFileRead: real})
	if err != nil {
		t.Fatal(err)
	}
	asked := uint64(0)
	asking := askingSource{ask: func(ctx context.Context) {
		for range 10 {
			asked++
			request := (&abi.FileRequest{Path: "/f", Offset: asked}).Append(nil)
			if _, err := services[abi.ServiceFileRead].Call(ctx, request); err != nil {
				t.Fatal(err)
			}
		}
	}}
	report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: asking, Update: true})
	if err != nil || len(report.Failures) != 1 || !strings.Contains(report.Failures[0].Problem, "split the session") {
		t.Errorf("got %+v, %v", report, err)
	}
	if n := len(s.Format()); n > 2*session.MaxSize {
		t.Errorf("the session has %d bytes", n)
	}
}

type service func() (capability.Response, error)

func (s service) Call(context.Context, []byte) (capability.Response, error) { return s() }

// An askingSource asks three times.
type askingSource struct {
	source
	ask func(ctx context.Context)
}

func (s askingSource) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	for range 3 {
		s.ask(ctx)
	}
	return textSource("done").Read(ctx, req, sink)
}

func TestServicesThatCannotBeRecorded(t *testing.T) {
	_, err := session.Record(&session.Session{}).Services(capability.Services{abi.ServiceSecret: capability.Config{}})
	if err == nil || !strings.Contains(err.Error(), "service 2") {
		t.Errorf("got %v", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := parse(t, "-- read x:y --\n")
	asking := askingSource{ask: func(context.Context) { cancel() }}
	report, err := session.Run(ctx, session.Config{Session: s, Host: session.Replay(s), Source: asking, Update: true})
	if report != nil || err != context.Canceled || s.Steps[0].Want != nil {
		t.Errorf("got %+v, %v", report, err)
	}
}

func TestSavingFollowsNoLinkOfAStranger(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := filepath.Join(dir, "tests")
	if err := os.Mkdir(tests, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, filepath.Join(tests, ".first.txtar.draft")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tests, "first.txtar")
	if err := session.New().Save(file); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Load(file); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(precious); string(got) != "precious" {
		t.Errorf("got %q, %v", got, err)
	}
}
