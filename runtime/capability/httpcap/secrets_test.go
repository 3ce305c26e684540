package httpcap_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

const token = "s3cr3t-t0k3n/+="

func store(t testing.TB) *secret.Store {
	t.Helper()
	sources := map[string]secret.Source{}
	for name, text := range map[string]string{"token": token, "other": "another-secret"} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sources[name] = secret.File(file)
	}
	s, err := secret.Open(sources)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// authorized returns a request with a secret.
func authorized(url, name string) abi.HTTPRequest {
	return abi.HTTPRequest{URL: url, Header: []abi.HTTPField{{Name: "Authorization", Value: "Bearer {{secret:" + name + "}}"}}}
}

// echoing returns a server that returns what it received, in every spelling, in the header, and in pieces of any size.
func echoing(seen func(r *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen(r)
		text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.Header().Set("X-Echo-Base64", base64.StdEncoding.EncodeToString([]byte("user:"+text)))
		w.Header()["X-"+text] = []string{"a name"}
		step := 1
		_, _ = fmt.Sscan(r.URL.Query().Get("step"), &step)
		filler := strings.Repeat(".", 100)
		if r.URL.Query().Has("long") {
			filler = strings.Repeat(".", 200<<10)
		}
		var b strings.Builder
		for _, spelling := range spellings(text) {
			b.WriteString(filler + spelling)
		}
		for body := b.String(); body != ""; {
			n := min(step, len(body))
			if _, err := io.WriteString(w, body[:n]); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			body = body[n:]
		}
	})
}

// shows returns the spelling in which a text shows the secret; empty if there is none.
func shows(text string) string {
	for name, spelling := range spellings(token) {
		if strings.Contains(text, core(name, spelling, token)) {
			return name
		}
	}
	return ""
}

func TestSecretsAreSentAndRedacted(t *testing.T) {
	var mu sync.Mutex
	var got []string
	o := newOrigin(t, echoing(func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Header.Get("Authorization"))
	}))
	rule := everything(o)
	rule.Secrets = []string{"token"}
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{rule}, Secrets: store(t)})
	for _, query := range []string{"?step=7", "?step=64", "?step=4096&long"} {
		resp, body, err := g.read(t.Context(), authorized(o.at("a.test", "/"+query), "token"))
		if err != nil || !strings.Contains(body, secret.Redacted) {
			t.Fatalf("%s: got %d bytes, %v", query, len(body), err)
		}
		all := body
		for _, f := range resp.Header {
			all += "\n" + f.Name + ": " + f.Value
		}
		if how := shows(all); how != "" {
			t.Errorf("%s: the answer has the secret as %s", query, how)
		}
		if headerOf(resp, "X-Echo") != "Bearer [redacted]" || headerOf(resp, "Content-Length") != "" {
			t.Errorf("%s: got the header %+v", query, resp.Header)
		}
	}
	for _, authorization := range got {
		if authorization != "Bearer "+token {
			t.Errorf("the server got %q", authorization)
		}
	}
	if len(got) != 3 {
		t.Errorf("the server was asked %d times", len(got))
	}
}

// Names of header fields are changed to another case on the way.
func TestSecretsAreRedactedFromNames(t *testing.T) {
	o := newOrigin(t, echoing(func(*http.Request) {}))
	rule := everything(o)
	rule.Secrets = []string{"other"}
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{rule}, Secrets: store(t)})
	resp, _, err := g.read(t.Context(), authorized(o.at("a.test", "/"), "other"))
	if err != nil || len(resp.Header) < 2 {
		t.Fatalf("got %+v, %v", resp, err)
	}
	for _, f := range resp.Header {
		if strings.Contains(strings.ToLower(f.Name), "another-secret") {
			t.Errorf("the name of a field is %q", f.Name)
		}
	}
}

// A secret that a server has stored is redacted from its later answers, too.
func TestSecretsAreRedactedFromLaterAnswers(t *testing.T) {
	kept := ""
	o := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a := r.Header.Get("Authorization"); a != "" {
			kept = a
		}
		fmt.Fprint(w, kept)
	}))
	rule := everything(o)
	rule.Secrets = []string{"token"}
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{rule}, Secrets: store(t)})
	for _, req := range []abi.HTTPRequest{authorized(o.at("a.test", "/"), "token"), {URL: o.at("a.test", "/")}} {
		if _, body, err := g.read(t.Context(), req); body != "Bearer [redacted]" || err != nil {
			t.Errorf("got %q, %v", body, err)
		}
	}
	ranged := authorized(o.at("a.test", "/"), "token")
	ranged.Header = append(ranged.Header, abi.HTTPField{Name: "Range", Value: "bytes=7-9"})
	if _, _, err := g.ask(t.Context(), ranged); abi.CodeOf(err) != abi.CodeInvalidParams {
		t.Errorf("a part of an answer to a secret: got %v", err)
	}
}

// A missing secret and one that is not granted are refused alike, and before a connection is opened.
func TestSecretsThatAreNotGranted(t *testing.T) {
	o := newOrigin(t, site())
	dns, names := resolver(t, nil)
	rule := everything(o)
	rule.Secrets = []string{"token"}
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{rule}, Secrets: store(t), Resolver: dns})
	outcome := func(name string) string {
		_, _, err := g.ask(t.Context(), authorized(o.at("a.test", "/ok"), name))
		use := g.last()
		return fmt.Sprint(abi.CodeOf(err), err, errors.Unwrap(err), use.Subject, use.Rule)
	}
	unknown, withheld := outcome("none"), outcome("other")
	if unknown != withheld || !strings.Contains(unknown, "denied") || !strings.Contains(unknown, "secret: not named by") {
		t.Errorf("one that does not exist: %s\none that is not granted: %s", unknown, withheld)
	}
	if n := names.lookups(); n != 0 {
		t.Errorf("%d names were looked up", n)
	}
}

// A redirected request carries only the secrets that are for the new host.
func TestRedirectsDoNotCarrySecretsAway(t *testing.T) {
	var mu sync.Mutex
	got := map[string]http.Header{}
	o := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		host, _, _ := strings.Cut(r.Host, ":")
		got[host] = r.Header.Clone()
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	one, other, third := everything(o), everything(o), everything(o)
	one.Host, one.Secrets = "a.test", []string{"token"}
	other.Host = "b.test"
	third.Host, third.Secrets = "c.test", []string{"token"}
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{one, other, third}, Secrets: store(t)})
	for to, want := range map[string]string{
		o.at("a.test", "/"): "Bearer " + token + "|key|plain", o.at("b.test", "/"): "||plain",
		o.at("c.test", "/"): "Bearer " + token + "||plain",
	} {
		clear(got)
		req := authorized(o.at("a.test", "/?to="+to), "token")
		req.Header = append(req.Header,
			abi.HTTPField{Name: "X-Api-Key", Value: "key"}, abi.HTTPField{Name: "X-Plain", Value: "plain"})
		if _, _, err := g.read(t.Context(), req); err != nil {
			t.Errorf("%s: %v", to, err)
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(to, "https://"), ":")
		h := got[host]
		if have := h.Get("Authorization") + "|" + h.Get("X-Api-Key") + "|" + h.Get("X-Plain"); have != want {
			t.Errorf("%s got %q, want %q", to, have, want)
		}
	}
}

// Errors, observed uses and the log have no secrets, in any spelling.
func TestErrorsAndLogsHaveNoSecrets(t *testing.T) {
	var logged lockedBuffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	writer := log.Writer()
	log.SetOutput(&logged)
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(writer)
	})
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch r.URL.Path {
		case "/redirect":
			w.Header().Set("Location", "https://attacker.example/"+text+"?"+text)
			w.WriteHeader(http.StatusFound)
		case "/scheme":
			w.Header().Set("Location", text+" "+text)
			w.WriteHeader(http.StatusFound)
		case "/port":
			w.Header().Set("Location", "http://a.test:"+text+"/")
			w.WriteHeader(http.StatusFound)
		case "/here":
			w.Header().Set("Location", "/end?"+text)
			w.WriteHeader(http.StatusFound)
		case "/broken":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 "+text+"\r\n"+text+"\r\n\r\n")
				_ = conn.Close()
			}
		case "/encoded":
			w.Header().Set("Content-Encoding", text)
		}
	}))
	t.Cleanup(plain.Close)
	port := portOf(t, plain.Listener)
	rule := httpcap.Rule{Scheme: "http", Host: "a.test", Ports: []uint16{port}, Private: true, Secrets: []string{"token"}}
	g := open(t, nil, httpcap.Config{Rules: []httpcap.Rule{rule}, Secrets: store(t)})
	for _, path := range []string{"/redirect", "/scheme", "/port", "/here", "/broken", "/encoded", "/" + token} {
		resp, _, err := g.ask(t.Context(), authorized(fmt.Sprintf("http://a.test:%d%s", port, path), "token"))
		var told strings.Builder
		for e := err; e != nil; e = errors.Unwrap(e) {
			fmt.Fprintf(&told, "%v %+v %#v\n", e, e, e)
		}
		slog.Debug("a request", "err", err, "use", g.last(), "response", resp)
		fmt.Fprintf(&told, "%+v %+v", g.last(), resp)
		if how := shows(told.String()); how != "" {
			t.Errorf("%s: it has the secret as %s: %s", path, how, told.String())
		}
		if path != "/here" && !strings.HasSuffix(path, token) && err == nil {
			t.Errorf("%s: no error", path)
		}
	}
	if how := shows(logged.String()); how != "" {
		t.Errorf("the log has the secret as %s: %s", how, logged.String())
	}
	if !strings.Contains(logged.String(), "a request") {
		t.Error("nothing was logged")
	}
}

// A lockedBuffer can be written by several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
