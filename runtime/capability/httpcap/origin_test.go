package httpcap_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// An origin is a TLS server on this machine, with a certificate of its own for all names below "test".
type origin struct {
	*httptest.Server
	roots *x509.CertPool
	port  uint16
}

func newOrigin(t testing.TB, handler http.Handler) *origin {
	t.Helper()
	cert, roots := certificate(t)
	o := &origin{Server: httptest.NewUnstartedServer(handler), roots: roots}
	o.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	o.Config.ErrorLog = log.New(io.Discard, "", 0) // tests close connections on purpose
	o.EnableHTTP2 = true
	o.StartTLS()
	t.Cleanup(o.Close)
	o.port = portOf(t, o.Listener)
	return o
}

// at returns a URL of the origin, by a name that [names] resolves to this machine.
func (o *origin) at(name, path string) string {
	return "https://" + name + ":" + strconv.Itoa(int(o.port)) + path
}

func portOf(t testing.TB, l net.Listener) uint16 {
	t.Helper()
	addr, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return addr.Port()
}

func certificate(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"*.test", "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// names is a DNS server with fixed answers, in turns.
type names struct {
	mu      sync.Mutex
	answers map[string][]netip.Addr // guarded by mu; by name; the last stays
	asked   int                     // guarded by mu
}

// resolver asks a DNS server on this machine. Names that are not in answers are at 127.0.0.1.
func resolver(t testing.TB, answers map[string][]netip.Addr) (*net.Resolver, *names) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{answers: answers}
	var running sync.WaitGroup
	running.Go(func() { n.serve(conn) })
	t.Cleanup(func() {
		_ = conn.Close()
		running.Wait()
	})
	address := conn.LocalAddr().String()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", address)
	}}, n
}

func (n *names) serve(conn net.PacketConn) {
	for {
		b := make([]byte, 512)
		size, from, err := conn.ReadFrom(b)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(b[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Response, m.Authoritative, m.RecursionAvailable = true, true, true
		m.Additionals = nil
		m.Answers = n.answer(m.Questions[0])
		if packed, err := m.Pack(); err == nil {
			_, _ = conn.WriteTo(packed, from)
		}
	}
}

// answer returns the next address of a name when its family is asked for.
func (n *names) answer(q dnsmessage.Question) []dnsmessage.Resource {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	name := strings.TrimSuffix(q.Name.String(), ".")
	list, known := n.answers[name]
	if !known {
		list = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	}
	head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
	var body dnsmessage.ResourceBody
	switch addr := list[0]; {
	case q.Type == dnsmessage.TypeA && addr.Is4():
		body = &dnsmessage.AResource{A: addr.As4()}
	case q.Type == dnsmessage.TypeAAAA && addr.Is6():
		body = &dnsmessage.AAAAResource{AAAA: addr.As16()}
	default:
		return nil
	}
	if len(list) > 1 {
		n.answers[name] = list[1:]
	}
	return []dnsmessage.Resource{{Header: head, Body: body}}
}

func (n *names) lookups() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

// A guest calls the services and records the observed uses.
type guest struct {
	t        testing.TB
	http     *httpcap.HTTP
	services capability.Services

	mu   sync.Mutex
	uses []capability.Use // guarded by mu
}

// open opens the capability for the origin, with the rest of cfg.
func open(t testing.TB, o *origin, cfg httpcap.Config) *guest {
	t.Helper()
	g := &guest{t: t}
	if cfg.Observe == nil {
		cfg.Observe = g.observe
	}
	if o != nil {
		cfg.RootCAs = o.roots
	}
	if cfg.Resolver == nil {
		cfg.Resolver, _ = resolver(t, nil)
	}
	h, err := httpcap.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	g.http, g.services = h, h.Services()
	return g
}

func (g *guest) observe(_ context.Context, use capability.Use) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.uses = append(g.uses, use)
}

// last returns the last observed use.
func (g *guest) last() capability.Use {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.uses) == 0 {
		g.t.Fatal("no use was observed")
	}
	return g.uses[len(g.uses)-1]
}

// ask sends a request and gives the first answer.
func (g *guest) ask(ctx context.Context, req abi.HTTPRequest) (resp abi.HTTPResponse, body []byte, err error) {
	g.t.Helper()
	r, err := g.services[abi.ServiceHTTP].Call(ctx, req.Append(nil))
	if err == nil {
		err = resp.Decode(r.Message)
	}
	return resp, r.Body, err
}

// read sends a request and reads the answer to its end.
func (g *guest) read(ctx context.Context, req abi.HTTPRequest) (resp abi.HTTPResponse, body string, err error) {
	g.t.Helper()
	resp, first, err := g.ask(ctx, req)
	body = string(first)
	for more := resp.Stream != 0; more && err == nil; {
		var part []byte
		part, more, err = g.next(ctx, resp.Stream)
		body += string(part)
	}
	return resp, body, err
}

func (g *guest) next(ctx context.Context, id uint64) (part []byte, more bool, err error) {
	g.t.Helper()
	r, err := g.services[abi.ServiceStream].Call(ctx, (&abi.StreamRequest{Stream: id}).Append(nil))
	var resp abi.StreamResponse
	if err == nil {
		err = resp.Decode(r.Message)
	}
	return r.Body, resp.More, err
}

func headerOf(resp abi.HTTPResponse, name string) string {
	var values []string
	for _, f := range resp.Header {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return strings.Join(values, "|")
}
