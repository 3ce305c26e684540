package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// fails expects an error of a class with some words.
func fails(t *testing.T, p *wasmrestest.Provider, uri string, class error, words string) {
	t.Helper()
	if _, err := p.Read(uri); !errors.Is(err, class) || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: got %v, want %v with %q", uri, err, class, words)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	p := serve(t, small(t))
	for _, c := range []struct {
		uri   string
		class error
		words string
	}{
		{"git://file/nothing", wasmres.ErrNotFound, `no "nothing" in commit 3ce33aa`},
		{"git://file/README.md/more", wasmres.ErrNotFound, "README.md/more"},
		{"git://file/src", wasmres.ErrInvalid, "git://tree/src"},
		{"git://file/.git/config", wasmres.ErrNotFound, ".git/config"},
		{"git://tree/README.md", wasmres.ErrInvalid, "no folder"},
		{"git://tree/src/", nil, ""},
		{"git://tree?ref=nothing", wasmres.ErrNotFound, `no "nothing"`},
		{"git://tree?ref=config", wasmres.ErrNotFound, `no "config"`},
		{"git://tree?ref=refs/../config", wasmres.ErrNotFound, ""},
		{"git://tree?ref=HEAD~9", wasmres.ErrNotFound, "0 parents"},
		{"git://tree?ref=HEAD%5E3", wasmres.ErrNotFound, "1 parents"},
		{"git://tree?ref=HEAD~1000000000000", wasmres.ErrInvalid, "1000"},
		{"git://tree?ref=HEAD~x", wasmres.ErrInvalid, "~N"},
		{"git://tree?ref=HEAD~%7B1%7D", wasmres.ErrInvalid, "~N"},
		{"git://commit/0123456789012345678901234567890123456789", wasmres.ErrNotFound, "no object 0123"},
		{"git://commit/7bd6", wasmres.ErrNotFound, "7bd6"},
		{"git://log?ref=&limit=0", wasmres.ErrInvalid, "1 to 100"},
		{"git://log?ref=&limit=101", wasmres.ErrInvalid, "1 to 100"},
		{"git://log?ref=&limit=1&skip=-1", wasmres.ErrInvalid, "skip"},
		{"git://log?ref=&limit=many", wasmres.ErrInvalid, "limit"},
		{"git://log?ref=&limit=1&skip=1000", nil, ""},
	} {
		if c.class != nil {
			fails(t, p, c.uri, c.class, c.words)
		} else if _, err := p.Read(c.uri); err != nil {
			t.Errorf("%s: %v", c.uri, err)
		}
	}
	blob := strings.TrimSpace(git(t, small(t), "rev-parse", "HEAD:README.md"))
	fails(t, p, "git://commit/"+blob, wasmres.ErrNotFound, "a blob")
}

func TestNoRepository(t *testing.T) {
	fails(t, serve(t, t.TempDir()), "git://head", wasmres.ErrNotFound, "no git repository")
	fails(t, wasmrestest.New(t), "git://head", wasmres.ErrDenied, "--dir")
}

func TestNothingCommitted(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "trunk")
	p := serve(t, dir)
	if h := decode[headJSON](t, p, "git://head"); h.Branch != "trunk" || h.Commit != nil {
		t.Errorf("got %+v", h)
	}
	entries, next, err := p.Page("")
	if len(entries) > 0 || next != "" || err != nil {
		t.Errorf("got %v, %q, %v", entries, next, err)
	}
	fails(t, p, "git://log", wasmres.ErrNotFound, `no "HEAD"`)
}

func TestFormatsOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(dir string)
		words   string
	}{
		"sha256": {func(dir string) { git(t, dir, "init", "-q", "--object-format=sha256") }, `objectformat "sha256"`},
		"reftable": {func(dir string) {
			git(t, dir, "init", "-q")
			git(t, dir, "config", "core.repositoryformatversion", "1")
			git(t, dir, "config", "extensions.refStorage", "reftable")
		}, `refstorage "reftable"`},
		"an extension": {func(dir string) {
			git(t, dir, "init", "-q")
			git(t, dir, "config", "core.repositoryformatversion", "1")
			git(t, dir, "config", "extensions.objectsInTheCloud", "true")
		}, `extension "objectsinthecloud"`},
		"a version": {func(dir string) {
			git(t, dir, "init", "-q")
			git(t, dir, "config", "core.repositoryformatversion", "7")
		}, `version "7"`},
		"alternates": {func(dir string) { git(t, dir, "clone", "-q", "--shared", small(t), dir) }, "git repack"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(dir)
			fails(t, serve(t, dir), "git://head", wasmres.ErrUnsupported, c.words)
		})
	}
}

func TestLinkedWorkingTree(t *testing.T) {
	dir, tree := small(t), filepath.Join(t.TempDir(), "tree")
	git(t, dir, "worktree", "add", "-q", tree, "v1.0")
	p := serve(t, tree)
	fails(t, p, "git://head", wasmres.ErrUnsupported, "at the path it has")
	p.Mounts[dir+"/.git"] = os.DirFS(dir + "/.git")
	h := decode[headJSON](t, p, "git://head")
	if want := strings.TrimSpace(git(t, dir, "rev-parse", "v1.0^{}")); h.Branch != "" || h.Commit.Hash != want {
		t.Errorf("got %+v, want commit %s", h, want)
	}
	compare(t, serve(t, dir), dir)
}

func TestShallowClone(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "clone", "-q", "--depth=2", "file://"+small(t), ".")
	p := serve(t, dir)
	page := decode[logJSON](t, p, "git://log")
	var got []string
	for _, c := range page.Commits {
		got = append(got, c.Subject)
	}
	if want := "Größe: tidy up|Merge feature/greeting"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if text := p.Text("git://commit/HEAD~1"); !strings.Contains(text, "new file mode 100644") {
		t.Errorf("got %s", text)
	}
}

func TestLargeFile(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, "fits", make([]byte, objectMax))
	write(t, dir, "large", make([]byte, objectMax+1))
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "large")
	for range 2 {
		p := serve(t, dir)
		fails(t, p, "git://file/large", wasmres.ErrTooLarge, "8388608 bytes")
		if got := len(p.Bytes("git://file/fits")); got != objectMax {
			t.Errorf("got %d bytes, want %d", got, objectMax)
		}
		git(t, dir, "gc", "-q")
	}
}

func TestAmbiguousHash(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	g := func() *objects {
		o, err := openObjects(os.DirFS(dir + "/.git/objects"))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	hash := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
	twin := hash[:39] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", hash[39])+1)%16])
	write(t, dir, ".git/objects/"+twin[:2]+"/"+twin[2:], nil)
	if found, err := g().withPrefix(hash[:39]); len(found) != 2 || err != nil {
		t.Errorf("got %v, %v", found, err)
	}
	fails(t, serve(t, dir), "git://commit/"+hash[:8], wasmres.ErrInvalid, "more digits")
	git(t, dir, "repack", "-q", "-a")
	if found, err := g().withPrefix(hash); len(found) != 1 || err != nil { // it is in a pack, too
		t.Errorf("got %v, %v", found, err)
	}
}
