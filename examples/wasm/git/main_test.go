package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/examples/wasm/uripath"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// small makes the repository of tests/repository.sh.
func small(t *testing.T) (dir string) {
	dir = filepath.Join(t.TempDir(), "small")
	run(t, ".", "sh", "tests/repository.sh", dir)
	return dir
}

// git gives what a command of git prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return run(t, dir, "git", args...)
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c")
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, &complaint)
	}
	return string(out)
}

// serve runs the provider with a folder as its repository.
func serve(t *testing.T, dir string) *wasmrestest.Provider {
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{root: os.DirFS(dir)}
	return p
}

// decode reads a resource that is JSON.
func decode[T any](t *testing.T, p *wasmrestest.Provider, uri string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(p.Text(uri)), &v); err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	return v
}

func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, content, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestEveryStorage reads the same repository in all the ways that git keeps one.
func TestEveryStorage(t *testing.T) {
	original := small(t)
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"half packed": func(*testing.T, string) {},
		"packed":      func(t *testing.T, dir string) { git(t, dir, "gc", "-q", "--aggressive") },
		"two packs":   func(t *testing.T, dir string) { git(t, dir, "repack", "-q") },
		"loose": func(t *testing.T, dir string) {
			pack, moved := onlyPack(t, dir), filepath.Join(t.TempDir(), "pack")
			if err := os.Rename(pack, moved); err != nil {
				t.Fatal(err)
			}
			run(t, dir, "sh", "-c", `git unpack-objects -q < "$0"`, moved)
		},
		"deltas by name": func(t *testing.T, dir string) {
			git(t, dir, "-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f")
		},
		"large offsets": func(t *testing.T, dir string) {
			git(t, dir, "repack", "-q", "-a", "-d")
			pack := onlyPack(t, dir)
			index := strings.TrimSuffix(pack, "pack") + "idx"
			if err := os.Remove(index); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "index-pack", "--index-version=2,0x40", "-o", index, pack)
		},
		"bare": func(t *testing.T, dir string) {
			for _, name := range []string{"HEAD", "config", "objects", "refs", "packed-refs"} {
				if err := os.Rename(dir+"/.git/"+name, dir+"/"+name); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.RemoveAll(dir + "/.git"); err != nil {
				t.Fatal(err)
			}
		},
		"a file .git": func(t *testing.T, dir string) {
			if err := os.Rename(dir+"/.git", dir+"/.bare"); err != nil {
				t.Fatal(err)
			}
			write(t, dir, ".git", []byte("gitdir: ./.bare\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run(t, ".", "cp", "-r", original+"/.git", dir+"/.git")
			prepare(t, dir)
			compare(t, serve(t, dir), original)
		})
	}
}

// onlyPack gives the file of a repository's only pack.
func onlyPack(t *testing.T, dir string) string {
	t.Helper()
	packs, err := filepath.Glob(dir + "/.git/objects/pack/*.pack")
	if err != nil || len(packs) != 1 {
		t.Fatalf("got packs %q, %v, want one", packs, err)
	}
	return packs[0]
}

// files gives the files of HEAD.
func files(t *testing.T, dir string) []string {
	t.Helper()
	tree := git(t, dir, "ls-tree", "-r", "-z", "--name-only", "HEAD")
	return strings.Split(strings.TrimSuffix(tree, "\x00"), "\x00")
}

// compare compares what a provider serves with what git shows of the repository it was made from.
func compare(t *testing.T, p *wasmrestest.Provider, original string) {
	t.Helper()
	for _, name := range files(t, original) {
		contents, err := p.Read("git://file/" + uripath.Escape(name))
		if err != nil || len(contents) != 1 {
			t.Fatalf("%s: %v, %v", name, contents, err)
		}
		if want := git(t, original, "show", "HEAD:"+name); string(contents[0].Data) != want {
			t.Errorf("%s: got %q, want %q", name, contents[0].Data, want)
		}
		if want := strings.TrimSpace(git(t, original, "rev-parse", "HEAD:"+name)); contents[0].ETag != want {
			t.Errorf("%s: got etag %s, want %s", name, contents[0].ETag, want)
		}
	}
	for _, ref := range []string{"", "main", "v1.0", "feature/greeting", "refs/tags/v1.1", "HEAD~1^2", "@~2"} {
		page := decode[logJSON](t, p, "git://log?ref="+uripath.EscapeSegment(ref)+"&limit=100")
		var got []string
		for _, c := range page.Commits {
			got = append(got, c.Hash)
		}
		if want := strings.Fields(git(t, original, "log", "--format=%H", orElse(ref, "HEAD"))); !slices.Equal(got, want) {
			t.Errorf("log of %q: got %v, want %v", ref, got, want)
		}
		f := decode[folderJSON](t, p, "git://tree?ref="+uripath.EscapeSegment(ref))
		var entries strings.Builder
		for _, e := range f.Entries {
			size := "-"
			if e.Type == "blob" {
				size = strconv.FormatInt(e.Size, 10)
			}
			entries.WriteString(e.Mode + " " + e.Type + " " + e.Hash + " " + size + " " + e.Name + "\n")
		}
		format := "--format=%(objectmode) %(objecttype) %(objectname) %(objectsize) %(path)"
		want := git(t, original, "ls-tree", format, orElse(ref, "HEAD"))
		if entries.String() != want {
			t.Errorf("tree of %q: got\n%swant\n%s", ref, &entries, want)
		}
	}
	for _, hash := range strings.Fields(git(t, original, "rev-list", "--all")) {
		got := p.Text("git://commit/" + hash[:12])
		want := git(t, original, "show", "--format=fuller", "--no-abbrev", "--full-index", "--no-color", "-M100%",
			"--diff-merges=first-parent", hash)
		if got, want = plain(got), plain(strings.ToValidUTF8(want, "\ufffd")); got != want {
			t.Errorf("commit %s: got\n%s\nwant\n%s", hash, got, want)
		}
	}
}

// plain leaves out of a diff what go-git words in another way: what a hunk stands in, how similar a renamed file is,
// and the tab behind a name with spaces.
func plain(diff string) string {
	return reworded.ReplaceAllString(diff, "$1")
}

var reworded = regexp.MustCompile(`(?m)^(@@ .* @@).*$|^similarity index 100%\n|\t$`)

func TestHeadBranchesTags(t *testing.T) {
	dir := small(t)
	git(t, dir, "branch", "loose", "v1.0")
	git(t, dir, "update-ref", "refs/remotes/origin/main", "main~1")
	git(t, dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	git(t, dir, "tag", "-a", "-m", "m", "v2.0", "main")
	git(t, dir, "tag", "readme", "main:README.md")
	p := serve(t, dir)
	hash := func(revision string) string { return strings.TrimSpace(git(t, dir, "rev-parse", revision)) }

	h := decode[headJSON](t, p, "git://head")
	if h.Branch != "main" || h.Commit.Hash != hash("HEAD") || h.Commit.Subject != "Größe: tidy up" ||
		h.Commit.Author.Name != "Ada Lovelace" || h.Commit.Author.Date != "2026-11-20T10:14:00+01:00" {
		t.Errorf("got %+v", h)
	}
	type list struct{ Branches, Tags []branchJSON }
	branch := func(name, revision string) branchJSON {
		return branchJSON{Name: name, Commit: hash(revision), Log: "git://log?ref=" + uripath.EscapeSegment(name)}
	}
	current, remote := branch("main", "main"), branch("origin/main", "main~1")
	current.Current, remote.Remote = true, true
	want := []branchJSON{branch("feature/greeting", "feature/greeting"), branch("loose", "v1.0^{}"), current, remote}
	if got := decode[list](t, p, "git://branches").Branches; !slices.Equal(got, want) {
		t.Errorf("branches: got %+v, want %+v", got, want)
	}
	want = []branchJSON{
		branch("readme", "readme"), branch("v1.0", "v1.0^{}"), branch("v1.1", "v1.1"), branch("v2.0", "main"),
	}
	if got := decode[list](t, p, "git://tags").Tags; !slices.Equal(got, want) {
		t.Errorf("tags: got %+v, want %+v", got, want)
	}
	git(t, dir, "checkout", "-q", "v1.0")
	if h := decode[headJSON](t, p, "git://head"); h.Branch != "" || h.Commit.Hash != hash("v1.0^{}") {
		t.Errorf("detached: got %+v", h)
	}
}

func TestLogHasPages(t *testing.T) {
	dir := small(t)
	p := serve(t, dir)
	all := strings.Fields(git(t, dir, "log", "--format=%H"))
	for limit := 1; limit <= len(all)+1; limit++ {
		var got []string
		for uri := "git://log?ref=HEAD&limit=" + strconv.Itoa(limit); uri != ""; {
			page := decode[logJSON](t, p, uri)
			if len(page.Commits) == 0 || len(page.Commits) > limit {
				t.Fatalf("%s: got %d commits", uri, len(page.Commits))
			}
			for _, c := range page.Commits {
				got = append(got, c.Hash)
			}
			uri = page.Next
		}
		if !slices.Equal(got, all) {
			t.Errorf("pages of %d: got %v, want %v", limit, got, all)
		}
	}
}

func TestListIsWhatGitLists(t *testing.T) {
	dir := small(t)
	for _, name := range []string{"src.txt", "src-1/a", "src/z", "ZZZ", "a b/c#d?", "größe"} {
		write(t, dir, name, []byte(name))
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "names")
	want := files(t, dir)
	p := serve(t, dir)
	for _, size := range []int{1, 2, 3, 100} {
		p.PageSize = size
		var got []string
		for _, e := range p.List() {
			if name, ok := strings.CutPrefix(e.URI, "git://file/"); ok {
				got = append(got, e.Name)
				if contents, err := p.Read(e.URI); err != nil || e.Size != uint64(len(contents[0].Data)) || e.LastModified == "" {
					t.Errorf("got %+v, which is read with %v", e, err)
				}
				if name != uripath.Escape(e.Name) {
					t.Errorf("got %+v", e)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %q, want %q", size, got, want)
		}
	}
	if _, _, err := p.Page("nonsense"); !errors.Is(err, wasmres.ErrInvalid) {
		t.Errorf("got %v, want invalid", err)
	}
}

func TestComplete(t *testing.T) {
	p := serve(t, small(t))
	for _, c := range []struct {
		template, variable, prefix, ref string
		want                            []string
	}{
		{"git://log{?ref,limit,skip}", "ref", "", "", []string{"HEAD", "feature/greeting", "main", "v1.0", "v1.1"}},
		{"git://log{?ref,limit,skip}", "ref", "v", "", []string{"v1.0", "v1.1"}},
		{"git://commit/{+ref}", "ref", "3ce", "", []string{"3ce33aa0891bfe6e2c35b0e9c70349b448de99ce"}},
		{"git://file/{+path}{?ref}", "path", "", "", []string{"COPYING", "README.md", "entry", "logo.png", "notes/", "src/"}},
		{"git://file/{+path}{?ref}", "path", "src/", "", []string{"src/deep/", "src/main.go"}},
		{"git://file/{+path}{?ref}", "path", "src/deep/n", "", []string{"src/deep/numbers.txt"}},
		{"git://file/{+path}{?ref}", "path", "L", "v1.0", []string{"LICENSE"}},
		{"git://file/{+path}{?ref}", "path", "nothing/", "", nil},
		{"git://file/{+path}{?ref}", "path", "", "nothing", nil},
		{"git://tree/{+path}{?ref}", "path", "", "", []string{"notes/", "src/"}},
	} {
		got, err := p.Complete(c.template, c.variable, c.prefix, map[string]string{"ref": c.ref})
		if !slices.Equal(got, c.want) || err != nil {
			t.Errorf("%s %s=%s at %q: got %q, %v, want %q", c.template, c.variable, c.prefix, c.ref, got, err, c.want)
		}
	}
}

func TestChangesAreSeen(t *testing.T) {
	dir := small(t)
	p := serve(t, dir)
	uris := []string{"git://head", "git://branches", "git://tags", "git://file/README.md"}
	poll := func(uri, etag string) (now string, changed bool) {
		t.Helper()
		now, changed, err := p.Poll(uri, etag)
		if err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
		return now, changed
	}
	before := map[string]string{}
	for _, uri := range uris {
		before[uri], _ = poll(uri, "")
		if _, changed := poll(uri, before[uri]); changed {
			t.Errorf("%s has changed by itself", uri)
		}
		contents, err := p.Read(uri)
		if err != nil || contents[0].ETag != before[uri] {
			t.Errorf("%s: read %+v, %v, want etag %s", uri, contents, err, before[uri])
		}
	}
	write(t, dir, "README.md", []byte("changed\n"))
	git(t, dir, "commit", "-q", "-a", "-m", "change")
	for _, uri := range uris {
		if _, changed := poll(uri, before[uri]); !changed {
			t.Errorf("%s has not changed", uri)
		}
	}
}

// TestSession sees to it that the recorded session is of the repository that the script makes.
func TestSession(t *testing.T) {
	session, err := os.ReadFile("tests/git.txtar")
	head := strings.TrimSpace(git(t, small(t), "rev-parse", "HEAD"))
	if err != nil || !strings.Contains(string(session), head) {
		t.Errorf("tests/git.txtar does not have commit %s: %v; record it anew", head, err)
	}
}
