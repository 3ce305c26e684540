// Command pebble is Let's Encrypt's test authority, for the tests of internal/e2e:
//
//	pebble FOLDER TLS_PORT HTTP_PORT SECONDS
//
// It looks for every name at this machine, by TLS and HTTP at the given ports, and issues certificates that last for so many seconds. It
// writes the certificate of its own authority to ca.pem in the folder, and serves at a loopback address until its standard input ends.
// Its first line is the URL of its directory, its second one the PEM of the authority that it issues certificates by, without line
// breaks.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: pebble FOLDER TLS_PORT HTTP_PORT SECONDS")
		os.Exit(2)
	}
	var numbers [3]int
	for i := range numbers {
		n, err := strconv.Atoi(os.Args[2+i])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		numbers[i] = n
	}
	if err := run(os.Args[1], numbers[0], numbers[1], numbers[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string, tlsPort, httpPort, seconds int) error {
	names, err := startNames()
	if err != nil {
		return err
	}
	for key, value := range map[string]string{"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "20"} {
		if err := os.Setenv(key, value); err != nil {
			return err
		}
	}
	logger, store := log.New(os.Stderr, "", 0), db.NewMemoryStore()
	issuer := ca.New(logger, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: uint64(seconds)}})
	looks := va.New(logger, httpPort, tlsPort, true, names, store)
	front := wfe.New(logger, store, looks, issuer, []string{"pebble.letsencrypt.org"}, true, false, 1, 1)
	if err := store.AddBlockedDomain("refused.example"); err != nil {
		return err
	}
	own, err := certificate(folder)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issuer.GetRootCert(0).Cert.Raw})
	fmt.Println("https://" + l.Addr().String() + wfe.DirectoryPath)
	fmt.Println(base64.StdEncoding.EncodeToString(root))
	handler := front.Handler()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{Certificates: []tls.Certificate{own}}}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.ServeTLS(l, "", ""); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// startNames serves DNS, by which all names are those of this machine, and returns its address.
func startNames() (string, error) {
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	at := free.LocalAddr().String()
	if err := free.Close(); err != nil {
		return "", err
	}
	s, err := challtestsrv.New(challtestsrv.Config{DNSAddrs: []string{at}, Log: log.New(io.Discard, "", 0)})
	if err != nil {
		return "", err
	}
	s.SetDefaultDNSIPv4("127.0.0.1")
	s.SetDefaultDNSIPv6("")
	go s.Run()
	return at, nil
}

// certificate makes the certificate of the server itself, and writes that of its authority, which is the same.
func certificate(folder string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, os.WriteFile(filepath.Join(folder, "ca.pem"), text, 0o600)
}
