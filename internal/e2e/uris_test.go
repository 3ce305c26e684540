package e2e

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi/uritemplate"
	"github.com/wasmres/wasmres/internal/dbtest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// uris are the resources that papers on MCP name as examples, each with the example provider that serves it, whether
// that lists it, the type of its content, and a part of it.
var uris = []struct {
	uri, provider string
	listed        bool
	mime, part    string
}{
	{"file:///home/user/documents/report.pdf", "file", true, "application/pdf", "%PDF-1.7"},
	{"file:///project/src/main.rs", "file", true, "", "fn main()"},
	{"file:///project/config.yaml", "file", true, "", "debug: true"},
	{"file:///project/logo.png", "file", true, "image/png", "\x89PNG"},
	{"file:///logs/app.log", "file", true, "", "started"},
	{"file:///config.yaml", "file", true, "", "debug: false"},
	{"file://readme", "file", true, "text/markdown", "# Files"},
	{"file://config", "file", true, "", "debug: false"},
	{"file://changelog", "file", true, "text/markdown", "- it works"},
	{"project://readme", "project", true, "text/markdown", "# Notes"},
	{"project://license", "project", true, "", "MIT"},
	{"project://file/go.mod", "project", true, "", "module notes"},
	{"project://stats/go.mod", "project", false, "application/json", `"lines":1`},
	{"https://ORIGIN/docs/intro.html", "web", true, "text/html", "<h1>Größe</h1>"},
	{"https://ORIGIN/docs/logo.png", "web", true, "image/png", "\x89PNG"},
	{"git://head", "git", true, "application/json", `"main"`},
	{"git://file/src/main.rs", "git", true, "", "fn main()"},
	{"git://log", "git", false, "application/json", "say hello"},
	{"github://repo/ada/main/src/main.rs", "github", false, "text/plain", "fn main()"},
	{"postgres://database/customers/schema", "postgres", false, "application/json", `"name":"city"`},
	{"postgres://localhost/mydb/users", "postgres", false, "application/json", `[1,"Ada"]`},
	{"mysql://analytics/sales/quarterly_reports", "mysql", false, "application/json", `["2026-Q3",1200]`},
	{"memory://context/conversation_history", "memory", true, "text/markdown", "- Ada: hello"},
	{"config://app", "config", true, "application/json", `"port": "8080"`},
	{"config://app/production/database.yml", "settings", true, "application/yaml", `password: "[redacted]"`},
	{"logs://app/2026-11-22/errors", "logs", false, "text/plain", "ERROR disk full"},
	{"screen://localhost/display1", "screenshots", true, "image/png", "\x89PNG"},
	{"greeting://Ada", "hello", false, "text/plain", "Hello, Ada!"},
	{"users://1", "users", false, "application/json", `"name":"Ada Lovelace"`},
	{"db://users/1", "users", true, "application/json", `"name":"Ada Lovelace"`},
	{"sys://load", "sys", true, "application/json", `"15m":`},
	{"sys://memory", "sys", true, "application/json", `"available":`},
	{"api://status", "openapi", true, "application/json", `{"open":true}`},
	{"api://books?genre=science&limit=2", "openapi", false, "application/json", `genre=science&limit=2`},
	{"api://books/7", "openapi", false, "application/json", `{"id":"7"}`},
}

// folders are resources whose answer is several contents, each with its provider and the URI of one of the contents.
var folders = []struct{ uri, provider, content string }{
	{"file:///docs/", "file", "file:///docs/intro.md"},
	{"project://file/docs", "project", "project://file/docs/intro.md"},
}

// templates are those that the papers name.
var templates = []struct{ template, provider string }{
	{"project://file/{filename}", "project"},
	{"project://stats/{filename}", "project"},
	{"github://repo/{owner}/{branch}/{+path}", "github"},
	{"logs://app/{date}/errors", "logs"},
	{"greeting://{name}", "hello"},
	{"users://{user_id}", "users"},
	{"db://users/{user_id}", "users"},
}

// followed are the resources that change while a client follows them, and their providers.
var followed = map[string]string{"memory://context/conversation_history": "memory", "sys://memory": "sys"}

// TestURIsOfThePapers has clients of both eras list, match and read each of the URIs, over stdio and HTTP. The examples
// are served as one, but for settings, which serves URIs of the form of those of config.
func TestURIsOfThePapers(t *testing.T) {
	if os.Getenv("WASMRES_E2E") == "" {
		t.Skip("SKIPPED: this builds and serves all examples: 'make e2e' runs it")
	}
	t.Parallel()
	w := newWorld(t)
	rest := w.serve(t, "settings")
	all := w.serve(t, "hello", "file", "project", "web", "git", "github", "postgres", "mysql", "memory", "config", "logs",
		"screenshots", "users", "sys", "openapi")
	for _, transport := range []string{"stdio", "http"} {
		for _, era := range []string{modernEra, legacyEra} {
			t.Run(transport+" "+era, func(t *testing.T) {
				readAll(t, w, map[string]*peer{"settings": rest.connect(t, transport, era), "": all.connect(t, transport, era)})
			})
		}
	}
}

// readAll reads the URIs from the peers, each of which serves the provider that it is named for, or else all others.
func readAll(t *testing.T, w *world, peers map[string]*peer) {
	offers := map[string]*offer{}
	for name, p := range peers {
		offers[name] = p.offers(t)
	}
	for _, c := range uris {
		t.Run(c.uri, func(t *testing.T) {
			if err := w.missing[c.provider]; err != nil {
				guesttest.Missing(t, "%s: %v", c.provider, err)
			}
			name := c.provider
			if peers[name] == nil {
				name = ""
			}
			offer := offers[name]
			uri := strings.Replace(c.uri, "ORIGIN", strings.TrimPrefix(w.origin.URL, "https://"), 1)
			if c.listed && !offer.resources[uri] || !c.listed && !offer.matches(uri) {
				t.Errorf("%s: got a list and templates without it", uri)
			}
			mime, data := peers[name].read(t, uri)
			if c.mime != "" && mime != c.mime || !strings.Contains(string(data), c.part) {
				t.Errorf("%s: got %s, %.200q, want %s, %q", uri, mime, data, c.mime, c.part)
			}
			if strings.Contains(string(data), secret) {
				t.Errorf("%s shows a secret: %.200q", uri, data)
			}
		})
	}
	for _, c := range folders {
		if w.missing[c.provider] == nil && !slices.Contains(peers[""].contents(t, c.uri), c.content) {
			t.Errorf("%s: got no content %s", c.uri, c.content)
		}
	}
	for _, c := range templates {
		if w.missing[c.provider] == nil && offers[""].templates[c.template] == nil {
			t.Errorf("got no template %s", c.template)
		}
	}
	var uris []string
	for uri, provider := range followed {
		if w.missing[provider] == nil {
			peers[""].follow(t, uri)
			uris = append(uris, uri)
		}
	}
	w.append(t, "memory/conversation_history.md", "- Bob: hello\n")
	peers[""].waitUpdated(t, uris)
}

// An offer is what a server lists.
type offer struct {
	resources map[string]bool
	templates map[string]*uritemplate.Template // by their texts
}

// matches reports whether a URI matches a template.
func (o *offer) matches(uri string) bool {
	for _, template := range o.templates {
		if _, ok := template.Match(uri); ok {
			return true
		}
	}
	return false
}

// offers lists all pages.
func (p *peer) offers(t *testing.T) *offer {
	t.Helper()
	o := &offer{resources: map[string]bool{}, templates: map[string]*uritemplate.Template{}}
	for _, method := range []string{"resources/list", "resources/templates/list"} {
		for cursor := ""; ; {
			params := map[string]any{}
			if cursor != "" {
				params["cursor"] = cursor
			}
			var page struct {
				Resources         []struct{ URI string }
				ResourceTemplates []struct{ URITemplate string }
				NextCursor        string
				Meta              map[string]any `json:"_meta"`
			}
			p.call(t, method, params, &page)
			if degraded := page.Meta["io.github.wasmres/degraded"]; degraded != nil {
				t.Errorf("%s is degraded: %v", method, degraded)
			}
			for _, r := range page.Resources {
				o.resources[r.URI] = true
			}
			for _, r := range page.ResourceTemplates {
				template, err := uritemplate.Parse(r.URITemplate)
				if err != nil {
					t.Fatal(err)
				}
				o.templates[r.URITemplate] = template
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
	}
	return o
}

// read reads a resource that is one content.
func (p *peer) read(t *testing.T, uri string) (mime string, data []byte) {
	t.Helper()
	var result struct {
		Contents []struct {
			URI, MimeType string
			Text, Blob    *string
		}
	}
	p.call(t, "resources/read", map[string]any{"uri": uri}, &result)
	if len(result.Contents) != 1 || result.Contents[0].URI != uri {
		t.Fatalf("%s: got %+v", uri, result)
	}
	c := result.Contents[0]
	if c.Text != nil {
		return c.MimeType, []byte(*c.Text)
	}
	if c.Blob == nil {
		t.Fatalf("%s: got neither text nor blob", uri)
	}
	data, err := base64.StdEncoding.DecodeString(*c.Blob)
	if err != nil {
		t.Fatal(err)
	}
	return c.MimeType, data
}

// contents reads a resource and returns the URIs of its contents.
func (p *peer) contents(t *testing.T, uri string) (uris []string) {
	t.Helper()
	var result struct{ Contents []struct{ URI string } }
	p.call(t, "resources/read", map[string]any{"uri": uri}, &result)
	for _, c := range result.Contents {
		uris = append(uris, c.URI)
	}
	return uris
}

// follow subscribes to a resource.
func (p *peer) follow(t *testing.T, uri string) {
	t.Helper()
	if p.era == legacyEra {
		p.call(t, "resources/subscribe", map[string]any{"uri": uri}, new(json.RawMessage))
		return
	}
	p.listen(t, uri)
}

// waitUpdated waits until each resource was said to have been updated.
func (p *peer) waitUpdated(t *testing.T, uris []string) {
	t.Helper()
	waiting := map[string]bool{}
	for _, uri := range uris {
		waiting[uri] = true
	}
	for end := time.After(time.Minute); len(waiting) > 0; {
		select {
		case uri := <-p.updated:
			delete(waiting, uri)
		case <-end:
			t.Fatalf("not told of %v", waiting)
		}
	}
}

// errNotBuilt is why a provider is not served whose build was skipped.
var errNotBuilt = errors.New("it was not built")

// secret is what nothing that is read may have in it.
const secret = "hunter2hunter2"

// A world has what the examples are granted.
type world struct {
	dir     string
	origin  *origin
	missing map[string]error    // why a provider is not served
	grants  map[string][]string // flags of a provider
	env     []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), missing: map[string]error{}, grants: map[string][]string{}}
	w.makeFiles(t)
	w.makeRepository(t)
	w.origin = newOrigin(t, filepath.Join(w.dir, "repo"))
	w.env = append(os.Environ(), "SSL_CERT_FILE="+w.origin.certificate, "GITHUB_TOKEN="+secret)
	for provider, folder := range map[string]string{"file": "files:/files", "project": "repo:/project", "git": "repo:/repo",
		"memory": "memory:/memory", "config": "config:/config", "settings": "settings:/config", "logs": "logs:/logs",
		"screenshots": "screens:/screens"} {
		w.grant(provider, "--dir", filepath.Join(w.dir, folder)+":ro")
	}
	at := w.origin.URL
	w.grant("sys", "--dir", "/proc:/proc:ro")
	_, w.missing["sys"] = os.Stat("/proc/loadavg")
	w.grant("web", "--net", at, "--config", "pages="+at+"/docs/intro.html "+at+"/docs/logo.png")
	w.grant("github", "--net", at, "--secret", "github=env:GITHUB_TOKEN", "--config", "authorization=Bearer {{secret:github}}",
		"--config", "api="+at+"/api/v3", "--config", "repository=notes")
	w.grant("openapi", "--net", at, "--config", "server="+at+"/v1")
	w.missing["screenshots"] = w.captureDisplay(t)
	w.missing["users"] = w.startSQLite(t)
	w.missing["postgres"] = w.startPostgres(t)
	w.missing["mysql"] = w.startMariaDB(t)
	return w
}

// grant adds flags, by pairs of a flag and its value.
func (w *world) grant(provider string, flags ...string) {
	for i := 0; i < len(flags); i += 2 {
		w.grants[provider] = append(w.grants[provider], flags[i], provider+"="+flags[i+1])
	}
}

// unless returns nil, or why a provider is not served: what it needs is not installed. Other errors end the test.
func unless(t *testing.T, err error) error {
	t.Helper()
	if err != nil && !errors.Is(err, dbtest.ErrMissing) {
		t.Fatal(err)
	}
	return err
}
