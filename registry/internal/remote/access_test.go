package remote_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/netaddr"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/remote"
)

// An internet is a proxy and the servers that it knows by name.
type internet struct {
	authority *certtest.Authority
	proxy     *url.URL
	servers   map[string]string // host:port → address
}

func newInternet(t *testing.T) *internet {
	t.Helper()
	n := &internet{authority: certtest.NewAuthority(t), servers: map[string]string{}}
	s := httptest.NewServer(http.HandlerFunc(n.connect))
	t.Cleanup(s.Close)
	n.proxy, _ = url.Parse(s.URL)
	return n
}

// serve adds a server with TLS, or, at port 80, without.
func (n *internet) serve(t *testing.T, host string, h http.Handler) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if strings.HasSuffix(host, ":80") {
		s.Start()
	} else {
		name, _, _ := net.SplitHostPort(host)
		cert := n.authority.Issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}})
		s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		s.EnableHTTP2 = true
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	n.servers[host] = s.Listener.Addr().String()
}

// connect is the proxy: a tunnel, or a request that it passes on.
func (n *internet) connect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		r.RequestURI, r.URL.Host = "", n.servers[r.URL.Host+":80"]
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for k, v := range resp.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
		return
	}
	to, err := net.Dial("tcp", n.servers[r.Host])
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer to.Close()
	w.WriteHeader(http.StatusOK)
	from, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	go func() { _, _ = io.Copy(to, buffered); _ = to.Close() }()
	_, _ = io.Copy(from, to)
}

// options reach the servers, with the credentials of docker's configuration.
func (n *internet) options(t *testing.T, auths ...string) remote.Options {
	t.Helper()
	o := quick
	o.Authorities = n.authority.Pool()
	o.Proxy = func(*http.Request) (*url.URL, error) { return n.proxy, nil }
	dir := t.TempDir()
	config := ""
	for _, host := range auths {
		config += fmt.Sprintf(`,%q:{"username":"ada","password":"s3cret"}`, host)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"auths":{`+strings.TrimPrefix(config, ",")+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.Credentials, err = remote.DockerCredentials(dir); err != nil {
		t.Fatal(err)
	}
	return o
}

// record keeps what servers got as Authorization.
type record struct {
	mu   sync.Mutex
	seen []string
}

func (r *record) note(req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, req.Host+" "+req.Header.Get("Authorization"))
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.seen, "\n")
}

func TestCredentialsDoNotFollowRedirects(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"https://blobs.example/x", "https://registry.example:8443/x"} {
		t.Run(to, func(t *testing.T) {
			n, elsewhere := newInternet(t), &record{}
			h := startHostile(t, func(h *hostile) {
				h.authorize = func(user, password string) bool { return user == "ada" && password == "s3cret" }
				h.handle = func(w http.ResponseWriter, r *http.Request) bool {
					if isBlob(r, h.provider.Module) {
						http.Redirect(w, r, to+"?X-Amz-Signature=f00", http.StatusTemporaryRedirect)
						return true
					}
					return false
				}
			})
			n.serve(t, "registry.example:443", h)
			u, _ := url.Parse(to)
			at := u.Host
			if u.Port() == "" {
				at += ":443"
			}
			n.serve(t, at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				elsewhere.note(r)
				_, _ = w.Write(h.module)
			}))
			h.host = "registry.example"
			got, err := h.pull(t, n.options(t, "registry.example"))
			if err != nil || !bytes.Equal(got.Bytes(h.provider.Module.Digest), h.module) {
				t.Fatal(err)
			}
			if want := u.Host + " "; elsewhere.String() != want {
				t.Errorf("the other server got %q, want %q", elsewhere, want)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	n, asked := newInternet(t), &record{}
	h := startHostile(t, func(h *hostile) {
		h.handle = func(w http.ResponseWriter, r *http.Request) bool {
			if r.ProtoMajor != 2 {
				t.Errorf("asked by %s", r.Proto)
			}
			if r.Header.Get("Authorization") == "Bearer t0ken-of-the-server" {
				return false
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="https://auth.example/token",service="registry.example",scope="repository:n:pull"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
	})
	n.serve(t, "registry.example:443", h)
	n.serve(t, "auth.example:443", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.note(r)
		if q := r.URL.Query(); q.Get("service") != "registry.example" || q.Get("scope") != "repository:n:pull" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"token":"t0ken-of-the-server"}`)
	}))
	h.host = "registry.example"
	if _, err := h.pull(t, n.options(t, "registry.example")); err != nil {
		t.Fatal(err)
	}
	if want := "auth.example Basic YWRhOnMzY3JldA=="; asked.String() != want {
		t.Errorf("the token server was asked %q, want once %q", asked, want)
	}
}

func TestErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	h := startHostile(t, func(h *hostile) {
		h.authorize = func(string, string) bool { return true }
		h.handle = func(w http.ResponseWriter, r *http.Request) bool {
			if !isBlob(r, h.provider.Module) {
				return false
			}
			user, password, _ := r.BasicAuth()
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"errors":[{"code":"DENIED","message":"%s with %s (%s) may not"}]}`, user, password, r.Header.Get("Authorization"))
			return true
		}
	})
	n.serve(t, "registry.example:443", h)
	h.host = "registry.example"
	_, err := h.pull(t, n.options(t, "registry.example"))
	if err == nil || !strings.Contains(err.Error(), "DENIED ada with … (Basic …) may not") {
		t.Error(err)
	}
	t.Run("of a signed URL", func(t *testing.T) {
		signed := startHostile(t, func(h *hostile) {
			h.handle = func(w http.ResponseWriter, r *http.Request) bool {
				if isBlob(r, h.provider.Module) {
					http.Redirect(w, r, "https://user:pw@gone.example/x?X-Amz-Signature=f00", http.StatusTemporaryRedirect)
				}
				return isBlob(r, h.provider.Module)
			}
		})
		n.serve(t, "signed.example:443", signed)
		signed.host = "signed.example"
		_, err := signed.pull(t, n.options(t))
		if err == nil || strings.Contains(err.Error(), "f00") || strings.Contains(err.Error(), "pw@") {
			t.Error(err)
		}
	})
	t.Run("of a configuration", func(t *testing.T) {
		for _, config := range []string{`{"auths":{"registry.example":{"auth":"czNjcmV0"}}}`, `{"auths":{"registry.example":{"auth":"s3cret"}}}`, `s3cret`} {
			o := n.options(t)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			o.Credentials, _ = remote.DockerCredentials(dir)
			_, err := h.pull(t, o)
			if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: %v", config, err)
			}
		}
	})
}

func TestPlainHTTPIsForLoopbackOrByChoice(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	h := startHostile(t, func(*hostile) {})
	n.serve(t, "registry.example:80", h)
	n.servers["registry.example:443"] = n.servers["registry.example:80"]
	h.host = "registry.example"
	o := n.options(t)
	if _, err := h.pull(t, o); err == nil {
		t.Error("plain HTTP was used without a choice")
	}
	o.PlainHTTP = func(host string) bool { return host == "registry.example" }
	if _, err := h.pull(t, o); err != nil {
		t.Error(err)
	}
}

func TestMirrors(t *testing.T) {
	t.Parallel()
	is := func(r *http.Request, part string) bool { return strings.Contains(r.URL.Path, part) }
	for name, test := range map[string]struct {
		mirror func(h *hostile) func(http.ResponseWriter, *http.Request) bool
		blobs  bool // the registry itself is asked for blobs
	}{
		"good": {nil, false},
		"empty": {func(*hostile) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool { http.NotFound(w, r); return true }
		}, true},
		"tampered": {func(h *hostile) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if isBlob(r, h.provider.Module) {
					_, _ = w.Write(bytes.ToUpper(h.module))
				}
				return isBlob(r, h.provider.Module)
			}
		}, true},
		"tampered manifest": {func(h *hostile) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if is(r, "/manifests/") {
					w.Header().Set("Content-Type", oci.ManifestType)
					_, _ = w.Write(bytes.Replace(h.provider.ManifestBytes, []byte("notes"), []byte("n0tes"), 1))
				}
				return is(r, "/manifests/")
			}
		}, false},
		"hanging": {func(h *hostile) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if isBlob(r, h.provider.Module) && r.Header.Get("Range") != "" {
					w.WriteHeader(http.StatusGone)
					return true
				}
				return stopHalfWay(h, w, r)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirror := startHostile(t, func(h *hostile) {
				if test.mirror != nil {
					h.handle = test.mirror(h)
				}
			})
			var mu sync.Mutex
			blobs := false
			h := startHostile(t, func(h *hostile) {
				h.handle = func(_ http.ResponseWriter, r *http.Request) bool {
					mu.Lock()
					defer mu.Unlock()
					blobs = blobs || isBlob(r, h.provider.Module)
					return false
				}
			})
			o := quick
			if name == "hanging" {
				o.Idle = time.Second
			}
			o.Mirrors = map[string][]string{h.host: {mirror.host + "/proxy"}}
			got, err := h.pull(t, o)
			if err != nil || !bytes.Equal(got.Bytes(h.provider.Module.Digest), h.module) {
				t.Fatal(err)
			}
			if blobs != test.blobs || mirror.requests.Load() == 0 {
				t.Errorf("the registry was asked for the module: %v; the mirror had %d requests", blobs, mirror.requests.Load())
			}
		})
	}
	t.Run("of a registry that is gone", func(t *testing.T) {
		mirror := startHostile(t, func(*hostile) {})
		o := quick
		o.Mirrors = map[string][]string{"127.0.0.1:1": {mirror.host}}
		r := repository(t, newClient(t, o), "127.0.0.1:1/n")
		if d, err := r.Resolve(t.Context(), string(mirror.provider.Manifest.Digest)); err != nil || d.Size != mirror.provider.Manifest.Size {
			t.Errorf("by digest: %+v, %v", d, err)
		}
		if _, err := r.Resolve(t.Context(), "1.0"); !errors.Is(err, oci.ErrInterrupted) {
			t.Errorf("by tag: %v", err)
		}
	})
}

func TestLoginTakesAHost(t *testing.T) {
	t.Parallel()
	creds, err := remote.DockerCredentials(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, remote.Options{Credentials: creds})
	for _, host := range []string{"https://ghcr.io", "ghcr.io/ada", "", "a b", "../x"} {
		if err := c.Login(t.Context(), host, "ada", "s3cret"); err == nil || !strings.Contains(err.Error(), "host of a registry") {
			t.Errorf("log in to %q: %v", host, err)
		}
		if err := c.Logout(t.Context(), host); err == nil {
			t.Errorf("logged out of %q", host)
		}
	}
}

func TestShortNamesOfDocker(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	h := startHostile(t, func(h *hostile) {
		h.handle = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/v2/library/n/") {
				http.NotFound(w, r)
				return true
			}
			return false
		}
	})
	n.serve(t, "registry-1.docker.io:443", h)
	h.host = "docker.io"
	if _, err := h.pull(t, n.options(t)); err != nil {
		t.Error(err)
	}
}

// privateAddress returns one of this machine that is private, and another spelling of it.
func privateAddress(t *testing.T) (addr netip.Addr, spelled string) {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || netaddr.Special(prefix.Addr()) != "private" {
			continue
		}
		if addr := prefix.Addr(); addr.Is4() {
			return addr, "[::ffff:" + addr.String() + "]"
		}
		return prefix.Addr(), "[" + prefix.Addr().StringExpanded() + "]"
	}
	t.Skip("this machine has no private address")
	return addr, ""
}

// serveAt starts a server with TLS at an address, and returns its port.
func serveAt(t *testing.T, authority *certtest.Authority, addr netip.Addr, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(addr.String(), "0"))
	if err != nil {
		t.Skipf("a server at the private address %s: %v", addr, err)
	}
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	cert := authority.Issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "private"}, IPAddresses: []net.IP{addr.AsSlice()}})
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func TestPrivateRegistries(t *testing.T) {
	t.Parallel()
	addr, spelled := privateAddress(t)
	authority := certtest.NewAuthority(t)
	for name, test := range map[string]struct {
		realm string // empty for the token server at the private address
		want  string // empty: it succeeds
	}{
		"token server at a private address": {"", ""},
		"token server at metadata":          {"https://169.254.169.254/token", "link-local"},
		"token server at loopback":          {"https://localhost:1/token", "loopback"},
		"token server by HTTP":              {"http://10.0.0.1/token", "uses http"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := &record{}
			port := serveAt(t, authority, addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.note(r)
				if q := r.URL.Query(); r.URL.Path != "/jwt/auth" || q.Get("service") != "registry" || q.Get("account") != "x" || r.Host == "" {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				fmt.Fprint(w, `{"token":"t0ken-of-the-server"}`)
			}))
			realm := test.realm
			if realm == "" {
				realm = "https://" + spelled + ":" + port + "/jwt/auth?account=x"
			}
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, r *http.Request) bool {
					if r.Header.Get("Authorization") == "Bearer t0ken-of-the-server" {
						return false
					}
					w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`",service="registry"`)
					w.WriteHeader(http.StatusUnauthorized)
					return true
				}
			})
			h.host = net.JoinHostPort(addr.String(), serveAt(t, authority, addr, h))
			o := newInternet(t).options(t, h.host)
			o.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
			o.Authorities = authority.Pool()
			_, err := h.pull(t, o)
			if test.want == "" && (err != nil || asked.String() != spelled+":"+port+" Basic YWRhOnMzY3JldA==") {
				t.Errorf("%v; the token server was asked %q", err, asked)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || asked.String() != "") {
				t.Errorf("%v; want %s", err, test.want)
			}
		})
	}
}

func TestALoginKeepsTheRestOfTheConfiguration(t *testing.T) {
	t.Parallel()
	dir, real := t.TempDir(), filepath.Join(t.TempDir(), "real.json")
	if err := os.WriteFile(real, []byte(`{"proxies":{"default":{}},"auths":{"other.example":{"auth":"YTpi"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(dir, "config.json")); err != nil {
		t.Skip(err)
	}
	creds, err := remote.DockerCredentials(dir)
	if err != nil {
		t.Fatal(err)
	}
	h := startHostile(t, func(h *hostile) {
		h.authorize = func(user, password string) bool { return user == "ada" && password == "s3cret" }
		h.handle = func(_ http.ResponseWriter, r *http.Request) bool { return r.URL.Path == "/v2/" }
	})
	c := newClient(t, remote.Options{Credentials: creds})
	if err := c.Login(t.Context(), h.host, "ada", "s3cret"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "config.json")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	text, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"proxies"`, `"other.example"`, `"` + h.host + `"`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the file: %v, %v", info.Mode(), err)
	}
}
