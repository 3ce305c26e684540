package abitest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

const (
	cSDK = "../../guest-sdk/c"
	cKit = "../../testdata/wasm/kit-c"
)

// TestCGuest holds the C SDK to the kit, in each of the ways there are to build with it.
func TestCGuest(t *testing.T) {
	const strict = " -Wall -Wextra -Werror"
	const plusplus = strict + " -Wno-c++20-designator -Wno-missing-field-initializers" // of the tables, not the header
	const alone = "-nostdlib -Wl,--no-entry"
	for name, c := range map[string]struct{ target, compile, link string }{
		"freestanding": {"wasm32", "-O2 -mbulk-memory -std=c99" + strict, alone},
		"unoptimised":  {"wasm32", "-mbulk-memory", alone + ",--stack-first"},
		"C++":          {"wasm32", "-O2 -mbulk-memory -xc++ -std=c++17 -fno-exceptions -fno-rtti" + plusplus, alone},
		"wasi-libc":    {"wasm32-wasi", "-O2" + strict, "-mexec-model=reactor"},
	} {
		t.Run(name, func(t *testing.T) {
			if clang := cCompiler(t); c.target == "wasm32-wasi" {
				needLibc(t, clang)
			}
			abitest.Run(t, load(t, guesttest.CModule(t, c.target, c.compile, c.link, "kit.c"), true))
		})
	}
}

// TestDocumentedCGuest builds the provider of the C SDK's README with the commands that stand there.
func TestDocumentedCGuest(t *testing.T) {
	readme, err := os.ReadFile(cSDK + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, source, _ := strings.Cut(string(readme), "```c\n")
	source, rest, ok := strings.Cut(source, "```")
	if !ok {
		t.Fatal("the README of the C SDK has no provider")
	}
	commands := cCommands(t, rest)
	if len(commands) != 4 {
		t.Fatalf("the README has %d commands, want two to compile and two to link", len(commands))
	}
	for i, name := range []string{"freestanding", "wasi-libc"} {
		t.Run(name, func(t *testing.T) {
			clang := cCompiler(t)
			if name == "wasi-libc" {
				needLibc(t, clang)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "hello.c"), []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range commands[2*i : 2*i+2] {
				guesttest.Run(t, dir, nil, clang, args...)
			}
			testGreeting(t, load(t, filepath.Join(dir, "hello.wasm"), false))
		})
	}
}

// testGreeting asks the provider of the README.
func testGreeting(t *testing.T, guest abitest.Guest) {
	m := ask(t, guest, abi.OpDescribe, abi.Request{HostMinor: 7}).Reply.Manifest
	if m == nil || m.Check() != nil || len(m.Templates) != 1 || len(m.Resources) != 1 {
		t.Fatalf("got manifest %+v", m)
	}
	greeting := m.Templates[0].URITemplate
	for _, name := range []string{"Ada", "世界", strings.Repeat("a", 4096), strings.Repeat("a", 50_000)} {
		o := ask(t, guest, abi.OpRead, abi.Request{URI: "greeting://x", Route: 1, Vars: []abi.Var{{Name: "name", Value: name}}})
		if len(o.Contents) != 1 || string(o.Contents[0].Body) != "Hello, "+name+"!" {
			t.Errorf("%.10q: got %.200s", name, fmt.Sprint(o))
		}
	}
	if o := ask(t, guest, abi.OpRead, abi.Request{URI: "greeting://", Route: 1}); o.Code != abi.CodeNotFound {
		t.Errorf("no name: got %v, want not_found", o.Code)
	}
	if got := ask(t, guest, abi.OpComplete, abi.Request{URI: greeting, Arg: "name", Value: "a"}).Reply.Completions; len(got) != 2 {
		t.Errorf("completions of a: got %q", got)
	}
	if o := ask(t, guest, abi.OpList, abi.Request{}); o.Code != abi.CodeUnsupported {
		t.Errorf("LIST: got %v, want unsupported", o.Code)
	}
}

// cCommands returns the arguments of the calls of clang in a README.
func cCommands(t *testing.T, readme string) (commands [][]string) {
	t.Helper()
	for line := range strings.Lines(readme) {
		if args, ok := strings.CutPrefix(line, "    clang "); ok {
			args = strings.ReplaceAll(args, "/path/to/wasmres/guest-sdk/c", cAbs(t, cSDK))
			commands = append(commands, strings.Fields(args))
		}
	}
	return commands
}

func cCompiler(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a guest")
	}
	guesttest.Tool(t, "apt-get install lld", "wasm-ld", "wasm-ld-14") // which clang calls
	return guesttest.Tool(t, "apt-get install clang", "clang", "clang-14")
}

// needLibc skips the test where clang has no libc for wasm, or lacks the runtime for it.
func needLibc(t *testing.T, clang string) {
	t.Helper()
	dir := t.TempDir()
	probe := filepath.Join(dir, "probe.c")
	if err := os.WriteFile(probe, []byte("#include <stdlib.h>\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := exec.Command(clang, "--target=wasm32-wasi", "-mexec-model=reactor", "-o", filepath.Join(dir, "probe"), probe)
	if link.Run() != nil {
		guesttest.Tool(t, "apt-get install wasi-libc libclang-rt-14-dev-wasm32", "wasi-libc for clang")
	}
}

func cAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// TestCRequests holds the SDK's decoder, built natively with sanitizers, to the vectors of testdata/abi and thousands
// of damaged requests: it refuses what package abi refuses, takes what that takes, and never reads a byte too many.
func TestCRequests(t *testing.T) {
	seeds := cSeeds(t)
	random := rand.New(rand.NewPCG(1, 2))
	ops := []abi.Op{abi.OpRead, abi.OpList, abi.OpComplete, abi.OpPoll, abi.OpSubscribe, abi.OpDescribe, abi.OpListDir}
	var calls []cCall
	for i := range 6000 {
		request := slices.Clone(seeds[i%len(seeds)])
		for range i / len(seeds) % 4 {
			request = cDamage(random, request, seeds)
		}
		calls = append(calls, cCall{op: ops[random.IntN(len(ops))], request: request})
	}
	refused, taken := 0, 0
	for i, o := range cDo(t, cNative(t, "kit.c"), calls...) {
		var req abi.Request
		err := req.Decode(calls[i].request)
		if err != nil && ofHostOnly(err) {
			continue
		}
		malformed := o.code == abi.CodeInvalidParams && strings.Contains(string(o.frames), "malformed request")
		if malformed != (err != nil) {
			t.Errorf("%s of %x: got code %v and %.80q; package abi says %v",
				calls[i].op, calls[i].request, o.code, o.frames, err)
		}
		if err != nil {
			refused++
			continue
		}
		taken++
		if err := new(abi.Reply).Merge(o.frames, 1000, &cHeads{}); err != nil {
			t.Errorf("%s of %x: the guest emitted %x: %v", calls[i].op, calls[i].request, o.frames, err)
		}
	}
	if refused < 500 || taken < 500 {
		t.Errorf("%d requests were refused and %d taken: the mixture tests little", refused, taken)
	}
}

// ofHostOnly reports whether a request is refused for what a guest need not look at: texts that are not UTF-8, since
// the host sends none, and fields the SDK does not read.
func ofHostOnly(err error) bool {
	s := err.Error()
	return strings.Contains(s, "UTF-8") || strings.Contains(s, "field 16:") || strings.Contains(s, "field 17:")
}

// cSeeds returns the requests of testdata/abi, good and bad, and some the kit's provider has answers for.
func cSeeds(t *testing.T) (seeds [][]byte) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/abi/*.hex")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# message: Request\n") {
			continue
		}
		var digits strings.Builder
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") {
				digits.WriteString(strings.Join(strings.Fields(line), ""))
			}
		}
		request, err := hex.DecodeString(digits.String())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		seeds = append(seeds, request)
	}
	if len(seeds) < 20 {
		t.Fatalf("testdata/abi has %d requests, which is fewer than expected", len(seeds))
	}
	for _, req := range []abi.Request{
		{URI: "kit://join/a/b", Route: 2, Vars: []abi.Var{{Name: "part", Value: "a"}, {Name: "part", Value: "b"}}},
		{URI: "kit://stream/900", Route: 4, Vars: []abi.Var{{Name: "n", Value: "900"}}, RangeOffset: 3, RangeLength: 99},
		{URI: "kit://principal", Principal: &abi.Principal{Subject: "ada", Tenant: "acme", Scopes: []string{"a", "b"}}},
		{URI: "kit://text", IfNoneMatch: `"v1"`},
		{Cursor: "7", Limit: 3},
	} {
		seeds = append(seeds, req.Append(nil))
	}
	return seeds
}

// cDamage returns b with one fault.
func cDamage(random *rand.Rand, b []byte, others [][]byte) []byte {
	if len(b) == 0 {
		return []byte{byte(random.Uint32())}
	}
	at := random.IntN(len(b))
	switch random.IntN(6) {
	case 0:
		b[at] ^= 1 << random.IntN(8)
	case 1:
		b[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[random.IntN(5)]
	case 2:
		return b[:at]
	case 3:
		return slices.Insert(b, at, byte(random.Uint32()))
	case 4:
		return slices.Delete(b, at, at+1)
	case 5:
		other := others[random.IntN(len(others))]
		return append(b, other[:random.IntN(len(other)+1)]...)
	}
	return b
}

// TestCFiles holds the parts of the SDK that the kit does not ask for to what the host would answer.
func TestCFiles(t *testing.T) {
	guest := cNative(t, "files.c")
	const path, chunk = "/data/readme.md", 48 << 10
	read := func(uri string) abi.Request { return abi.Request{URI: uri} }
	readme := abi.Request{URI: "files://readme.md", Route: 1, Vars: []abi.Var{{Name: "path", Value: "readme.md"}}}
	ranged := readme
	ranged.RangeOffset, ranged.RangeLength = 1, 3
	stat := abi.Request{URI: "stat://x", Route: 2, Vars: []abi.Var{{Name: "path", Value: "/data/sub"}}}
	scopes := read("files://scopes")
	scopes.Principal = &abi.Principal{Subject: "ada", Scopes: []string{"read", "", "write"}}
	small, large := abi.File{Size: 5}, abi.File{Size: 100_000}
	a48k, long := strings.Repeat("a", chunk), strings.Repeat("n", 40)
	for name, c := range map[string]struct {
		req     abi.Request
		answers []cAnswer
		code    abi.Code
		body    string
		asked   []abi.FileRequest
	}{
		"a small file": {
			req: readme, answers: []cAnswer{fileAnswer(small, ""), fileAnswer(small, "hello")}, body: "hello",
			asked: []abi.FileRequest{{Path: path}, {Path: path, Length: 5}},
		},
		"a part of it": {
			req: ranged, answers: []cAnswer{fileAnswer(small, ""), fileAnswer(small, "ell")}, body: "ell",
			asked: []abi.FileRequest{{Path: path}, {Path: path, Offset: 1, Length: 3}},
		},
		"a large file that has become shorter": {
			req:     readme,
			answers: []cAnswer{fileAnswer(large, ""), fileAnswer(large, a48k), fileAnswer(large, "b"), fileAnswer(large, "")},
			body:    a48k + "b",
			asked: []abi.FileRequest{
				{Path: path}, {Path: path, Length: chunk}, {Path: path, Offset: chunk, Length: chunk},
				{Path: path, Offset: chunk + 1, Length: chunk},
			},
		},
		"a folder for a file": {
			req: readme, answers: []cAnswer{fileAnswer(abi.File{Dir: true}, "")}, code: abi.CodeInvalidParams,
			asked: []abi.FileRequest{{Path: path}},
		},
		"no file": {
			req: readme, answers: []cAnswer{{code: abi.CodeNotFound}}, code: abi.CodeNotFound,
			asked: []abi.FileRequest{{Path: path}},
		},
		"a file that disappears": {
			req: readme, answers: []cAnswer{fileAnswer(small, ""), {code: abi.CodeDenied}}, code: abi.CodeDenied,
			asked: []abi.FileRequest{{Path: path}, {Path: path, Length: 5}},
		},
		"stat": {
			req: stat, answers: []cAnswer{fileAnswer(abi.File{Dir: true, ModifiedMillis: -5}, "")}, body: "0 -5 dir",
			asked: []abi.FileRequest{{Path: "/data/sub"}},
		},
		"stat answered malformed": {
			req: stat, answers: []cAnswer{{message: []byte{0x0a, 0x7f}}}, code: abi.CodeInternal,
			asked: []abi.FileRequest{{Path: "/data/sub"}},
		},
		"a folder": {
			req: read("files://folder"), answers: []cAnswer{folderAnswer(true, "a", "b"), folderAnswer(false, "sub")},
			body:  "a\nb\nsub/\n",
			asked: []abi.FileRequest{{Path: "/data", Length: 3}, {Path: "/data", Length: 3, After: "b"}},
		},
		"a page that is larger than the room": {
			req: read("files://folder"), answers: []cAnswer{folderAnswer(false, long, long+"2"), folderAnswer(false, "z")},
			body:  long + "\nz\n",
			asked: []abi.FileRequest{{Path: "/data", Length: 3}, {Path: "/data", Length: 3, After: long}},
		},
		"an entry that is larger than the room": {
			req: read("files://folder"), answers: []cAnswer{folderAnswer(true, long+long)}, code: abi.CodeInternal,
			asked: []abi.FileRequest{{Path: "/data", Length: 3}},
		},
		"an empty page that promises more": {
			req: read("files://folder"), answers: []cAnswer{folderAnswer(true)}, code: abi.CodeInternal,
			asked: []abi.FileRequest{{Path: "/data", Length: 3}},
		},
		"scopes": {req: scopes, body: "[read][][write]"},
		"formats": {
			req: read("files://formats"),
			body: "-42 42 beef BEEF c text %|   42|42   |42   |-0042|   ab|ab   |ab|" +
				"-9223372036854775808 18446744073709551615 1 44|abcdeü",
		},
		"progress":         {req: read("files://slow"), body: "one two"},
		"enough":           {req: read("files://several"), body: strings.Repeat("\x00", 6*4000)}, // 16 KiB, and no half
		"too much":         {req: read("files://endless"), code: abi.CodeTooLarge},
		"more than told":   {req: abi.Request{URI: "files://endless", MaxBytes: 100}, code: abi.CodeTooLarge},
		"too much scratch": {req: read("files://greedy"), code: abi.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			o := cDo(t, guest, cCall{op: abi.OpRead, request: c.req.Append(nil), answers: c.answers})[0]
			var h cHeads
			if err := new(abi.Reply).Merge(o.frames, 10, &h); err != nil {
				t.Fatal(err)
			}
			got := string(h.inline) + string(o.body)
			if o.code != c.code || o.code == abi.CodeOK && got != c.body {
				t.Errorf("got code %v and %.99q, want %v and %.99q", o.code, got, c.code, c.body)
			}
			if most := int(c.req.MaxBytes); most > 0 && len(got) > most {
				t.Errorf("the guest pushed %d bytes, of which %d are allowed", len(got), most)
			}
			if !reflect.DeepEqual(o.asked, c.asked) || len(o.called) > 0 {
				t.Errorf("the guest asked for %+v and %v, want %+v", o.asked, o.called, c.asked)
			}
		})
	}
}

// fileAnswer is what services 12 and 13 answer.
func fileAnswer(f abi.File, body string) cAnswer {
	return cAnswer{message: (&abi.FileResponse{Files: []abi.File{f}}).Append(nil), body: []byte(body)}
}

// folderAnswer is what service 14 answers. The entry named sub is a folder.
func folderAnswer(more bool, names ...string) cAnswer {
	r := abi.FileResponse{More: more}
	for _, name := range names {
		r.Files = append(r.Files, abi.File{Name: name, Dir: name == "sub"})
	}
	return cAnswer{message: r.Append(nil)}
}

// TestCFailures looks at what is told of failures, of which a client gets the last that counts.
func TestCFailures(t *testing.T) {
	guest := cNative(t, "files.c")
	for kind, c := range map[string]struct {
		code abi.Code
		want abi.GuestError
	}{
		"denied":      {abi.CodeDenied, abi.GuestError{Message: "not for you"}},
		"busy":        {abi.CodeUnavailable, abi.GuestError{Message: "busy 7", RetryAfterMillis: 250}},
		"replaced":    {abi.CodeNotFound, abi.GuestError{Message: "gone"}},
		"after bytes": {abi.CodeNotFound, abi.GuestError{Message: "gone"}},
		"bare":        {abi.CodeDenied, abi.GuestError{}},
		"unknown":     {abi.CodeInternal, abi.GuestError{}},
		"nothing":     {abi.CodeNotFound, abi.GuestError{}},
		"other":       {abi.CodeInvalidParams, abi.GuestError{Message: "other", Data: `{"n":1}`}},
		strings.Repeat("ü", 300): {
			abi.CodeInvalidParams, abi.GuestError{Message: strings.Repeat("ü", 255), Data: `{"n":1}`},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			req := abi.Request{URI: "fail://x", Route: 3, Vars: []abi.Var{{Name: "kind", Value: kind}}}
			o := cDo(t, guest, cCall{op: abi.OpRead, request: req.Append(nil)})[0]
			var got abi.Reply
			if err := got.Merge(o.frames, 1, &cHeads{}); err != nil {
				t.Fatal(err)
			}
			if got.Error == nil {
				got.Error = &abi.GuestError{}
			}
			if o.code != c.code || *got.Error != c.want {
				t.Errorf("got %v with %+v, want %v with %+v", o.code, *got.Error, c.code, c.want)
			}
		})
	}
}

// TestCNotices has a guest report changes.
func TestCNotices(t *testing.T) {
	call := cCall{op: abi.OpRead, request: (&abi.Request{URI: "files://notices"}).Append(nil), answers: make([]cAnswer, 2)}
	o := cDo(t, cNative(t, "files.c"), call)[0]
	if want := []string{"files://readme.md", ""}; o.code != abi.CodeOK || !slices.Equal(o.told, want) {
		t.Errorf("got %v and notices of %q, want %q", o.code, o.told, want)
	}
}

// TestCManifest looks at all a manifest, and a page, can say.
func TestCManifest(t *testing.T) {
	outcomes := cDo(t, cNative(t, "files.c"),
		cCall{op: abi.OpDescribe},
		cCall{op: abi.OpList},
		cCall{op: abi.OpComplete, request: (&abi.Request{URI: "files://{path}", Arg: "path", Value: "x"}).Append(nil)},
		cCall{op: abi.OpRead, request: (&abi.Request{URI: "files://slow"}).Append(nil)},
	)
	var replies [4]abi.Reply
	var reports cHeads
	for i, o := range outcomes {
		if err := replies[i].Merge(o.frames, 10, &reports); err != nil || o.code != abi.CodeOK {
			t.Fatalf("call %d: %v, %v", i, o.code, err)
		}
	}
	m := replies[0].Manifest
	if m == nil || m.Check() != nil {
		t.Fatalf("got manifest %+v", m)
	}
	if got, want := string(m.Append(nil)), string(wantManifest(m).Append(nil)); got != want {
		t.Errorf("got manifest %q\nwant %q", got, want)
	}
	page := abi.Reply{TTLMillis: 60_000, CacheScope: abi.CachePublic, Resources: []abi.Resource{{
		URI: "files://readme.md", Name: "readme.md", Title: "Read me", Size: 12, Priority: 0.5,
		LastModified: time.UnixMilli(1_795_225_320_000).UTC().Format(time.RFC3339),
		Audience:     abi.AudienceUser, Meta: `{"a":1}`,
	}}}
	if got, want := replies[1].Append(nil), page.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("got page %q\nwant %q", got, want)
	}
	c := replies[2]
	if len(c.Completions) != 100 || c.Completions[99] != "x99" || c.CompletionTotal != 150 || !c.CompletionMore {
		t.Errorf("got completions %q, %d in all, more %v", c.Completions, c.CompletionTotal, c.CompletionMore)
	}
	progress := []abi.Progress{{Done: 1, Total: 2, Message: "halfway"}, {Done: 2, Total: 2}}
	if !slices.Equal(reports.progress, progress) {
		t.Errorf("got progress %+v, want %+v", reports.progress, progress)
	}
}

// wantManifest is the manifest of files.c. What is said nowhere, as no priority is, and resources that are like the
// first, it takes from m.
func wantManifest(m *abi.Manifest) *abi.Manifest {
	icon := abi.Icon{
		Source: "https://example.com/a.png", MIMEType: "image/png", Sizes: []string{"48x48", "any"}, Theme: "dark",
	}
	file := abi.Template{
		URITemplate: "files://{path}", Name: "file", Title: "File", Description: "Any file.", MIMEType: "text/plain",
		Audience: abi.AudienceAssistant, Icons: []abi.Icon{icon}, Meta: "{}",
		Completes: []string{"path"}, Ranges: true, TTLMillis: 5000, CacheScope: abi.CachePublic,
	}
	none := m.Templates[1].Priority
	folder := abi.Resource{
		URI: "files://folder", Name: "folder", Size: 7, Priority: none, LastModified: "2000-02-29T00:00:00Z",
	}
	return &abi.Manifest{
		Name: "files", Version: "1.0.0", Title: "Files", Description: "Files, and more.",
		Templates: []abi.Template{
			file,
			{URITemplate: "stat://x{?path}", Name: "stat://x{?path}", Priority: none},
			{URITemplate: "fail://{kind}", Name: "fail://{kind}", Priority: none},
		},
		Resources:    append([]abi.Resource{folder}, m.Resources[1:]...),
		Ops:          1<<abi.OpDescribe | 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete,
		Capabilities: []abi.Capability{{Name: "fs", Params: "{}", Optional: true, Reason: "serves files"}},
		Limits: abi.ManifestLimits{
			MemoryPages: 16, DeadlineMillis: 1000, MaxBody: 1 << 20, MaxInstances: 4, Lifecycle: abi.LifecycleSession,
		},
		URIPrefixes: []string{"files://", "stat://", "fail://"}, SDK: "c/1.0.0", ConfigSchema: `{"type":"object"}`,
	}
}

// TestCExports builds a guest with the optional exports and has it say that they were called.
func TestCExports(t *testing.T) {
	cCompiler(t)
	binary, err := os.ReadFile(guesttest.CModule(t, "wasm32", "-O2 -mbulk-memory", "-nostdlib -Wl,--no-entry", "files.c"))
	if err != nil {
		t.Fatal(err)
	}
	x := &abitest.Exchange{Request: (&abi.Request{URI: "files://start"}).Append(nil)}
	ctx := context.WithValue(t.Context(), exchangeKey{}, x)
	rt := wazero.NewRuntime(ctx)
	defer rt.Close(ctx)
	if _, err := imports(rt).Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	guest, err := rt.InstantiateWithConfig(ctx, binary, wazero.NewModuleConfig().WithStartFunctions())
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string, params ...uint64) []uint64 {
		t.Helper()
		results, err := guest.ExportedFunction(name).Call(ctx, params...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return results
	}
	call(abi.ExportInitialize)
	call(abi.ExportWarm)
	call(abi.ExportSeed, 1<<63+5)
	o, err := x.Outcome(uint32(call(abi.ExportCall, uint64(abi.OpRead), uint64(len(x.Request)))[0]))
	if want := fmt.Sprintf("warmed 1, drawn %d", uint64(1<<63+5)); err != nil || string(o.Contents[0].Body) != want {
		t.Errorf("got %+v, %v, want %q", o, err, want)
	}
}

// cHeads keeps what a reply holds beside its fields.
type cHeads struct {
	inline   []byte
	progress []abi.Progress
}

func (h *cHeads) Content(c *abi.Content) error { h.inline = append(h.inline, c.Inline...); return nil }

func (h *cHeads) Progress(p abi.Progress) { h.progress = append(h.progress, p) }

func (h *cHeads) Continue() error { return nil }

// A cCall is one operation for a guest that is built natively, with what the services it calls answer, in order.
type cCall struct {
	op      abi.Op
	request []byte
	answers []cAnswer
}

type cAnswer struct {
	code          abi.Code
	message, body []byte
}

type cOutcome struct {
	code         abi.Code
	frames, body []byte
	asked        []abi.FileRequest
	told         []string // the URIs of notices; empty for the list
	called       []cService
}

// A cService is a request to a service that is none of those.
type cService struct {
	service abi.Service
	request []byte
}

// cNative builds a guest of testdata/wasm/kit-c for this machine, with native/host.c and sanitizers if clang has them.
func cNative(t *testing.T, source string) (guest string) {
	t.Helper()
	clang := cCompiler(t)
	args := append(sanitizers(t, clang), "-O1", "-g", "-Wall", "-Wextra", "-Werror", source, "native/host.c")
	in := guesttest.Inputs{Tools: []string{clang}, Args: args, Trees: []string{cKit, cSDK}}
	return guesttest.Made(t, "kit-c.native", in, func(file string) {
		guesttest.Run(t, cKit, nil, clang, append(args, "-I"+cAbs(t, cSDK), "-o", file)...)
	})
}

// cDo has a guest that was built natively do calls.
func cDo(t *testing.T, guest string, calls ...cCall) []cOutcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), guest)
	var in, log bytes.Buffer
	for _, c := range calls {
		c.write(&in)
	}
	cmd.Stdin, cmd.Stderr = &in, &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%.8000s", err, &log)
	}
	r := &cReader{Reader: bytes.NewReader(out)}
	outcomes := make([]cOutcome, len(calls))
	for i := range outcomes {
		outcomes[i] = r.outcome()
	}
	if r.err != nil || r.Len() > 0 {
		t.Fatalf("the outcomes are malformed: %v", r.err)
	}
	return outcomes
}

// sanitizers returns the flags for them, if clang has their runtime.
func sanitizers(t *testing.T, clang string) []string {
	t.Helper()
	dir := t.TempDir()
	probe := filepath.Join(dir, "probe.c")
	if err := os.WriteFile(probe, []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
	if err := exec.Command(clang, append(flags, "-o", filepath.Join(dir, "probe"), probe)...).Run(); err != nil {
		t.Log("NOT TESTED with sanitizers: to have them: apt-get install libclang-rt-14-dev")
		return nil
	}
	return flags
}

func (c *cCall) write(w *bytes.Buffer) {
	number := func(n int) { w.Write(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	text := func(b []byte) { number(len(b)); w.Write(b) }
	number(int(c.op))
	text(c.request)
	number(len(c.answers))
	for _, a := range c.answers {
		number(int(a.code))
		text(a.message)
		text(a.body)
	}
}

// A cReader reads what native/host.c writes. Its first error stays.
type cReader struct {
	*bytes.Reader
	err error
}

func (r *cReader) number() uint32 {
	return binary.LittleEndian.Uint32(r.take(4))
}

func (r *cReader) bytes() []byte { return r.take(int(r.number())) }

func (r *cReader) take(n int) []byte {
	b := make([]byte, min(n, max(r.Len(), 4)))
	if _, err := io.ReadFull(r, b); err != nil && r.err == nil {
		r.err = err
	}
	return b
}

func (r *cReader) outcome() cOutcome {
	o := cOutcome{code: abi.Code(r.number()), frames: r.bytes(), body: r.bytes()}
	for range r.number() {
		service, request := abi.Service(r.number()), r.bytes()
		var file abi.FileRequest
		var notice abi.NotifyRequest
		switch {
		case r.err != nil:
			return o
		case service == abi.ServiceNotifyUpdated && notice.Decode(request) == nil:
			o.told = append(o.told, notice.URI)
		case service == abi.ServiceNotifyList && len(request) == 0:
			o.told = append(o.told, "")
		case service >= abi.ServiceFileStat && service <= abi.ServiceFileList && file.Decode(request) == nil:
			o.asked = append(o.asked, file)
		default:
			o.called = append(o.called, cService{service, request})
		}
	}
	return o
}
