package admin_test

import (
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/tenant"
)

func TestSecretsOfTheAPI(t *testing.T) {
	h := admintest.New(t, acme(), &tenant.Tenant{ID: "beta"})
	s, key := h.Serve(t), "Idempotency-Key: "+admin.NewIdempotencyKey()
	const value = "s3cret-value"
	tag := want(t, s, "PUT", "/v1/tenants/acme/secrets/token", `{"value":"`+value+`"}`, 201, `"name":"token"`, key)
	want(t, s, "PUT", "/v1/tenants/acme/secrets/token", `{"value":"`+value+`"}`, 201, `"name":"token"`, key)
	want(t, s, "PUT", "/v1/tenants/acme/secrets/token", `{"value":"`+value+`2"}`, 200, `"name":"token"`, "If-Match: "+tag)
	want(t, s, "PUT", "/v1/tenants/acme/secrets/token", `{"value":"x"}`, 412, "conflict", "If-Match: "+tag)
	want(t, s, "PUT", "/v1/tenants/beta/secrets/token", `{"value":"`+value+`"}`, 201, "")
	c := admin.NewClient(s)
	defer c.Close()
	if page, err := c.Secrets(t.Context(), "acme", ""); err != nil || len(page.Items) != 1 || page.Items[0].Name != "token" {
		t.Errorf("got %+v, %v", page, err)
	}
	if did, err := c.RotateSecretKey(t.Context()); err != nil || did.Sealed != 2 || did.Remaining != 0 {
		t.Errorf("got %+v, %v", did, err)
	}
	for _, path := range []string{"/v1/tenants/acme", "/v1/tenants/acme/file", "/v1/tenants/acme/secrets"} {
		if answer, text := headed(t, s, "GET", path, ""); answer.StatusCode != 200 || strings.Contains(text, value) {
			t.Errorf("%s: got %d %s", path, answer.StatusCode, text)
		}
	}
	for _, file := range h.Files() {
		if strings.Contains(file, value) {
			t.Error("the store has the value of a secret")
		}
	}
	for _, row := range []struct{ path, body, in string }{
		{"acme/secrets/a%20b", `{"value":"x"}`, "is not the name of a secret"},
		{"acme/secrets/token", `{"value":""}`, "it has 0 bytes"},
		{"acme/secrets/token", `{"value":"` + strings.Repeat("x", 4097) + `"}`, "it has 4097 bytes"},
		{"acme/secrets/token", `{"value":"` + value + `\ud800"}`, "it is not UTF-8"},
		{"acme/secrets/token", `{"valu":"` + value + `"}`, `unknown field`},
	} {
		if answer, text := headed(t, s, "PUT", "/v1/tenants/"+row.path, row.body); answer.StatusCode != 400 || !strings.Contains(text, row.in) || strings.Contains(text, value) {
			t.Errorf("%s: got %d %s", row.path, answer.StatusCode, text)
		}
	}
	want(t, s, "PUT", "/v1/tenants/gone/secrets/token", `{"value":"x"}`, 404, "no_tenant")
	want(t, s, "DELETE", "/v1/tenants/acme/secrets/tokn", "", 404, "did you mean token?")
	want(t, s, "DELETE", "/v1/tenants/acme/secrets/token", "", 204, "")
	want(t, s, "DELETE", "/v1/tenants/acme/secrets/token", "", 404, "no_secret")
}
