package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

var (
	bothTransports = []string{"stdio", "http"}
	onlyHTTP       = []string{"http"} // for what an operator of a server over HTTP can ask for
)

// practices are what papers on MCP advise beside their URIs: for folders, for the operator of a server, and for clients that
// have only tools. Clients of both eras check each with the example file. [TestURIsOfThePapers] reads folders of other
// examples, too.
var practices = []struct {
	practice   string
	transports []string
	check      func(t *testing.T, w *world, transport, era string)
}{
	{"a read of a folder answers a content for each file and says in _meta what it left out", bothTransports, checkFolder},
	{"clients are told when a file comes into a folder", bothTransports, checkFileComes},
	{"clients are told when a file goes from a folder", bothTransports, checkFileGoes},

	{"--access-log has a line of text for each request", onlyHTTP, checkAccessLogAsText},
	{"--access-log-format json has the principal, too", onlyHTTP, checkAccessLogAsJSON},
	{"--rate says when to try again", onlyHTTP, checkRate},
	{"--tls-cert may be replaced while the server runs", onlyHTTP, checkCertificate},
	{"--tls-client-ca demands a certificate, which names the client", onlyHTTP, checkClientCertificate},
	{"--tokens refuses clients without a token", onlyHTTP, checkTokenMissing},
	{"--tokens hides what a token does not permit, as if it did not exist", onlyHTTP, checkTokenHides},
	{"wasmres token revoke ends the streams of a token", onlyHTTP, checkTokenRevoked},
	{"no server listens beyond this machine by mistake", onlyHTTP, checkExposed},

	{"--tools lists with resource_link and with structuredContent valid against outputSchema", bothTransports, checkListTool},
	{"--tools shows pictures as images and all else as embedded resources", bothTransports, checkReadTool},
}

// TestPracticesOfThePapers checks that the program follows each practice.
func TestPracticesOfThePapers(t *testing.T) {
	if os.Getenv("WASMRES_E2E") == "" {
		t.Skip("SKIPPED: this starts forty servers: 'make e2e' runs it")
	}
	t.Parallel()
	for _, c := range practices {
		for _, transport := range c.transports {
			for _, era := range []string{modernEra, legacyEra} {
				t.Run(c.practice+" "+transport+" "+era, func(t *testing.T) {
					t.Parallel()
					w := &world{dir: t.TempDir(), env: os.Environ()}
					w.makeFiles(t)
					c.check(t, w, transport, era)
				})
			}
		}
	}
}

// fileService returns a service of the example file. The word DIR in flags stands for the folder of w.
func (w *world) fileService(t *testing.T, flags ...string) *service {
	t.Helper()
	s := &service{bin: guesttest.Program(t), env: w.env, args: []string{
		"--cache-dir", guesttest.CacheDir(t), "--timeout", "30s", "--dir", w.in("files") + ":/files:ro", guesttest.File(t, "file"),
	}}
	for _, flag := range flags {
		s.args = append(s.args, strings.Replace(flag, "DIR", w.dir, 1))
	}
	return s
}

// filePeer serves the example file and returns a client of it.
func (w *world) filePeer(t *testing.T, transport, era string, flags ...string) *peer {
	t.Helper()
	s := w.fileService(t, flags...)
	if transport == "http" {
		s.url = s.listen(t, "127.0.0.1:0")
	}
	return s.connect(t, transport, era)
}

// in returns the path of a file of w.
func (w *world) in(name string) string { return filepath.Join(w.dir, name) }

// write writes a file of w in one step.
func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(w.in("new"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.in("new"), w.in(name)); err != nil {
		t.Fatal(err)
	}
}

func checkFolder(t *testing.T, w *world, transport, era string) {
	large := strings.Repeat("x", 1<<20)
	w.write(t, "files/docs/large.txt", large)
	var result struct {
		Contents []struct {
			URI  string
			Meta struct {
				Folder *struct {
					Files   int
					LeftOut struct {
						Files, Bytes int
						Names        []string
						Reasons      map[string]int
					}
				}
			} `json:"_meta"`
		}
	}
	w.filePeer(t, transport, era).call(t, "resources/read", map[string]any{"uri": "file:///docs/"}, &result)
	var uris []string
	for _, c := range result.Contents {
		uris = append(uris, c.URI)
	}
	if want := []string{"file:///docs/guide.md", "file:///docs/intro.md", "file:///docs/"}; !slices.Equal(uris, want) {
		t.Fatalf("got contents %q, want %q", uris, want)
	}
	said := result.Contents[2].Meta.Folder
	if said == nil || said.Files != 2 || said.LeftOut.Files != 1 || said.LeftOut.Bytes != len(large) ||
		!slices.Equal(said.LeftOut.Names, []string{"large.txt"}) || !maps.Equal(said.LeftOut.Reasons, map[string]int{"maxBytes": 1}) {
		t.Errorf("got _meta.folder %+v", said)
	}
}

func checkFileComes(t *testing.T, w *world, transport, era string) {
	p := w.filePeer(t, transport, era)
	p.follow(t, "file:///docs/")
	w.write(t, "files/docs/new.txt", "new")
	p.waitUpdated(t, []string{"file:///docs/", listChanged})
	if got := p.contents(t, "file:///docs/"); !slices.Contains(got, "file:///docs/new.txt") {
		t.Errorf("then the folder has %q", got)
	}
}

func checkFileGoes(t *testing.T, w *world, transport, era string) {
	p := w.filePeer(t, transport, era)
	p.follow(t, "file:///docs/")
	if err := os.Remove(w.in("files/docs/intro.md")); err != nil {
		t.Fatal(err)
	}
	p.waitUpdated(t, []string{"file:///docs/", listChanged})
	if got := p.contents(t, "file:///docs/"); slices.Contains(got, "file:///docs/intro.md") {
		t.Errorf("then the folder has %q", got)
	}
}

func checkAccessLogAsText(t *testing.T, w *world, transport, era string) {
	p := w.filePeer(t, transport, era, "--access-log", "DIR/access.log")
	p.askEach(t)
	w.checkLines(t, era, "", func(line string) map[string]string {
		fields := map[string]string{}
		for _, field := range strings.Fields(line) {
			key, value, _ := strings.Cut(field, "=")
			fields[key] = value
		}
		return fields
	})
}

func checkAccessLogAsJSON(t *testing.T, w *world, transport, era string) {
	s := w.fileService(t, "--tokens", "DIR/tokens.yaml", "--access-log", "DIR/access.log", "--access-log-format", "json")
	s.token = w.makeToken(t, "ada", "**")
	s.url = s.listen(t, "127.0.0.1:0")
	p := s.connect(t, transport, era)
	p.askEach(t)
	w.checkLines(t, era, "ada", func(line string) map[string]string {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		fields := map[string]string{}
		for key, value := range object {
			fields[key] = fmt.Sprint(value)
		}
		return fields
	})
}

// askEach sends one request of each kind that the access log has a line for.
func (p *peer) askEach(t *testing.T) {
	t.Helper()
	p.call(t, "resources/list", map[string]any{}, new(json.RawMessage))
	p.read(t, "file:///config.yaml")
	p.follow(t, "file:///logs/app.log")
	p.call(t, "completion/complete", map[string]any{
		"ref":      map[string]string{"type": "ref/resource", "uri": "file:///{+path}"},
		"argument": map[string]string{"name": "path", "value": "con"},
	}, new(json.RawMessage))
}

// checkLines waits until the access log has the lines of askEach, and checks their fields. parse returns those of a line.
func (w *world) checkLines(t *testing.T, era, principal string, parse func(line string) map[string]string) {
	t.Helper()
	targets := map[string]string{
		"resources/list": "", "resources/read": "file:///config.yaml", "completion/complete": "file:///{+path}",
	}
	subscribe := "subscriptions/listen"
	if era == legacyEra {
		subscribe = "resources/subscribe"
	}
	targets[subscribe] = "file:///logs/app.log"
	found := map[string]map[string]string{}
	waitFor(t, "the lines of the access log", func() bool {
		text, err := os.ReadFile(w.in("access.log"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasSuffix(line, "\n") {
				fields := parse(line)
				found[fields["method"]] = fields
			}
		}
		return !slices.ContainsFunc(slices.Collect(maps.Keys(targets)), func(method string) bool { return found[method] == nil })
	})
	for method, target := range targets {
		fields := found[method]
		_, err := time.Parse(time.RFC3339, fields["time"])
		if err != nil || fields["client"] != "127.0.0.1" || fields["principal"] != principal || fields["uri"] != target ||
			fields["code"] != "ok" || fields["ms"] == "" || (fields["session"] != "") != (era == legacyEra) ||
			fields["bytes"] == "" || fields["bytes"] == "0" && method != subscribe {
			t.Errorf("%s: the line has %v", method, fields)
		}
	}
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func checkRate(t *testing.T, w *world, transport, era string) {
	s := w.fileService(t, "--rate", "1/h", "--rate-burst", "5")
	s.url = s.listen(t, "127.0.0.1:0")
	p := s.connect(t, transport, era)
	var failure json.RawMessage
	answers := 0
	for ; failure == nil && answers <= 5; answers++ {
		_, failure = p.ask(t, "resources/read", map[string]any{"uri": "file:///config.yaml"})
	}
	var e struct {
		Code int
		Data struct {
			Code         string
			RetryAfterMs int
		}
	}
	if err := json.Unmarshal(failure, &e); err != nil || answers < 2 || e.Code != 429 || e.Data.Code != "limited" || e.Data.RetryAfterMs < 1 {
		t.Errorf("%d requests, then %s", answers, failure)
	}
	response, err := http.Get(s.url + "?uri=file:///config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" {
		t.Errorf("GET: got %s, %v", response.Status, response.Header)
	}
}

func checkCertificate(t *testing.T, w *world, transport, era string) {
	ca := certtest.NewAuthority(t)
	first, second := ca.Issue(t, &x509.Certificate{}), ca.Issue(t, &x509.Certificate{})
	certtest.Write(t, first, w.in("cert.pem"), w.in("key.pem"))
	s := w.fileService(t, "--tls-cert", "DIR/cert.pem", "--tls-key", "DIR/key.pem")
	s.client = clientOf(&tls.Config{RootCAs: ca.Pool()})
	s.url = s.listen(t, "127.0.0.1:0")
	t.Cleanup(s.client.CloseIdleConnections) // the server would wait a second for them
	p := s.connect(t, transport, era)
	p.read(t, "file:///config.yaml")
	shows := func(want tls.Certificate) bool {
		c, err := tls.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "https://"), "/mcp"), &tls.Config{RootCAs: ca.Pool()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return bytes.Equal(c.ConnectionState().PeerCertificates[0].Raw, want.Leaf.Raw)
	}
	if !shows(first) {
		t.Error("the server shows another certificate")
	}
	certtest.Write(t, second, w.in("cert.pem"), w.in("key.pem"))
	waitFor(t, "the new certificate", func() bool { return shows(second) })
	p.read(t, "file:///config.yaml")
}

func checkClientCertificate(t *testing.T, w *world, transport, era string) {
	ca := certtest.NewAuthority(t)
	certtest.Write(t, ca.Issue(t, &x509.Certificate{}), w.in("cert.pem"), w.in("key.pem"))
	certtest.WriteCert(t, ca.Cert, w.in("ca.pem"))
	s := w.fileService(t, "--tls-cert", "DIR/cert.pem", "--tls-key", "DIR/key.pem", "--tls-client-ca", "DIR/ca.pem",
		"--access-log", "DIR/access.log")
	own := ca.Issue(t, &x509.Certificate{Subject: certtest.Name("laptop")})
	s.client = clientOf(&tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{own}})
	s.url = s.listen(t, "0.0.0.0:0")
	t.Cleanup(s.client.CloseIdleConnections) // the server would wait a second for them
	s.connect(t, transport, era).read(t, "file:///config.yaml")
	waitFor(t, "a line of laptop", func() bool {
		text, err := os.ReadFile(w.in("access.log"))
		return err == nil && strings.Contains(string(text), " principal=laptop ")
	})
	if response, err := clientOf(&tls.Config{RootCAs: ca.Pool()}).Get(s.url + "?uri=file:///config.yaml"); err == nil {
		_ = response.Body.Close()
		t.Errorf("without a certificate: got %s", response.Status)
	}
}

// clientOf returns a client over HTTPS.
func clientOf(c *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}}
}

// makeToken makes a token with the program.
func (w *world) makeToken(t *testing.T, name, pattern string) string {
	t.Helper()
	out, err := exec.Command(guesttest.Program(t), "token", "new", "--tokens", w.in("tokens.yaml"), "--name", name, "--uri", pattern).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func checkTokenMissing(t *testing.T, w *world, _, era string) {
	w.makeToken(t, "ada", "**")
	s := w.fileService(t, "--tokens", "DIR/tokens.yaml")
	s.url = s.listen(t, "0.0.0.0:0")
	for _, token := range []string{"", "wr_unknown"} {
		s.token = token
		p := s.newPeer(era)
		method, params := "resources/list", map[string]any{}
		if era == legacyEra {
			method, params = "initialize", map[string]any{"protocolVersion": era, "capabilities": map[string]any{},
				"clientInfo": map[string]string{"name": "e2e", "version": "1"}}
		}
		message, _ := p.request(t, method, params)
		if status := p.post(t, s.url, message, method, ""); status != http.StatusUnauthorized {
			t.Errorf("token %q: got status %d", token, status)
		}
	}
}

func checkTokenHides(t *testing.T, w *world, transport, era string) {
	s := w.fileService(t, "--tokens", "DIR/tokens.yaml")
	s.token = w.makeToken(t, "ada", "file:///project/**")
	s.url = s.listen(t, "0.0.0.0:0")
	p := s.connect(t, transport, era)
	listed := slices.Sorted(maps.Keys(p.offers(t).resources))
	if want := []string{"file:///project/config.yaml", "file:///project/logo.png", "file:///project/src/main.rs"}; !slices.Equal(listed, want) {
		t.Errorf("it lists %q, want %q", listed, want)
	}
	p.read(t, "file:///project/config.yaml")
	failures := map[string]bool{}
	for _, uri := range []string{"file:///config.yaml", "file:///project/none.yaml"} {
		result, failure := p.ask(t, "resources/read", map[string]any{"uri": uri})
		if failure == nil {
			t.Fatalf("%s: got %s", uri, result)
		}
		failures[strings.ReplaceAll(string(failure), uri, "URI")] = true
	}
	if len(failures) != 1 {
		t.Errorf("what is hidden differs from what is not there: %v", failures)
	}
}

func checkTokenRevoked(t *testing.T, w *world, transport, era string) {
	s := w.fileService(t, "--tokens", "DIR/tokens.yaml")
	tokenOfBen := w.makeToken(t, "ben", "**")
	s.token = w.makeToken(t, "ada", "**")
	s.url = s.listen(t, "0.0.0.0:0")
	ada := s.connect(t, transport, era)
	ada.follow(t, "file:///logs/app.log")
	w.append(t, "files/logs/app.log", "stopped\n")
	ada.waitUpdated(t, []string{"file:///logs/app.log"}) // the stream has begun
	run(t, ".", s.bin, "token", "revoke", "--tokens", w.in("tokens.yaml"), "ada")
	stream := map[string]string{modernEra: "subscriptions/listen", legacyEra: http.MethodGet}[era]
	for end, ended := time.After(time.Minute), ""; ended != stream; {
		select {
		case ended = <-ada.ended:
		case <-end:
			t.Fatal("the stream goes on")
		}
	}
	message, _ := ada.request(t, "resources/list", map[string]any{})
	if status := ada.post(t, s.url, message, "resources/list", ""); status != http.StatusUnauthorized {
		t.Errorf("after it: got status %d", status)
	}
	s.token = tokenOfBen
	s.connect(t, transport, era).read(t, "file:///config.yaml")
}

func checkExposed(t *testing.T, w *world, transport, era string) {
	s := w.fileService(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, s.bin, append([]string{"run", "--http", "0.0.0.0:0"}, s.args...)...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "--insecure") {
		t.Errorf("without a credential it ends with %v:\n%s", err, out)
	}
	s.args = append(s.args, "--insecure") // the other practices show that --tokens and --tls-client-ca do, too
	s.url = s.listen(t, "0.0.0.0:0")
	s.connect(t, transport, era).read(t, "file:///config.yaml")
}

// A block is one of the contents of the result of a tool.
type block struct {
	Type, URI, MimeType, Data string
	Resource                  struct{ URI, MimeType, Text, Blob string }
}

func checkListTool(t *testing.T, w *world, transport, era string) {
	p := w.filePeer(t, transport, era, "--tools")
	var tools struct {
		Tools []struct {
			Name         string
			OutputSchema *jsonschema.Schema
		}
	}
	p.call(t, "tools/list", map[string]any{}, &tools)
	var result struct {
		Content           []block
		StructuredContent any
	}
	p.call(t, "tools/call", map[string]any{"name": "list_resources", "arguments": map[string]any{}}, &result)
	links := map[string]bool{}
	for _, b := range result.Content {
		if b.Type == "resource_link" {
			links[b.URI] = true
		}
	}
	if resources := p.offers(t).resources; len(resources) == 0 || !maps.Equal(links, resources) {
		t.Errorf("it links to %v, and lists %v", links, resources)
	}
	if len(tools.Tools) == 0 || tools.Tools[0].Name != "list_resources" || tools.Tools[0].OutputSchema == nil {
		t.Fatalf("got tools %+v", tools.Tools)
	}
	schema, err := tools.Tools[0].OutputSchema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if content, ok := result.StructuredContent.(map[string]any); !ok || content["resources"] == nil {
		t.Errorf("got structured content %v", content)
	}
	if err := schema.Validate(result.StructuredContent); err != nil {
		t.Error(err)
	}
}

func checkReadTool(t *testing.T, w *world, transport, era string) {
	p := w.filePeer(t, transport, era, "--tools")
	image := block{Type: "image", MimeType: "image/png", Data: base64.StdEncoding.EncodeToString([]byte(picture))}
	text, blob := block{Type: "resource"}, block{Type: "resource"}
	text.Resource.URI, text.Resource.MimeType, text.Resource.Text = "file:///project/src/main.rs", "text/x-rust", "fn main() {}\n"
	blob.Resource.URI, blob.Resource.MimeType = "file:///home/user/documents/report.pdf", "application/pdf"
	blob.Resource.Blob = base64.StdEncoding.EncodeToString([]byte("%PDF-1.7\n\xff"))
	for uri, want := range map[string]block{
		"file:///project/logo.png": image, text.Resource.URI: text, blob.Resource.URI: blob,
	} {
		var result struct{ Content []block }
		p.call(t, "tools/call", map[string]any{"name": "read_resource", "arguments": map[string]any{"uri": uri}}, &result)
		if !slices.Equal(result.Content, []block{want}) {
			t.Errorf("%s: got %+v, want %+v", uri, result.Content, want)
		}
	}
}
