package approval_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
)

// A new version from the same repository and signer inherits grants, wherever its file is. Another signer, none, and
// another repository do not.
func TestPublishedProvidersInheritByRepositoryAndSigner(t *testing.T) {
	const params = `{"url":"https://a.org"}`
	from := approval.Published{Reference: "r.io/ada/notes:1@sha256:00", Repository: "r.io/ada/notes", Signer: "ada"}
	for name, tt := range map[string]struct {
		next approval.Published
		want string // doubt; empty if it inherits
	}{
		"the same":           {approval.Published{Reference: "r.io/ada/notes:2@sha256:11", Repository: "r.io/ada/notes", Signer: "ada"}, ""},
		"another signer":     {approval.Published{Repository: "r.io/ada/notes", Signer: "eve"}, "it was signed by ada"},
		"no signer":          {approval.Published{Repository: "r.io/ada/notes"}, "it was signed by ada"},
		"another repository": {approval.Published{Repository: "r.io/eve/notes", Signer: "ada"}, "it came from r.io/ada/notes"},
		"a file":             {approval.Published{}, "it came from r.io/ada/notes"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore(t)
			first := approval.Decide(approval.Request{Manifest: asking("http", params), Digest: digestA, File: provider(t), From: from, Store: s})
			must(t, s.Grant(first.Record(server("a.org"), noon, "ada")))
			d := approval.Decide(approval.Request{Manifest: asking("http", params), Digest: digestB, File: provider(t), From: tt.next, Store: s})
			if inherits := d.Outcome == approval.Granted; inherits != (tt.want == "") || !strings.Contains(d.Mismatch, tt.want) {
				t.Errorf("got %v, doubt %q, want %q", d.Outcome, d.Mismatch, tt.want)
			}
		})
	}
}

// The command that grants names the reference: the file is only where the store has the module.
func TestAPublishedProviderIsGrantedByItsReference(t *testing.T) {
	from := approval.Published{Reference: "r.io/ada/notes:1@sha256:00", Repository: "r.io/ada/notes"}
	d := approval.Decide(approval.Request{Manifest: asking("kv", ""), Digest: digestA, File: provider(t), From: from, Given: &policy.Policy{}})
	if got := d.Command(); !strings.HasPrefix(got, "wasmres permission grant "+from.Reference) {
		t.Errorf("got %s", got)
	}
}

// Grants stay with the folder of a layout, wherever the process runs. Without a signer, they are not inherited where others can
// replace the provider.
func TestLayoutsInheritByTheirFolder(t *testing.T) {
	const params = `{"url":"https://a.org"}`
	work := filepath.Dir(provider(t))
	for _, dir := range []string{"ada/usb/blobs/sha256", "eve/usb/blobs/sha256"} {
		must(t, os.MkdirAll(filepath.Join(work, dir), 0o700))
	}
	for _, who := range []string{"ada", "eve"} {
		must(t, os.WriteFile(filepath.Join(work, who, "usb", "index.json"), nil, 0o600))
	}
	in := func(dir, signer string) approval.Published {
		t.Chdir(filepath.Join(work, dir))
		from, err := approval.Published{Reference: "oci-layout:usb:1", Repository: "oci-layout:usb", Signer: signer}.In("usb")
		must(t, err)
		return from
	}
	for name, tt := range map[string]struct {
		dir, signer string
		prepare     func()
		inherits    bool
	}{
		"the same":                       {"ada", "", func() {}, true},
		"the folder of another":          {"eve", "", func() {}, false},
		"others can write":               {"ada", "", func() { must(t, os.Chmod(filepath.Join(work, "ada/usb/blobs/sha256"), 0o777)) }, false},
		"others can write, but not sign": {"ada", "ada", func() { must(t, os.Chmod(filepath.Join(work, "ada/usb/blobs/sha256"), 0o777)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.Chmod(filepath.Join(work, "ada/usb/blobs/sha256"), 0o700))
			s, _ := newStore(t)
			first := approval.Decide(approval.Request{Manifest: asking("http", params), Digest: digestA, File: "a", From: in("ada", tt.signer), Store: s})
			must(t, s.Grant(first.Record(server("a.org"), noon, "ada")))
			tt.prepare()
			d := approval.Decide(approval.Request{Manifest: asking("http", params), Digest: digestB, File: "b", From: in(tt.dir, tt.signer), Store: s})
			if inherits := d.Outcome == approval.Granted; inherits != tt.inherits {
				t.Errorf("inherits: %v, doubt %q", inherits, d.Mismatch)
			}
		})
	}
}
