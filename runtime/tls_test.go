package runtime_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// serveTLS serves a source by TLS until the test ends or calls stop, and returns the endpoint.
func serveTLS(t *testing.T, source resource.Source, opts runtime.ServerOptions) (endpoint string, stop func() error) {
	t.Helper()
	opts.Name, opts.Version = "test", "1"
	server, err := runtime.NewServer(source, &opts)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() { _ = stop() })
	return "https://" + listener.Addr().String() + "/mcp", stop
}

// client returns a client of one version of HTTP.
func client(ca *certtest.Authority, version2 bool, own ...tls.Certificate) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!version2)
	protocols.SetHTTP2(version2)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), Certificates: own}, Protocols: protocols,
	}}
}

// post sends a request of the newest revision.
func post(t *testing.T, c *http.Client, endpoint, method, params string) (*http.Response, error) {
	t.Helper()
	like := streamtest.Post(streamtest.Body("1", method, params))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, like.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = like.Header
	response, err := c.Do(r)
	if err == nil {
		t.Cleanup(func() { response.Body.Close() })
	}
	return response, err
}

// By TLS, too, requests are answered, and streams have changes and an end, whatever the version of HTTP.
func TestServeTLS(t *testing.T) {
	ca := certtest.NewAuthority(t)
	source := streamtest.Source()
	cfg := &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, &x509.Certificate{})}}
	endpoint, stop := serveTLS(t, source, runtime.ServerOptions{TLS: cfg})
	var streams []*bufio.Reader
	for _, version2 := range []bool{false, true} {
		c := client(ca, version2)
		response, err := post(t, c, endpoint, "resources/read", `"uri":"test://text"`)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || !strings.Contains(string(body), "hello") || (response.ProtoMajor == 2) != version2 {
			t.Errorf("by %s: got %s, %v", response.Proto, body, err)
		}
		download, err := c.Get(endpoint + "?uri=" + url.QueryEscape("test://text"))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(download.Body); string(body) != "hello" || err != nil {
			t.Errorf("by %s: downloaded %s, %v", response.Proto, body, err)
		}
		download.Body.Close()
		response, err = post(t, c, endpoint, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://text"]}`)
		if err != nil {
			t.Fatal(err)
		}
		stream := bufio.NewReader(response.Body)
		awaitLine(t, stream, "acknowledged")
		streams = append(streams, stream)
	}
	source.Text("test://text", "changed")
	for _, stream := range streams {
		awaitLine(t, stream, "notifications/resources/updated")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	for i, stream := range streams {
		rest, err := io.ReadAll(stream)
		if err != nil || !strings.Contains(string(rest), `"resultType":"complete"`) {
			t.Errorf("stream %d ended with %s, %v", i, rest, err)
		}
	}
}

func awaitLine(t *testing.T, r *bufio.Reader, want string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("before %s: %v", want, err)
		}
		if strings.Contains(line, want) {
			return
		}
	}
}

// Clients beyond the bound on connections cost those that have been idle for longest theirs.
func TestConnectionsByTLSHaveABound(t *testing.T) {
	ca := certtest.NewAuthority(t)
	cfg := &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, &x509.Certificate{})}}
	endpoint, _ := serveTLS(t, streamtest.Source(), runtime.ServerOptions{TLS: cfg, MaxConnections: 2})
	silent, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(endpoint, "https://"), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for range 4 {
		response, err := post(t, client(ca, false), endpoint, "resources/read", `"uri":"test://text"`)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response, err)
		}
		io.Copy(io.Discard, response.Body)
	}
	_ = silent.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := silent.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the silent connection: %v", err)
	}
}

// A client is named by its certificate, of which the provider gets the name.
func TestClientsAreNamedByCertificates(t *testing.T) {
	ca, other := certtest.NewAuthority(t), certtest.NewAuthority(t)
	source := mcptest.New()
	source.Handle(abi.Resource{URI: "test://who", Name: "who"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, []byte("it is "+req.Principal.Subject))
	})
	cfg := &tls.Config{
		Certificates: []tls.Certificate{ca.Issue(t, &x509.Certificate{})}, ClientCAs: ca.Pool(), ClientAuth: tls.RequireAndVerifyClientCert,
	}
	endpoint, _ := serveTLS(t, source, runtime.ServerOptions{TLS: cfg, Auth: auth.Certificates{}})
	spiffe, err := url.Parse("spiffe://acme/ada")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		own  *x509.Certificate
		want string
	}{
		"URI":         {&x509.Certificate{URIs: []*url.URL{spiffe}, DNSNames: []string{"ada.example"}}, "it is spiffe://acme/ada"},
		"DNS name":    {&x509.Certificate{DNSNames: []string{"ada.example"}, Subject: certtest.Name("x")}, "it is ada.example"},
		"common name": {&x509.Certificate{Subject: certtest.Name("ada")}, "it is ada"},
		"no name":     {&x509.Certificate{}, "401"},
		"odd name":    {&x509.Certificate{Subject: certtest.Name("a\u202eb")}, "401"},
	} {
		for _, version2 := range []bool{false, true} {
			response, err := post(t, client(ca, version2, ca.Issue(t, c.own)), endpoint, "resources/read", `"uri":"test://who"`)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			body, err := io.ReadAll(response.Body)
			if got := fmt.Sprint(response.StatusCode, " ", string(body)); err != nil || !strings.Contains(got, c.want) {
				t.Errorf("%s: got %s, %v", name, got, err)
			}
		}
	}
	foreign := client(ca, false, other.Issue(t, &x509.Certificate{Subject: certtest.Name("eve")}))
	for name, c := range map[string]*http.Client{"none": client(ca, false), "of another authority": foreign} {
		if response, err := post(t, c, endpoint, "resources/read", `"uri":"test://who"`); err == nil {
			t.Errorf("%s: status %d", name, response.StatusCode)
		}
	}
}

// On streams no client can be authenticated.
func TestStreamsHaveNoAuthentication(t *testing.T) {
	s, err := runtime.NewServer(streamtest.Source(), &runtime.ServerOptions{Name: "test", Version: "1", Auth: auth.Certificates{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ServeStdio(t.Context(), strings.NewReader(""), io.Discard); err == nil {
		t.Error("the server has served")
	}
	_, err = runtime.NewServer(streamtest.Source(), &runtime.ServerOptions{Name: "test", Version: "1", RatePerSecond: -1})
	if err == nil {
		t.Error("a negative rate was accepted")
	}
}
