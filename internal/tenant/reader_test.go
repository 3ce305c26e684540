package tenant_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
)

// simple is a tenant with one provider, whose policy many tenants share.
const simple = `plan: small
providers:
  a: {module: ../modules/a.wasm, policy: ../policies/a.yaml, prefixes: ["a:"]}
roles:
  reader: [{do: [list, read], uris: ["a://**"]}]
  writer: [{use: reader}, {uris: ["a://drafts/**"]}]
`

var plans = map[string]string{
	"serve.yaml":      "public_url: https://mcp.example.com\nallowed_hosts: [other.example.com]\nplans: {small: {limits: {memory: 32Mi}, ceiling: ceiling.yaml}}\n",
	"ceiling.yaml":    `{version: "1.0", permissions: {network: {allow: [{host: a.example}]}}}`,
	"policies/a.yaml": `{version: "1.0", permissions: {network: {allow: [{host: a.example}]}}}`,
}

// issuers is simple with issuers.
func issuers(list string) string { return simple + "auth:\n  issuers: [" + list + "]\n" }

func with(files ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		maps.Copy(all, f)
	}
	return all
}

// defects are ways in which the file of a tenant can be wrong, and what is said then.
var defects = []struct{ name, text, want string }{
	{"empty", "", "the file is empty"},
	{"comment", "# nothing\n", "the file is empty"},
	{"binary", "\x00\x01\xff", "the file is not UTF-8: convert it"},
	{"latin", "plan: sm\xe4ll\n", "the file is not UTF-8: convert it"},
	{"utf16", "\xff\xfep\x00", "the file is not UTF-8: convert it"},
	{"syntax", "plan: [small\n", "1:7: this is not YAML: sequence end token ']' not found"},
	{"tab", "providers:\n\ta: {}\n", "2:1: this is not YAML: found character '\t' that cannot start any token"},
	{"list", "- plan: small\n", "1:1: this is a list, expected keys and values"},
	{"text", "hello\n", "1:1: this is a text, expected keys and values"},
	{"documents", "plan: small\n---\nplan: small\n", "2:1: a second document begins here: a file has one"},
	{"alias", "plan: &p small\n", "1:7: anchors and aliases are not allowed: write the value out"},
	{"tag", "plan: !!str small\n", "1:7: tags and directives are not allowed: remove it"},
	{"deep", "plan: " + strings.Repeat("[", 100) + "\n", "1:39: this is nested too deep"},
	{"tokens", "hosts: [" + strings.Repeat("a, ", 20_000) + "]\n", "the file has more than 20000 tokens"},
	{"large", "plan: small #" + strings.Repeat("x", strict.MaxSize), "the file cannot be read: it has 1048589 bytes, at most 1048576 are allowed"},
	{"unknown", "paln: small\n", `1:1: unknown key "paln": did you mean "plan"?`},
	{"twice", "plan: small\nplan: small\n", `2:1: the key "plan" is here twice: it is on line 1 already`},
	{"null", "plan:\n", "1:7: there is nothing here: remove the key, or give it a text"},
	{"issuer", issuers("{issuer: id.example}"), `8:14: "id.example" is no URL of a server: write it like https://id.example.com`},
	{"issuer-plain", issuers("{issuer: http://id.example, roles: [reader]}"), `8:14: "http://id.example" is not encrypted: write https://`},
	{"issuer-test", issuers("{issuer: \"http://127.0.0.1:1\", roles: [reader]}"), `8:14: "http://127.0.0.1:1" is not encrypted: write https://, or insecure: true for an issuer on this machine in a test`},
	{"issuer-query", issuers("{issuer: \"https://id.example/?a\", roles: [reader]}"), `8:14: the issuer "https://id.example/?a" has a query: an issuer is a URL without one`},
	{"issuer-no-roles", issuers("{issuer: https://id.example}"), "8:14: no token of the issuer gives a role: add roles, or map with values of roles_claim"},
	{"issuer-role", issuers("{issuer: https://id.example, roles: [raeder]}"), `8:50: there is no role "raeder": did you mean "reader"?`},
	{"issuer-map", issuers("{issuer: https://id.example, map: {staff: [reader, raeder]}}"), `8:64: there is no role "raeder": did you mean "reader"?`},
	{"issuer-twice", issuers("{issuer: https://id.example, roles: [reader]}, {issuer: https://id.example, roles: [reader]}"), `8:12: "https://id.example" is here twice`},
	{"issuer-jwks", issuers("{issuer: https://id.example, roles: [reader], jwks: \"http://a.example\"}"), `8:14: "http://a.example" is not encrypted: write https://`},
	{"issuer-key", issuers("{isuer: https://id.example}"), `8:14: unknown key "isuer": did you mean "issuer"?`},
	{"issuer-secret", issuers("{issuer: https://id.example, roles: [reader], introspection: {client_id: a}}"), "8:75: the server needs one secret to authenticate itself to the issuer: name secret or secret_file"},
	{"issuer-secrets", issuers("{issuer: https://id.example, roles: [reader], introspection: {client_id: a, secret: b, secret_file: c}}"), "8:75: the server needs one secret to authenticate itself to the issuer: name secret or secret_file"},
	{"issuer-file", issuers("{issuer: https://id.example, roles: [reader], introspection: {client_id: a, secret_file: c}}"), "8:102: there is no file c: no such file or directory: write the secret there, or change the path"},
	{"issuer-asked", issuers("{issuer: https://a.example, roles: [reader], introspection: {client_id: a, secret: b}}, {issuer: https://b.example, roles: [reader], introspection: {client_id: a, secret: b}}"),
		"8:162: the issuer https://a.example is asked about opaque tokens already, which do not say whose they are: keep one"},
	{"scope", simple + "auth: {scopes: [\"a b\"]}\n", `7:17: "a b" is no scope: a scope has visible ASCII characters, without quotes and backslashes`},
	{"number", "plan: 1\n", "1:7: this is a number, expected a text: write it in quotes"},
	{"noplan", "hosts: []\nplan: smal\n", `2:7: there is no plan "smal": did you mean "small"?`},
	{"badplan", "plan: a/b\n", `1:7: "a/b" is not a name: a name begins with a letter or digit, and has letters, digits, "_", "-" and ".", at most 64`},
	{"host", "hosts: [a_b!]\n", `1:9: "a_b!" is not the name of a host: write it like acme.example.com, and names beyond ASCII as xn--…`},
	{"wildcard", "hosts: [\"*.example.com\"]\n", `1:9: "*.example.com" has a star: name each host`},
	{"url", "hosts: [\"https://a.example\"]\n", `1:9: "https://a.example" is more than a host: write https, without a scheme and a port`},
	{"address", "hosts: [127.0.0.1]\n", `1:9: "127.0.0.1" is an address: a host is a name, like acme.example.com`},
	{"hosttwice", "hosts: [h.example, H.example]\n", "1:20: h.example is here twice: remove one"},
	{"reserved", "hosts: [mcp.example.com]\n", "1:9: the host mcp.example.com is one by which clients reach all tenants: leave it out, or take it out of public_url and allowed_hosts in serve.yaml"},
	{"allowed", "hosts: [other.example.com]\n", "1:9: the host other.example.com is one by which clients reach all tenants: leave it out, or take it out of public_url and allowed_hosts in serve.yaml"},
	{"origin", "origins: [app.example.com]\n", `1:11: "app.example.com" is not an origin: write it like https://app.example.com, without a path`},
	{"nomodule", "providers:\n  a: {digest: sha256:00}\n", `2:15: "sha256:00" is not a digest: write sha256: and 64 hexadecimal digits in lower case`},
	{"deployed", "providers:\n  a: {digest: \"sha256:" + strings.Repeat("0f", 32) + "\"}\n", `2:15: a provider without module is deployed, and its versions have digests of their own: remove digest, or add module`},
	{"missing", "providers: {a: {module: none.wasm}}\n", "1:25: there is no module none.wasm: no such file or directory: copy it there, or change the path"},
	{"folder", "providers: {a: {module: ../modules}}\n", "1:25: there is no module ../modules: it is not a file: copy it there, or change the path"},
	{"reference", "providers: {a: {module: \"ghcr.io/A:b\"}}\n", `1:25: there is no module ghcr.io/A:b: no such file or directory: copy it there, or change the path`},
	{"provider", "providers: {\"../a\": {module: ../modules/a.wasm}}\n", `1:13: the key "../a": "../a" is not a name: a name begins with a letter or digit, and has letters, digits, "_", "-" and ".", at most 64`},
	{"prefix", "providers: {a: {module: ../modules/a.wasm, prefixes: [a]}}\n", `1:55: "a" is not the beginning of a URI: write it like notes: or file:///docs/`},
	{"nopolicy", "providers: {a: {module: ../modules/a.wasm, policy: none.yaml}}\n", "1:52: the policy cannot be read: DIR/tenants/none.yaml: no such file or directory"},
	{"folderpolicy", "providers: {a: {module: ../modules/a.wasm, policy: .}}\n", "1:52: the policy cannot be read: DIR/tenants: it is a folder"},
	{"badpolicy", "providers: {a: {module: ../modules/a.wasm, policy: ../policies/bad.yaml}}\n", `policies/bad.yaml:2:1: unknown key "permisions": did you mean "permissions"?`},
	{"both", "providers: {a: {module: ../modules/a.wasm, policy: ../policies/a.yaml, permissions: {kv: {}}}}\n", "1:86: the provider has a policy already: remove policy or permissions"},
	{"permission", "providers: {a: {module: ../modules/a.wasm, permissions: {kv: {max_keys: 0}}}}\n", `1:73: "0" is not a positive whole number`},
	{"ceiling", "plan: small\nproviders: {a: {module: ../modules/a.wasm, permissions: {kv: {}}}}\n", "2:17: the policy permits more than the plan small: keep values between requests: remove it from the policy, or choose another plan"},
	{"limit", "plan: small\nproviders: {a: {module: ../modules/a.wasm, permissions: {resources: {limits: {memory: 64Mi}}}}}\n", "2:17: the policy permits more than the plan small: use memory 64Mi, where 32Mi is the most: remove it from the policy, or choose another plan"},
	{"default", "providers: {a: {module: ../modules/a.wasm, permissions: {resources: {limits: {timeout: 1h}}}}}\n", "1:17: the policy permits more than the plan default: use timeout 1h0m0s, where 2s is the most: remove it from the policy, or choose another plan"},
	{"role", "roles: {a/b: []}\n", `1:9: the key "a/b": "a/b" is not a name: a name begins with a letter or digit, and has letters, digits, "_", "-" and ".", at most 64`},
	{"action", "roles: {a: [{do: [raed], uris: [\"**\"]}]}\n", `1:19: there is no action "raed": did you mean "read"?`},
	{"nouris", "roles: {a: [{do: [read]}]}\n", `1:14: the rule permits nothing: add uris, as ["notes://**"], or use with the name of a role`},
	{"pattern", "roles: {a: [{uris: [\"a b\"]}]}\n", `1:21: the pattern "a b" has a space or a control character`},
	{"use", "roles: {reader: [], a: [{use: raeder}]}\n", `1:31: there is no role "raeder": did you mean "reader"?`},
	{"usenone", "auth: {anonymous: [reader]}\n", `1:20: there is no role "reader", as there are none: add it, or remove the name`},
	{"usealone", "roles: {a: [{use: a, uris: [\"**\"]}]}\n", "1:14: use stands alone: write what else is permitted as another rule"},
	{"self", "roles: {a: [{use: a}]}\n", "1:12: the role uses itself: a uses a: remove one of these"},
	{"cycle", "roles: {a: [{use: b}], b: [{use: c}], c: [{use: b}]}\n", "1:27: the role uses itself: b uses c uses b: remove one of these"},
	{"ruleprovider", "providers: {a: {module: ../modules/a.wasm}}\nroles: {r: [{uris: [\"**\"], providers: [b]}]}\n", `2:40: there is no provider "b": did you mean "a"?`},
	{"anonymous", "roles: {reader: []}\nauth: {anonymous: [raeder]}\n", `2:20: there is no role "raeder": did you mean "reader"?`},
	{"rules", "roles: {a: " + strings.Repeat("[{uris: [x]}, ", 0) + "[" + strings.Repeat("{uris: [x]}, ", 300) + "]}\n", "1:12: the list has 300 entries, at most 256 are allowed"},
	{"schema", "$schema: 5\n", "1:10: this is a number, expected a text: write it in quotes"},
}

// irregular are files that are no files of a tenant, by how they are made.
var irregular = []struct {
	name, want string
	make       func(file string) error
}{
	{"folder-like.yaml", "the file cannot be read: it is a folder", func(f string) error { return os.Mkdir(f, 0o755) }},
	{"pipe.yaml", "the file cannot be read: it is not a regular file", func(f string) error { return syscall.Mkfifo(f, 0o600) }},
	{"link.yaml", "the file cannot be read: the link leads out of the folder of tenants: copy the file there", func(f string) error { return os.Symlink("../serve.yaml", f) }},
	{"absolute.yaml", "the file cannot be read: the link leads out of the folder of tenants: copy the file there", func(f string) error { return os.Symlink("/dev/zero", f) }},
	{"dangling.yaml", "the file cannot be read: no such file or directory", func(f string) error { return os.Symlink("none.yaml", f) }},
	{"loop.yaml", "the file cannot be read: too many levels of symbolic links", func(f string) error { return os.Symlink("loop.yaml", f) }},
	{"Upper.yaml", "a tenant's file has a name of lower-case letters, digits and dashes, at most 63, and ends in .yaml: rename it", func(f string) error { return os.WriteFile(f, nil, 0o600) }},
	{"a b\x1b.yaml", "a tenant's file has a name of lower-case letters, digits and dashes, at most 63, and ends in .yaml: rename it", func(f string) error { return os.WriteFile(f, nil, 0o600) }},
	{"short.yml", "the name ends in .yml: rename it to short.yaml", func(f string) error { return os.WriteFile(f, nil, 0o600) }},
	{strings.Repeat("x", 64) + ".yaml", "a tenant's file has a name of lower-case letters, digits and dashes, at most 63, and ends in .yaml: rename it", func(f string) error { return os.WriteFile(f, nil, 0o600) }},
}

// Of 5,000 tenants 100 are broken, each in its way. The others are served, and each problem says where it is.
func TestBrokenFilesConcernNoOthers(t *testing.T) {
	const tenants, broken = 5000, 100
	files := with(plans, map[string]string{
		"policies/bad.yaml":    "version: \"1.0\"\npermisions: {}\n",
		"tenants/bom.yaml":     "\ufeffplan: small\n",
		"tenants/.hidden.yaml": "x", "tenants/README.md": "x", "tenants/acme.yaml~": "x", "tenants/below/x.yaml": "x",
	})
	want := map[string]string{}
	for i := range broken - len(irregular) {
		d := defects[i%len(defects)]
		id := fmt.Sprintf("%s-%d", d.name, i)
		if files["tenants/"+id+".yaml"] = d.text; i >= len(defects) {
			files["tenants/"+id+".yaml"] = strings.ReplaceAll(d.text, "\n", "\r\n") // as editors on Windows write it
		}
		want[id] = d.want
	}
	files["tenants/t0.yaml"] = simple
	w := newWorld(t, files)
	for i := range tenants - broken - 2 { // beside t0 and bom
		if err := os.Link(w.dir+"/tenants/t0.yaml", fmt.Sprintf("%s/tenants/t%d.yaml", w.dir, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range irregular {
		if err := f.make(filepath.Join(w.dir, "tenants", f.name)); err != nil {
			t.Fatal(err)
		}
	}
	r := w.read()
	if len(w.snapshot.Tenants) != tenants-broken || len(r.Problems) != broken || r.Tenants != tenants-broken {
		t.Fatalf("got %d tenants, %d problems, %d counted", len(w.snapshot.Tenants), len(r.Problems), r.Tenants)
	}
	for id, text := range want {
		got := w.without(r.Problems[id][:1])
		text = strings.ReplaceAll(text, "DIR", w.dir)
		switch sep := ": "; {
		case strings.HasPrefix(text, "policies/"):
		default:
			if text[0] >= '0' && text[0] <= '9' {
				sep = ":"
			}
			text = "tenants/" + id + ".yaml" + sep + text
		}
		if got != strings.ReplaceAll(text, w.dir+"/", "") {
			t.Errorf("%s\ngot  %s\nwant %s", id, got, text)
		}
		if w.snapshot.Problems[id] == "" {
			t.Errorf("%s is not in the snapshot", id)
		}
	}
	for _, f := range irregular {
		id := strings.TrimSuffix(f.name, ".yaml")
		if !tenant.IsID(id) {
			id = strings.ReplaceAll(f.name, "\x1b", `\x1b`)
		}
		if len(id) > 64 {
			id = id[:64] + "…"
		}
		if got := r.Problems[id]; len(got) != 1 || got[0].Text != f.want {
			t.Errorf("%q: got %v, want %s", f.name, got, f.want)
		}
	}
	if again := w.read(); !again.Change.Empty() || again.Read != 0 {
		t.Errorf("a second reading: got %+v, %d files read", again.Change, again.Read)
	}
}

func ids(tenants []*tenant.Tenant) string {
	var all []string
	for _, t := range tenants {
		all = append(all, t.ID)
	}
	return strings.Join(all, " ")
}

// What differs is replaced, and nothing else: equal tenants keep their pointer.
func TestOnlyWhatDiffersChanges(t *testing.T) {
	w := newWorld(t, with(plans, map[string]string{"tenants/a.yaml": simple, "tenants/b.yaml": simple, "tenants/c.yaml": "{}"}))
	if r := w.read(); ids(r.Change.SetTenants) != "a b c" || len(r.Change.SetPlans) != 2 {
		t.Fatalf("got %+v, %v", r.Change, r.Problems)
	}
	step := func(what, set, removed string, problems ...string) {
		t.Helper()
		before := w.snapshot
		r := w.read()
		if ids(r.Change.SetTenants) != set || strings.Join(r.Change.RemoveTenants, " ") != removed || !slices.Equal(slices.Sorted(maps.Keys(r.Problems)), problems) {
			t.Errorf("%s: got set %q, removed %q, problems %v", what, ids(r.Change.SetTenants), r.Change.RemoveTenants, r.Problems)
		}
		for id, old := range before.Tenants {
			if now := w.snapshot.Tenants[id]; now != old && !strings.Contains(set+removed, id) {
				t.Errorf("%s: the tenant %s is another one", what, id)
			}
		}
		if next := w.read(); !next.Change.Empty() || next.Read > len(problems) {
			t.Errorf("%s: a second reading changes %+v, and reads %d", what, next.Change, next.Read)
		}
	}
	step("nothing", "", "")
	write(t, w.dir, map[string]string{"tenants/a.yaml": simple})
	step("the same text, written again", "", "")
	write(t, w.dir, map[string]string{"tenants/a.yaml": "# more\n" + simple})
	step("a comment", "a", "")
	write(t, w.dir, map[string]string{"tenants/a.yaml": "plan: none\n"})
	step("an error", "", "", "a")
	if got := w.snapshot.Tenants["a"]; got == nil || got.Plan != "small" || w.snapshot.Problems["a"] == "" {
		t.Errorf("the tenant with an error is %+v", got)
	}
	write(t, w.dir, map[string]string{"tenants/a.yaml": "# more\n" + simple})
	step("the error is gone", "", "")
	if w.snapshot.Problems["a"] != "" {
		t.Errorf("the problem stays: %v", w.snapshot.Problems)
	}
	write(t, w.dir, map[string]string{"policies/a.yaml": `{version: "1.0", permissions: {}}`})
	step("a shared policy", "a b", "")
	write(t, w.dir, map[string]string{"policies/a.yaml": "x"})
	step("a wrong policy", "", "", "a", "b")
	write(t, w.dir, map[string]string{"policies/a.yaml": plans["policies/a.yaml"]})
	step("a right policy", "a b", "")
	if err := os.Rename(w.dir+"/modules", w.dir+"/moved"); err != nil {
		t.Fatal(err)
	}
	write(t, w.dir, map[string]string{"tenants/b.yaml": "# new\n" + simple})
	step("a missing module", "", "", "b")
	if err := os.Rename(w.dir+"/moved", w.dir+"/modules"); err != nil {
		t.Fatal(err)
	}
	step("the module is back", "b", "")
	write(t, w.dir, map[string]string{"tenants/d.yaml": "disabled: true"})
	if err := os.Remove(w.dir + "/tenants/c.yaml"); err != nil {
		t.Fatal(err)
	}
	step("one new, one gone", "d", "c")
	write(t, w.dir, map[string]string{"serve.yaml": "plans: {}"})
	w.settings = settings(t, w.dir)
	step("a plan is gone", "", "", "a", "b")
	write(t, w.dir, map[string]string{"serve.yaml": "plans: {small: {}}"})
	w.settings = settings(t, w.dir)
	step("the plan is back", "", "")

	// Another process knows the tenants of the snapshot, and takes them as they are.
	w.reader = tenant.Reader{}
	step("another process", "", "")
	if err := os.Rename(w.dir+"/tenants", w.dir+"/away"); err != nil {
		t.Fatal(err)
	}
	if r, err := w.reader.ReadTenants(w.settings, w.snapshot); err == nil {
		t.Errorf("without a folder: got %+v", r.Change)
	}
}

// A snapshot that another change was made of has no tenant that the files say is there, or another one: it is set again.
func TestTenantsThatOthersChangeAreSetAgain(t *testing.T) {
	w := newWorld(t, with(plans, map[string]string{"tenants/a.yaml": simple, "tenants/b.yaml": simple, "tenants/c.yaml": "{}"}))
	for range 3 { // so that nothing is to be done any more
		w.read()
	}
	others := func(ids ...string) *tenant.Snapshot {
		next := *w.snapshot
		next.Generation++
		next.Changed = &tenant.Changed{Since: w.snapshot.Generation - 1, Tenants: ids} // the last reading has changed nothing
		next.Tenants = maps.Clone(w.snapshot.Tenants)
		return &next
	}
	w.snapshot = others("b")
	delete(w.snapshot.Tenants, "b")
	if r := w.read(); ids(r.Change.SetTenants) != "b" || r.Read != 0 || r.Tenants != 3 {
		t.Errorf("without b: got %q set, %d read, %d tenants", ids(r.Change.SetTenants), r.Read, r.Tenants)
	}
	w.snapshot = others("c")
	of := *w.snapshot.Tenants["c"]
	of.Owner = tenant.OwnerAPI
	w.snapshot.Tenants["c"] = &of
	if r := w.read(); len(r.Change.SetTenants) > 0 || len(r.Problems) != 1 || r.Tenants != 2 {
		t.Errorf("with c of the API: got %+v, %v", r.Change, r.Problems)
	}
	if next := w.read(); len(next.Problems) != 1 || next.Tenants != 2 {
		t.Errorf("the same again: got %v", next.Problems)
	}
}
