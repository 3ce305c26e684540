package session_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/session"
	"github.com/wasmres/wasmres/runtime/resource"
)

// TestPythonSamplesNatively replays what is recorded in the sandbox with wasmres.testing of the SDK for Python.
func TestPythonSamplesNatively(t *testing.T) {
	if testing.Short() {
		t.Skip("each server is a process of Python")
	}
	python := guesttest.Python(t)
	driver, err := filepath.Abs("testdata/native.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := nativeDir(t)
	sessions, err := filepath.Glob(filepath.Join(sampleDir, "*", "tests", "*.txtar"))
	if err != nil || len(sessions) < 8 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	for _, file := range append(sessions, kitSession) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			provider, err := filepath.Abs(filepath.Join(filepath.Dir(file), "..", "provider.py"))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(python, driver, provider) // which ends with its input
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
			compare(t, startNative(t, cmd), file)
		})
	}
}

// TestPythonKitNatively has pytest ask what a session cannot say.
func TestPythonKitNatively(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts Python")
	}
	python := guesttest.Python(t, "pytest")
	dir := guesttest.PythonPackage(t)
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(filepath.Dir(kitSession)))); err != nil {
		t.Fatal(err)
	}
	out, err := guesttest.RunPython(t, dir, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_kit.py")
	if err != nil || !strings.Contains(out, "12 passed") {
		t.Errorf("got %v and\n%s", err, out)
	}
}

// TestPythonMatching asks what the test of the host's own matching asks.
func TestPythonMatching(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts Python")
	}
	python := guesttest.Python(t)
	table, err := filepath.Abs("../../testdata/uritemplate/match.txt")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/matching.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, script, table)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+guesttest.PythonPackage(t), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// nativeDir has the package wasmres, and the files that the sessions were recorded with.
func nativeDir(t *testing.T) (dir string) {
	t.Helper()
	dir = guesttest.PythonPackage(t)
	for name, text := range map[string]string{
		"room/rules.md": "# Rules\n\nBe quiet.\n", "room/seal.gif": "GIF89a\x01\x00\x01\x00", "room/old/rules.md": "# Old\n",
		"shop/sleeve.png": "\x89PNG", "shop/notes/today.txt": "New: tea.\n",
		"kit/a.txt": "one\n", "kit/b.bin": "\x00\x01", "kit/sub/a.txt": "one\n", "kit/sub/b.bin": "\x00\x01",
		"kit/sub/c.kit": "KIT!", "kit/sub/.d": "hidden",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		recorded := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if err := os.Chtimes(file, recorded, recorded); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compare replays a session without the answers of the host's services.
func compare(t *testing.T, source resource.Source, file string) {
	t.Helper()
	s, err := session.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range s.Steps {
		step.Host = nil
	}
	report, err := session.Run(t.Context(), session.Config{Session: s, Host: session.Replay(s), Source: source})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Failures {
		t.Errorf("%s:%d: %s: %s\n%s", file, f.Line, f.Step, f.Problem, f.Diff)
	}
}

// A native is a provider that runs under CPython.
type native struct {
	resource.Source
	to   io.Writer
	from *bufio.Reader
}

func startNative(t *testing.T, cmd *exec.Cmd) *native {
	t.Helper()
	cmd.Stderr = io.Discard
	to, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		to.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &native{to: to, from: bufio.NewReader(from)}
}

// ask sends a request and decodes the answer.
func (n *native) ask(request map[string]any, answer any) error {
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := n.to.Write(append(line, '\n')); err != nil {
		return err
	}
	if line, err = n.from.ReadBytes('\n'); err != nil {
		return err
	}
	var reply struct {
		Answer  json.RawMessage
		Code    abi.Code
		Message string
		Retry   float64 // seconds
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return err
	}
	if reply.Code != abi.CodeOK {
		retry := time.Duration(reply.Retry * float64(time.Second))
		return &abi.Error{Code: reply.Code, Message: reply.Message, RetryAfter: retry}
	}
	return json.Unmarshal(reply.Answer, answer)
}

func (n *native) Read(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	var contents []struct {
		URI, Text, ETag, Meta string
		MIMEType              string `json:"mime_type"`
		LastModified          string `json:"last_modified"`
		Blob                  []byte
	}
	if err := n.ask(map[string]any{"kind": "read", "uri": req.URI.String()}, &contents); err != nil {
		return nil, err
	}
	for _, c := range contents {
		kind, body := abi.KindText, []byte(c.Text)
		if c.Blob != nil {
			kind, body = abi.KindBlob, c.Blob
		}
		err := sink.Content(&abi.Content{
			URI: c.URI, MIMEType: c.MIMEType, Kind: kind, ETag: c.ETag, LastModified: c.LastModified, Meta: c.Meta,
		})
		if err != nil {
			return nil, err
		}
		if err := sink.Body(body); err != nil {
			return nil, err
		}
	}
	return &abi.Reply{}, nil
}

// An entry is a resource or a template, as wasmres.testing describes it.
type entry struct {
	URI, Name, Title, Description, Meta string
	MIMEType                            string `json:"mime_type"`
	Priority                            *float64
	Audience                            []string
	Icons                               []struct {
		Src      string
		MIMEType string `json:"mime_type"`
		Sizes    []string
	}
}

func (n *native) entries(request map[string]any) ([]abi.Resource, error) {
	var all []entry
	if err := n.ask(request, &all); err != nil {
		return nil, err
	}
	resources := make([]abi.Resource, len(all))
	for i, e := range all {
		r := abi.Resource{
			URI: e.URI, Name: e.Name, Title: e.Title, Description: e.Description, Meta: e.Meta, MIMEType: e.MIMEType,
			Priority: math.NaN(),
		}
		if e.Priority != nil {
			r.Priority = *e.Priority
		}
		if slices.Contains(e.Audience, "user") {
			r.Audience |= abi.AudienceUser
		}
		if slices.Contains(e.Audience, "assistant") {
			r.Audience |= abi.AudienceAssistant
		}
		for _, icon := range e.Icons {
			r.Icons = append(r.Icons, abi.Icon{Source: icon.Src, MIMEType: icon.MIMEType, Sizes: icon.Sizes})
		}
		resources[i] = r
	}
	return resources, nil
}

func (n *native) List(context.Context, *resource.Request) (*abi.Reply, error) {
	resources, err := n.entries(map[string]any{"kind": "list"})
	return &abi.Reply{Resources: resources}, err
}

func (n *native) HasDirectories() bool { return true }

func (n *native) ReadDirectory(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	resources, err := n.entries(map[string]any{"kind": "directory", "uri": req.URI.String()})
	if err != nil {
		return nil, err
	}
	return &abi.Reply{Resources: resources}, nil
}

func (n *native) Templates(context.Context, *resource.Request) (*abi.Reply, error) {
	resources, err := n.entries(map[string]any{"kind": "templates"})
	reply := &abi.Reply{}
	for _, r := range resources {
		reply.Templates = append(reply.Templates, abi.Template{
			URITemplate: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
			Priority: r.Priority, Audience: r.Audience, Icons: r.Icons, Meta: r.Meta,
		})
	}
	return reply, err
}

func (n *native) Complete(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	known := map[string]string{}
	for _, v := range req.Vars {
		known[v.Name] = v.Value
	}
	var values []string
	err := n.ask(map[string]any{
		"kind": "complete", "uri": req.Template, "arg": req.Arg, "typed": req.Value, "known": known,
	}, &values)
	return &abi.Reply{Completions: values, CompletionTotal: uint32(len(values))}, err
}
