package tenant_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/tenant"
)

// readSettings reads the text of serve.yaml.
func readSettings(t *testing.T, text string) (*tenant.Settings, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "serve.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return tenant.ReadSettings(file, "")
}

func TestACMEInSettings(t *testing.T) {
	acme := "{agree: true, email: ops@example.com, directory: \"https://ca.example/acme\", http: \":80\"}"
	s, err := readSettings(t, "listen: [{address: \":443\", tls: {acme: "+acme+"}}, {address: \":8443\", tls: {acme: "+acme+"}}]\n"+
		"public_url: https://mcp.example:8443\nallowed_hosts: [MCP.example.org]\n")
	if err != nil {
		t.Fatal(err)
	}
	want := &tenant.ACME{Directory: "https://ca.example/acme", Email: "ops@example.com", HTTP: ":80"}
	if got := s.ACME(); !reflect.DeepEqual(got, want) || !s.Listen[1].IsTLS() {
		t.Errorf("got %+v, want %+v", got, want)
	}
	now := &tenant.Snapshot{Hosts: map[string]*tenant.Tenant{
		"zoo.example": {ID: "zoo"}, "acme.example": {ID: "acme"}, "off.example": {ID: "off", Disabled: true}, "mcp.example.org": {ID: "acme"},
	}}
	names := []string{"mcp.example", "mcp.example.org", "acme.example", "zoo.example"}
	if got := s.CertificateHosts(now); !reflect.DeepEqual(got, names) {
		t.Errorf("certificates of %v, want %v", got, names)
	}
	s, err = readSettings(t, "listen: [{address: \":443\", tls: {acme: {agree: true, hosts: [a.example]}}}]\npublic_url: https://mcp.example\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.CertificateHosts(&tenant.Snapshot{}); !reflect.DeepEqual(got, []string{"a.example"}) {
		t.Errorf("certificates of %v, want that of hosts", got)
	}
	if s, err = readSettings(t, "public_url: https://192.0.2.7\n"); err != nil || s.ACME() != nil || s.CertificateHosts(now) != nil {
		t.Errorf("without acme: %v, %v", s.CertificateHosts(now), err)
	}
}

func TestWrongACMEInSettings(t *testing.T) {
	for text, problem := range map[string]string{
		"{acme: {}}":             "agree",
		"{acme: {agree: false}}": "write agree: true",
		"{acme: {agree: true}, cert: a.pem, key: b.pem}": "remove it, or cert",
		"{}":            "add cert and key, or acme",
		"{cert: a.pem}": "add cert and key, or acme",
		"{acme: {agree: true, directory: \"http://a.example\"}}": "URL of HTTPS",
		"{acme: {agree: true, email: \"a@b@c\"}}":                "not an address",
		"{acme: {agree: true, email: \"a b@c.example\"}}":        "not an address",
		"{acme: {agree: true, hosts: [\"*.a.example\"]}}":        "name each host",
		"{acme: {agree: true, hosts: [\"192.0.2.7\"]}}":          "is an address",
		"{acme: {agree: true, http: \"80\"}}":                    "an address to listen on",
		"{acme: {agree: true, ca_file: none.pem}}":               "none.pem",
	} {
		if _, err := readSettings(t, "listen: [{address: \":443\", tls: "+text+"}]\n"); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want %q", text, err, problem)
		}
	}
	_, err := readSettings(t, "listen: [{address: \":1\", tls: {acme: {agree: true}}}, {address: \":2\", tls: {acme: {agree: true, email: a@b.example}}}]\n")
	if err == nil || !strings.Contains(err.Error(), "write the same") {
		t.Errorf("two accounts: %v", err)
	}
}
