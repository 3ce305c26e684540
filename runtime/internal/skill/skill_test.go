package skill_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/skill"
	"github.com/wasmres/wasmres/runtime/resource"
)

const doc = "---\nname: pdf\ndescription: Fills forms.\nmetadata:\n  version: \"1\"\npages: 0x10\ntags: [a, null, true]\n---\nText.\n"

// A tree is a source of directories; a file has one content.
type tree struct {
	resource.Source
	list  []string
	dirs  map[string][]abi.Resource
	files map[string]string
	page  int
	scope abi.CacheScope
}

func (s *tree) HasDirectories() bool { return true }

func (s *tree) List(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	begin, _ := strconv.Atoi(req.Cursor)
	end := min(begin+s.page, len(s.list))
	reply := &abi.Reply{TTLMillis: 60, CacheScope: abi.CachePublic}
	for _, uri := range s.list[begin:end] {
		reply.Resources = append(reply.Resources, abi.Resource{URI: uri})
	}
	if end < len(s.list) {
		reply.NextCursor = strconv.Itoa(end)
	}
	return reply, nil
}

func (s *tree) ReadDirectory(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	entries, ok := s.dirs[req.URI.Normal()]
	if !ok {
		return nil, abi.Errorf(abi.CodeNotFound, "")
	}
	begin, _ := strconv.Atoi(req.Cursor)
	end := min(begin+s.page, len(entries))
	reply := &abi.Reply{Resources: entries[begin:end], TTLMillis: 50, CacheScope: abi.CachePublic}
	if end < len(entries) {
		reply.NextCursor = strconv.Itoa(end)
	}
	return reply, nil
}

func (s *tree) Read(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	text, ok := s.files[req.URI.Normal()]
	if !ok {
		return nil, abi.Errorf(abi.CodeNotFound, "")
	}
	if err := sink.Content(&abi.Content{URI: req.URI.Normal(), Kind: abi.KindText}); err != nil {
		return nil, err
	}
	return &abi.Reply{TTLMillis: 40, CacheScope: s.scope}, sink.Body([]byte(text))
}

// newTree makes a tree of files by their URIs, which all are below a directory of the scheme skill.
func newTree(files map[string]string) *tree {
	s := &tree{dirs: map[string][]abi.Resource{}, files: files, page: 2, scope: abi.CachePublic}
	for uri := range files {
		s.add(uri, "")
		if strings.HasSuffix(uri, "/SKILL.md") {
			s.list = append(s.list, uri)
		}
	}
	return s
}

func (s *tree) add(uri, mimeType string) {
	dir := uri[:strings.LastIndexByte(uri, '/')]
	if _, known := s.dirs[dir]; !known && strings.Count(dir, "/") > 2 {
		s.add(dir, abi.DirectoryType)
	}
	s.dirs[dir] = append(s.dirs[dir], abi.Resource{URI: uri, Name: uri[len(dir)+1:], MIMEType: mimeType})
}

func get(s resource.Source, uri string) (*skill.Skill, *skill.Reader, error) {
	r := &skill.Reader{Source: s}
	found, err := r.Get(context.Background(), abi.MustParseURI(uri))
	return found, r, err
}

func TestGet(t *testing.T) {
	s := newTree(map[string]string{"skill://pdf/SKILL.md": doc, "skill://pdf/a/b/c.txt": "deep", "skill://pdf/z.md": "", "skill://other/SKILL.md": doc})
	found, r, err := get(s, "skill://pdf/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range found.Files {
		got[f.URI] = fmt.Sprint(f.Size, " ", f.Digest)
	}
	want := map[string]string{}
	for _, uri := range []string{"skill://pdf/SKILL.md", "skill://pdf/a/b/c.txt", "skill://pdf/z.md"} {
		sum := sha256.Sum256([]byte(s.files[uri]))
		want[uri] = fmt.Sprint(len(s.files[uri]), " sha256:", hex.EncodeToString(sum[:]))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	const frontmatter = `{"name":"pdf","description":"Fills forms.","metadata":{"version":"1"},"pages":16,"tags":["a",null,true]}`
	if found.Frontmatter != frontmatter || r.TTLMillis != 40 || r.Scope != abi.CachePublic {
		t.Errorf("got %s, fresh for %d ms, scope %v", found.Frontmatter, r.TTLMillis, r.Scope)
	}
	s.scope = abi.CachePrivate
	if _, r, err := get(s, "skill://pdf/SKILL.md"); err != nil || r.Scope != abi.CachePrivate {
		t.Errorf("a private file: got scope %v, %v, want private", r.Scope, err)
	}
}

func TestGetRefuses(t *testing.T) {
	many := map[string]string{"skill://pdf/SKILL.md": doc}
	for i := range skill.MaxFiles {
		many[fmt.Sprintf("skill://pdf/%d", i)] = ""
	}
	endless := newTree(map[string]string{"skill://pdf/SKILL.md": doc})
	deep := "skill://pdf"
	for range 1000 {
		deep += "/d"
		endless.add(deep, abi.DirectoryType)
	}
	for name, s := range map[string]*tree{
		"too many files": newTree(many),
		"too deep":       endless,
		"too large":      newTree(map[string]string{"skill://pdf/SKILL.md": doc, "skill://pdf/a": strings.Repeat("a", skill.MaxBytes)}),
		"another name":   newTree(map[string]string{"skill://pdf/SKILL.md": strings.Replace(doc, "pdf", "pdg", 1)}),
		"no frontmatter": newTree(map[string]string{"skill://pdf/SKILL.md": "# PDF"}),
		"a number":       newTree(map[string]string{"skill://pdf/SKILL.md": "---\nname: pdf\ndescription: x\nmetadata: {version: 1}\n---\n"}),
		"an alias":       newTree(map[string]string{"skill://pdf/SKILL.md": "---\nname: &a pdf\ndescription: *a\n---\n"}),
		"absent":         newTree(map[string]string{"skill://pdf/x.md": doc}),
		"no directory":   newTree(nil),
	} {
		if _, _, err := get(s, "skill://pdf/SKILL.md"); abi.CodeOf(err) != abi.CodeInvalidParams {
			t.Errorf("%s: got %v, want that there is no skill", name, err)
		}
	}
	if _, _, err := get(newTree(map[string]string{"skill://pdf/SKILL.md": doc}), "skill://pdf"); abi.CodeOf(err) != abi.CodeInvalidParams {
		t.Errorf("a directory: got %v, want that there is no skill", err)
	}
}

func TestListLeavesInvalidSkillsOut(t *testing.T) {
	files := map[string]string{"skill://bad/SKILL.md": doc}
	for i := range 7 {
		name := fmt.Sprintf("s%d", i)
		files["skill://"+name+"/SKILL.md"] = strings.Replace(doc, "pdf", name, 1)
	}
	s := newTree(files)
	var left []string
	got, pages := map[string]bool{}, 0
	for cursor := ""; ; pages++ {
		r := &skill.Reader{Source: s, LeftOut: func(uri string, _ error) { left = append(left, uri) }}
		page, err := r.List(context.Background(), cursor)
		if err != nil || pages > 10 {
			t.Fatal(pages, err)
		}
		for _, one := range page.Skills {
			got[one.URI] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(got) != 7 || got["skill://bad/SKILL.md"] || cmp.Diff(left, []string{"skill://bad/SKILL.md"}) != "" {
		t.Errorf("got %v, left out %v", got, left)
	}
	for _, cursor := range []string{"x", "-1:", "1"} {
		r := &skill.Reader{Source: s}
		if _, err := r.List(context.Background(), cursor); abi.CodeOf(err) != abi.CodeInvalidParams {
			t.Errorf("cursor %q: got %v, want an error", cursor, err)
		}
	}
}

// Whatever is accepted is one JSON object with the name and a description.
func FuzzParseFrontmatter(f *testing.F) {
	f.Add(doc)
	f.Add("---\r\nname: pdf\r\ndescription: >\r\n  a\r\n  b\r\nn: [.inf, 1e3, 0o7, 1_000, -0]\r\n---\r\n")
	f.Add("---\nname: pdf\ndescription: x\n? [a]\n: b\n---")
	f.Fuzz(func(t *testing.T, text string) {
		object, err := skill.ParseFrontmatter(text, "pdf")
		if err != nil {
			return
		}
		var got struct{ Name, Description string }
		if err := json.Unmarshal([]byte(object), &got); err != nil || got.Name != "pdf" || got.Description == "" {
			t.Fatalf("%q became %s: %v", text, object, err)
		}
	})
}
