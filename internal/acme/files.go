package acme

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"

	"github.com/wasmres/wasmres/internal/atomicfile"
)

const (
	accountFile = "account.json"
	certSuffix  = ".pem"
	maxFile     = 1 << 20 // bytes
	maxChain    = 10      // certificates
)

// An accountRecord is the file of an account.
type accountRecord struct {
	Location string `json:"location"` // by which the authority knows it
	Email    string `json:"email,omitempty"`
	Key      string `json:"key"` // PEM
}

// account returns the account in its file, or makes one.
func (m *Manager) account(ctx context.Context, client *acmez.Client) (acme.Account, error) {
	m.registering.Lock() // one account, however many orders are made at once
	defer m.registering.Unlock()
	a, email, err := m.readAccount()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return m.register(ctx, client)
	case err != nil:
		return acme.Account{}, fmt.Errorf("read the account %s: %w: remove the file to have another account made", filepath.Join(m.dir, accountFile), err)
	case email == m.cfg.Email:
		return a, nil
	}
	a.Contact = contact(m.cfg.Email)
	if _, err := client.UpdateAccount(ctx, a); err != nil {
		return acme.Account{}, fmt.Errorf("change the address of the account: %w", err)
	}
	return a, m.saveAccount(a)
}

func contact(email string) []string {
	if email == "" {
		return nil
	}
	return []string{"mailto:" + email}
}

func (m *Manager) register(ctx context.Context, client *acmez.Client) (acme.Account, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return acme.Account{}, err
	}
	a, err := client.NewAccount(ctx, acme.Account{Contact: contact(m.cfg.Email), TermsOfServiceAgreed: true, PrivateKey: key})
	if err != nil {
		return acme.Account{}, fmt.Errorf("make an account: %w", err)
	}
	a.PrivateKey, a.Status = key, acme.StatusValid
	if err := m.saveAccount(a); err != nil {
		return acme.Account{}, err
	}
	m.cfg.Logger.Info("account made with a certificate authority", "directory", m.cfg.Directory)
	return a, nil
}

func (m *Manager) saveAccount(a acme.Account) error {
	key, err := keyPEM(a.PrivateKey)
	if err != nil {
		return err
	}
	text, err := json.Marshal(accountRecord{a.Location, m.cfg.Email, string(key)})
	if err == nil {
		err = atomicfile.Write(filepath.Join(m.dir, accountFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the account: %w", err)
	}
	return nil
}

func (m *Manager) readAccount() (a acme.Account, email string, err error) {
	text, err := m.read(accountFile)
	if err != nil {
		return a, "", err
	}
	var r accountRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return a, "", err
	}
	block, _ := pem.Decode([]byte(r.Key))
	if block == nil || r.Location == "" {
		return a, "", errors.New("the file has no location or no key")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return a, "", err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return a, "", errors.New("the key cannot sign")
	}
	return acme.Account{Status: acme.StatusValid, Location: r.Location, Contact: contact(r.Email), PrivateKey: signer}, r.Email, nil
}

// forgetAccount removes the file of the account.
func (m *Manager) forgetAccount() error {
	m.registering.Lock()
	defer m.registering.Unlock()
	err := os.Remove(filepath.Join(m.dir, accountFile))
	if errors.Is(err, os.ErrNotExist) { // another order has removed it
		return nil
	}
	return err
}

func keyPEM(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// pair returns a certificate with its key, as a file has them and for use. It checks that chain, which an authority has sent, is of
// the name and the key, and in force.
func pair(name string, chain []byte, key crypto.Signer) (text []byte, c *tls.Certificate, err error) {
	for rest, n := chain, 0; ; n++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" || n == maxChain {
			return nil, nil, fmt.Errorf("the chain has a block %.40q, or more than %d certificates", block.Type, maxChain)
		}
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...)
	}
	secret, err := keyPEM(key)
	if err != nil {
		return nil, nil, err
	}
	text = append(text, secret...)
	c, err = parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	if now := time.Now(); now.After(c.Leaf.NotAfter) {
		return nil, nil, fmt.Errorf("it has expired at %s", c.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return text, c, nil
}

// parse reads the text of a file.
func parse(name string, text []byte) (*tls.Certificate, error) {
	c, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, err
	}
	if err := c.Leaf.VerifyHostname(name); err != nil {
		return nil, err
	}
	return &c, nil
}

// load reads the certificate of a name; an error is [os.ErrNotExist] if there is none. One that has expired is better than none.
func (m *Manager) load(name string) (*tls.Certificate, error) {
	text, err := m.read(name + certSuffix)
	if err != nil {
		return nil, err
	}
	return parse(name, text)
}

func (m *Manager) save(name string, text []byte) error {
	if err := atomicfile.Write(filepath.Join(m.dir, name+certSuffix), text, 0o600); err != nil {
		return fmt.Errorf("keep the certificate: %w", err)
	}
	return nil
}

func (m *Manager) read(name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(m.dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", f.Name(), maxFile)
	}
	return text, err
}

// sweep removes the files of certificates that have expired and whose names are no longer of the server.
func (m *Manager) sweep() {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		m.cfg.Logger.Warn("folder of certificates not read", "err", err)
		return
	}
	for _, e := range entries {
		name, found := strings.CutSuffix(e.Name(), certSuffix)
		m.mu.Lock()
		known := m.names[name] != nil
		m.mu.Unlock()
		if !found || known {
			continue
		}
		if c, err := m.load(name); err == nil && time.Now().After(c.Leaf.NotAfter) {
			if err := os.Remove(filepath.Join(m.dir, e.Name())); err == nil {
				m.cfg.Logger.Info("expired certificate removed", "name", name)
			}
		}
	}
}
