package accesslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var at = time.Date(2026, 11, 23, 15, 4, 5, 678e6, time.FixedZone("", 3600))

func TestLines(t *testing.T) {
	read := Entry{
		Time: at, Tenant: "acme", Client: "192.0.2.7", Principal: "ada", Method: "resources/read", URI: "hello://about", Code: "ok",
		Bytes: 123, Duration: 1234567 * time.Nanosecond,
	}
	listen := Entry{Time: at, Client: "2001:db8::1", Session: "ABCDEFGHIJKLMNOP", Method: "subscriptions/listen", URI: "a:b", More: 2, Code: "ok"}
	forged := Entry{Time: at, Method: "x\ntime=now", URI: "a:\"b\" code=ok\u202e\x1b[1m\xff😀\U000e0001\\", Code: "-32601"}
	for _, c := range []struct {
		e          Entry
		text, json string
	}{
		{read, `time=2026-11-23T14:04:05.678Z tenant=acme client=192.0.2.7 principal=ada method=resources/read uri=hello://about code=ok bytes=123 ms=1.234`,
			`{"time":"2026-11-23T14:04:05.678Z","tenant":"acme","client":"192.0.2.7","principal":"ada","method":"resources/read","uri":"hello://about","code":"ok","bytes":123,"ms":1.234}`},
		{listen, `time=2026-11-23T14:04:05.678Z client=2001:db8::1 session=ABCDEFGH method=subscriptions/listen uri=a:b more=2 code=ok bytes=0 ms=0.000`,
			`{"time":"2026-11-23T14:04:05.678Z","client":"2001:db8::1","session":"ABCDEFGH","method":"subscriptions/listen","uri":"a:b","more":2,"code":"ok","bytes":0,"ms":0.000}`},
		{forged, `time=2026-11-23T14:04:05.678Z method="x\u000atime=now" uri="a:\"b\" code=ok\u202e\u001b[1m�😀\udb40\udc01\\" code=-32601 bytes=0 ms=0.000`,
			`{"time":"2026-11-23T14:04:05.678Z","method":"x\u000atime=now","uri":"a:\"b\" code=ok\u202e\u001b[1m�😀\udb40\udc01\\","code":"-32601","bytes":0,"ms":0.000}`},
	} {
		for format, want := range map[Format]string{Text: c.text, JSON: c.json} {
			if got := string((&formatter{format: format}).appendLine(nil, &c.e)); got != want+"\n" {
				t.Errorf("got  %swant %s", got, want)
			}
		}
	}
}

// Whatever a client sends, its request has one line, and the line says nothing else than the request.
func FuzzLine(f *testing.F) {
	f.Add("ada", "resources/read", "hello://about")
	f.Add("a=b", "x\r\ny", "\xff\x00\u2028\u202e\U0001f600\"\\")
	f.Fuzz(func(t *testing.T, principal, method, uri string) {
		e := Entry{Time: at, Principal: principal, Method: method, URI: uri, Code: "ok"}
		for _, format := range []Format{Text, JSON} {
			line := (&formatter{format: format}).appendLine(nil, &e)
			if n := bytes.IndexFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }); n != len(line)-1 || !utf8.Valid(line) {
				t.Fatalf("a control character at %d of %q", n, line)
			}
			if len(line) > 4*6*maxText {
				t.Fatalf("%d bytes", len(line))
			}
		}
		var got struct{ Principal, Method, URI string }
		if err := json.Unmarshal((&formatter{format: JSON}).appendLine(nil, &e), &got); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(uri, "\ufffd"); len(uri) <= maxText && utf8.ValidString(uri) && got.URI != want {
			t.Fatalf("%q became %q", uri, got.URI)
		}
		fields := 0
		for _, key := range []string{" principal=", " method=", " uri="} {
			fields += strings.Count(unquoted(string((&formatter{}).appendLine(nil, &e))), key)
		}
		want := 0
		for _, value := range []string{principal, method, uri} {
			if value != "" {
				want++
			}
		}
		if fields != want {
			t.Fatalf("%d keys, want %d: %s", fields, want, (&formatter{}).appendLine(nil, &e))
		}
	})
}

// unquoted removes what stands in quotes.
func unquoted(line string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(line); i++ {
		switch {
		case quoted && line[i] == '\\':
			i++
		case line[i] == '"':
			quoted = !quoted
		case !quoted:
			b.WriteByte(line[i])
		}
	}
	return b.String()
}

// A stuck writer lets nothing through until it is released.
type stuck struct {
	release chan struct{}
	bytes.Buffer
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.release
	return s.Buffer.Write(p)
}

func (s *stuck) Close() error { return nil }

// While the stream takes no lines, requests go on, and memory has a bound. What is dropped is counted.
func TestAStuckStreamStopsNothing(t *testing.T) {
	out := &stuck{release: make(chan struct{})}
	var report bytes.Buffer
	l := New(out, Text, slog.New(slog.NewTextHandler(&report, nil)))
	const lines = 20_000
	for range lines {
		l.Add(Entry{Time: at, Method: "resources/read", URI: "x:" + strings.Repeat("y", 500), Code: "ok"})
	}
	l.mu.Lock() // the writer may begin as late as now
	n := len(l.pending)
	l.mu.Unlock()
	if n > maxBuffer {
		t.Errorf("%d bytes wait", n)
	}
	close(out.release)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	written := bytes.Count(out.Bytes(), []byte("\n"))
	var dropped int
	if _, rest, ok := strings.Cut(report.String(), "lines="); ok {
		fmt.Sscan(rest, &dropped)
	}
	if written == 0 || written+dropped != lines {
		t.Errorf("%d lines were written and %d reported as dropped, of %d:\n%s", written, dropped, lines, report.String())
	}
}

// A Log whose stream never takes a line can be closed.
func TestAStuckLogCloses(t *testing.T) {
	out := &stuck{release: make(chan struct{})}
	l := New(out, Text, nil)
	l.Add(Entry{Time: at})
	if l.Close() == nil {
		t.Error("the lines were written")
	}
	close(out.release)
	<-l.done
}

// A full disk refuses some lines.
type fullDisk struct {
	full bool
	bytes.Buffer
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.full {
		return 0, errors.New("no space left on device")
	}
	return d.Buffer.Write(p)
}

func (d *fullDisk) Close() error { return nil }

func TestLinesForAFullDiskAreReported(t *testing.T) {
	out := &fullDisk{full: true}
	var report bytes.Buffer
	l := New(out, Text, slog.New(slog.NewTextHandler(&report, nil)))
	l.Add(Entry{Time: at})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l.Add(Entry{Time: at})
	if got := report.String(); !strings.Contains(got, "access log lines dropped") || !strings.Contains(got, "lines=1") || !strings.Contains(got, "no space left") {
		t.Errorf("the report is %s", got)
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

func TestRotation(t *testing.T) {
	name := filepath.Join(t.TempDir(), "access.log")
	f, err := OpenFile(name, FileConfig{MaxBytes: 10, Keep: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"1234\n", "5678\n", "abcd\n", "longer than a file\n", "e\n", "f\n"} {
		if _, err := io.WriteString(f, line); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{name: "e\nf\n", name + ".1": "longer than a file\n", name + ".2": "abcd\n", name + ".3": ""} {
		if got := content(t, file); got != want {
			t.Errorf("%s has %q, want %q", filepath.Base(file), got, want)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f, err = OpenFile(name, FileConfig{MaxBytes: 10, Keep: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(name, name+".old"); err != nil { // as logrotate does
		t.Skip(err)
	}
	if _, err := io.WriteString(f, "g\n"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, name) + content(t, name+".old"); got != "g\ne\nf\n" {
		t.Errorf("after another program has renamed the file, the files have %q", got)
	}
}

// A file that cannot be rotated does not grow.
func TestAFileThatCannotBeRotated(t *testing.T) {
	name := filepath.Join(t.TempDir(), "access.log")
	if err := os.MkdirAll(filepath.Join(name+".1", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(name, FileConfig{MaxBytes: 4, Keep: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _ = io.WriteString(f, "abc\n")
	for range 2 {
		if _, err := io.WriteString(f, "def\n"); err == nil || !strings.Contains(err.Error(), "could not be rotated") {
			t.Errorf("got %v", err)
		}
	}
	if got := content(t, name); got != "abc\n" {
		t.Errorf("the file has %q", got)
	}
}

func TestOnlyFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, link)); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{link, dir, os.DevNull, filepath.Join(dir, "none", "access.log")} {
		if f, err := OpenFile(name, FileConfig{}); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
	}
}

// A link that takes the place of the file while it is written gets nothing.
func TestALinkInPlaceOfTheFile(t *testing.T) {
	dir := t.TempDir()
	name, target := filepath.Join(dir, "access.log"), filepath.Join(dir, "target")
	f, err := OpenFile(name, FileConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(os.Remove(name), os.WriteFile(target, nil, 0o600), os.Symlink(target, name)); err != nil {
		t.Skip(err)
	}
	if _, err := io.WriteString(f, "line\n"); err == nil || content(t, target) != "" {
		t.Errorf("got %v, and the other file has %q", err, content(t, target))
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "line\n"); err != nil || content(t, name) != "line\n" {
		t.Errorf("afterwards: %v, %q", err, content(t, name))
	}
}

// Each line has the time of its own request, whatever the order in which requests end.
func TestTimes(t *testing.T) {
	var f formatter
	for _, offset := range []time.Duration{0, time.Second, 999 * time.Millisecond, -time.Hour, 0} {
		then := at.Add(offset)
		if line := string(f.appendLine(nil, &Entry{Time: then})); !strings.HasPrefix(line, "time="+then.UTC().Format("2006-01-02T15:04:05.000Z ")) {
			t.Errorf("%v: %s", then, line)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	e := Entry{Time: at, Client: "127.0.0.1", Method: "resources/read", URI: "hello://about", Code: "ok", Bytes: 243, Duration: 412 * time.Microsecond}
	var f formatter
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = f.appendLine(line[:0], &e)
	}
}
