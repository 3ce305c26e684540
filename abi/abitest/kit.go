package abitest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

// Text is what kit://text holds.
const Text = "The quick brown fox.\nZwölf Boxkämpfer. 狐 🦊\n"

const etag = `"v1"`

// A Guest runs one operation in a fresh instance of the guest under test: it connects the imports with x, calls
// wasmres_v1(op, len(x.Request)) and gives what that returned. A trap is for it to report with t, and so is an instance
// whose memory has more than x.Memory bytes then.
type Guest func(t testing.TB, op abi.Op, x *Exchange) (status uint32)

// Run holds a guest to the whole of the kit.
func Run(t *testing.T, guest Guest) {
	k := &kit{guest: guest}
	k.manifest = k.describe(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"read", k.testReads}, {"conditional", k.testConditional}, {"several", k.testSeveral}, {"fail", k.testFailures},
		{"stream", k.testStreams}, {"memory", k.testMemory}, {"ranges", k.testRanges}, {"too large", k.testTooLarge}, {"list", k.testList},
		{"directory", k.testDirectory},
		{"complete", k.testComplete}, {"watch", k.testWatch}, {"services", k.testServices},
		{"fetch", k.testFetch}, {"post", k.testPost}, {"rows", k.testRows}, {"kv", k.testKV}, {"keys", k.testKeys},
		{"file", k.testFile}, {"write", k.testWrite}, {"remove", k.testRemove},
		{"folder", k.testFolder}, {"env", k.testEnv},
		{"refused", k.testRefused}, {"hostile", k.testHostile}, {"endless", k.testEndless},
		{"unknown operations", k.testUnknownOperations}, {"unknown fields", k.testUnknownFields},
		{"malformed request", k.testMalformedRequest}, {"large request", k.testLargeRequest},
	} {
		t.Run(part.name, part.run)
	}
}

type kit struct {
	guest    Guest
	manifest *abi.Manifest
}

// do runs one operation that must keep the rules of the ABI.
func (k *kit) do(t testing.TB, op abi.Op, x *Exchange) Outcome {
	t.Helper()
	status := k.guest(t, op, x)
	o, err := x.Outcome(status)
	if err != nil {
		t.Fatalf("%s broke a rule: %v", op, err)
	}
	return o
}

func (k *kit) ask(t testing.TB, op abi.Op, req *abi.Request) Outcome {
	t.Helper()
	return k.do(t, op, &Exchange{Request: req.Append(nil)})
}

// succeed is ask for what must end with code 0.
func (k *kit) succeed(t testing.TB, op abi.Op, req *abi.Request) Outcome {
	t.Helper()
	o := k.ask(t, op, req)
	wantCode(t, o, abi.CodeOK)
	return o
}

func wantCode(t testing.TB, o Outcome, want abi.Code) {
	t.Helper()
	if o.Code != want {
		said := ""
		if o.Reply.Error != nil {
			said = o.Reply.Error.Message
		}
		t.Fatalf("got code %v (%q), want %v", o.Code, said, want)
	}
}

// describe gets the manifest and checks what the kit builds upon.
func (k *kit) describe(t *testing.T) *abi.Manifest {
	t.Helper()
	m := k.succeed(t, abi.OpDescribe, &abi.Request{}).Reply.Manifest
	if m == nil {
		t.Fatal("DESCRIBE emitted no manifest")
	}
	if err := m.Check(); err != nil {
		t.Fatalf("manifest: %v", err)
	}
	if m.Name != "kit" {
		t.Errorf("the manifest's name: got %q, want kit", m.Name)
	}
	for _, op := range []abi.Op{abi.OpDescribe, abi.OpList, abi.OpRead, abi.OpComplete, abi.OpSubscribe, abi.OpPoll, abi.OpListDir} {
		if !m.Implements(op) {
			t.Errorf("the manifest's ops %b lack %s", m.Ops, op)
		}
	}
	again := k.succeed(t, abi.OpDescribe, &abi.Request{}).Reply.Manifest
	if again == nil || string(again.Append(nil)) != string(m.Append(nil)) {
		t.Error("DESCRIBE emitted two different manifests")
	}
	return m
}

// template returns a template of the manifest and its route.
func (k *kit) template(t testing.TB, text string) (abi.Template, uint32) {
	t.Helper()
	i := slices.IndexFunc(k.manifest.Templates, func(m abi.Template) bool { return m.URITemplate == text })
	if i < 0 {
		t.Fatalf("the manifest has no template %s", text)
	}
	return k.manifest.Templates[i], uint32(i + 1)
}

// routed makes the request the host would for a URI that matches a template; vars are names and values by turns.
func (k *kit) routed(t testing.TB, template, uri string, vars ...string) *abi.Request {
	t.Helper()
	_, route := k.template(t, template)
	req := &abi.Request{URI: uri, Route: route, MaxBytes: 64 << 20}
	for pair := range slices.Chunk(vars, 2) {
		req.Vars = append(req.Vars, abi.Var{Name: pair[0], Value: pair[1]})
	}
	return req
}

func (k *kit) echo(t testing.TB, value string) *abi.Request {
	t.Helper()
	return k.routed(t, "kit://echo/{value}", "kit://echo/x", "value", value)
}

func (k *kit) stream(t testing.TB, n int) *abi.Request {
	t.Helper()
	return k.routed(t, "kit://stream/{n}", fmt.Sprintf("kit://stream/%d", n), "n", fmt.Sprint(n))
}

// one returns the only content.
func one(t testing.TB, o Outcome) Content {
	t.Helper()
	wantCode(t, o, abi.CodeOK)
	if len(o.Contents) != 1 {
		t.Fatalf("got %d contents, want one", len(o.Contents))
	}
	return o.Contents[0]
}

// wantContent compares what the kit's provider promises of a content. An empty mime is free.
func wantContent(t testing.TB, got Content, uri, mime string, kind abi.Kind, body string) {
	t.Helper()
	if got.URI != uri {
		t.Errorf("uri: got %q, want %q", got.URI, uri)
	}
	if mime != "" && got.MIMEType != mime {
		t.Errorf("mime_type: got %q, want %q", got.MIMEType, mime)
	}
	if got.Kind != kind {
		t.Errorf("kind: got %d, want %d", got.Kind, kind)
	}
	if string(got.Body) != body {
		i := 0
		for i < min(len(got.Body), len(body)) && got.Body[i] == body[i] {
			i++
		}
		t.Errorf("body: got %d bytes, want %d; they differ from byte %d on: %.40q, want %.40q", len(got.Body), len(body), i,
			got.Body[i:], body[i:])
	}
}

// pattern is what kit://stream holds.
func pattern(from, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(byte(from + i))
	}
	return b.String()
}
