package acme_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/certificate/certtest"
)

// An authority speaks ACME, and issues certificates for whatever is asked, or does as it is told. It verifies nothing: pebble
// does that in internal/e2e.
type authority struct {
	server    *httptest.Server
	key       *ecdsa.PrivateKey // signs certificates
	orderTime time.Duration
	firstWait time.Duration
	does      atomic.Value // string: what it does in place of issuing
	lifetime  atomic.Value // [2]time.Duration: from now, of a certificate
	accounts  atomic.Int64
	orders    atomic.Int64
	issued    sync.Map // PEM by name, as []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{orderTime: time.Minute, firstWait: time.Hour}
	a.lifetime.Store([2]time.Duration{-time.Minute, 90 * 24 * time.Hour})
	a.does.Store("")
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	a.server = httptest.NewUnstartedServer(a)
	a.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	a.server.StartTLS()
	t.Cleanup(func() {
		a.server.CloseClientConnections()
		a.server.Close()
	})
	return a
}

// ServeHTTP implements [http.Handler].
func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Replay-Nonce", "nonce")
	w.Header().Set("Content-Type", "application/json")
	does := a.does.Load().(string)
	text, _ := io.ReadAll(r.Body) // so that the server notices when a client goes away
	if r.URL.Path != "/directory" && r.URL.Path != "/nonce" {
		switch does {
		case "refuse":
			problem(w, http.StatusForbidden, "rejectedIdentifier", "the policy forbids that name")
			return
		case "steer":
			problem(w, http.StatusForbidden, "rejectedIdentifier", "\x1b[2J"+strings.Repeat("x", 5000))
			return
		case "unknown account":
			problem(w, http.StatusBadRequest, "accountDoesNotExist", "who is that?")
			return
		case "hang":
			<-r.Context().Done()
			return
		case "garbage":
			_, _ = w.Write([]byte("{\"status\": 7, \x00]"))
			return
		case "empty":
			problem(w, http.StatusInternalServerError, "serverInternal", "no directory here")
			return
		case "reset":
			panic(http.ErrAbortHandler)
		case "huge":
			block := bytes.Repeat([]byte("x"), 64<<10)
			for range 1 << 14 { // 1 GiB
				if _, err := w.Write(block); err != nil {
					return
				}
			}
			return
		}
	}
	at := a.server.URL
	var request struct{ Payload string }
	_ = json.Unmarshal(text, &request)
	payload, _ := base64.RawURLEncoding.DecodeString(request.Payload)
	order := func(status string, names []string) {
		var ids []map[string]string
		for _, name := range names {
			ids = append(ids, map[string]string{"type": "dns", "value": name})
		}
		name := strings.Join(names, ",")
		answer(w, map[string]any{
			"status": status, "identifiers": ids, "authorizations": []string{at + "/authorization/" + name},
			"finalize": at + "/finalize/" + name, "certificate": at + "/certificate/" + name,
		})
	}
	switch path, name, _ := strings.Cut(r.URL.Path[1:], "/"); path {
	case "directory":
		answer(w, map[string]string{"newNonce": at + "/nonce", "newAccount": at + "/account", "newOrder": at + "/order"})
	case "nonce":
	case "account":
		a.accounts.Add(1)
		w.Header().Set("Location", at+"/account/1")
		w.WriteHeader(http.StatusCreated)
		answer(w, map[string]string{"status": "valid"})
	case "order":
		a.orders.Add(1)
		var ask struct{ Identifiers []struct{ Value string } }
		_ = json.Unmarshal(payload, &ask)
		w.Header().Set("Location", at+"/order/"+ask.Identifiers[0].Value)
		w.WriteHeader(http.StatusCreated)
		order("ready", []string{ask.Identifiers[0].Value})
	case "authorization":
		answer(w, map[string]any{"status": "valid", "identifier": map[string]string{"type": "dns", "value": name}})
	case "finalize":
		var ask struct{ CSR string }
		_ = json.Unmarshal(payload, &ask)
		if err := a.issue(ask.CSR, does); err != nil {
			problem(w, http.StatusBadRequest, "badCSR", err.Error())
			return
		}
		order("valid", []string{name})
	case "certificate":
		w.Header().Set("Content-Type", "application/pem-certificate-chain")
		if text, found := a.issued.Load(name); found {
			_, _ = w.Write(text.([]byte))
		}
	default:
		http.NotFound(w, r)
	}
}

func (a *authority) issue(csr, does string) error {
	der, err := base64.RawURLEncoding.DecodeString(csr)
	if err != nil {
		return err
	}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return err
	}
	names, key := request.DNSNames, request.PublicKey
	lifetime := a.lifetime.Load().([2]time.Duration)
	from, until := time.Now().Add(lifetime[0]), time.Now().Add(lifetime[1])
	switch does {
	case "other name":
		names = []string{"evil.example"}
	case "other key":
		key = a.key.Public()
	case "expired":
		until = time.Now().Add(-time.Minute)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return err
	}
	cert, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: serial, DNSNames: names, NotBefore: from, NotAfter: until}, &x509.Certificate{Subject: certtest.Name("authority")}, key, a.key)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	switch does {
	case "no certificate":
		text = []byte("none")
	case "many certificates":
		text = bytes.Repeat(text, 11)
	}
	a.issued.Store(request.DNSNames[0], text)
	return nil
}

func problem(w http.ResponseWriter, status int, kind, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	answer(w, map[string]any{"type": "urn:ietf:params:acme:error:" + kind, "status": status, "detail": detail})
}

func answer(w http.ResponseWriter, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprint("answer of the authority: ", err))
	}
	_, _ = w.Write(text)
}
