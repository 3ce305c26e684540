package guard_test

import (
	"context"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guard"
	"github.com/wasmres/wasmres/runtime/internal/skill"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A folder is a source with the directory skill://pdf, in which are a file, a SKILL.md and the directory sub with one file.
type folder struct{ *recording }

func newFolder() folder {
	s := folder{newSource()}
	s.Text("skill://pdf/SKILL.md", "---\nname: pdf\ndescription: x\n---\n")
	s.Text("skill://pdf/a", "a")
	s.Text("skill://pdf/sub/b", "b")
	return s
}

func (folder) HasDirectories() bool { return true }

func (folder) ReadDirectory(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	reply := &abi.Reply{TTLMillis: 1000, CacheScope: abi.CachePublic}
	switch req.URI.Normal() {
	case "skill://pdf":
		reply.Resources = []abi.Resource{
			{URI: "skill://pdf/SKILL.md", Name: "SKILL.md"}, {URI: "skill://pdf/a", Name: "a"},
			{URI: "skill://pdf/sub", Name: "sub", MIMEType: abi.DirectoryType},
		}
	case "skill://pdf/sub":
		reply.Resources = []abi.Resource{{URI: "skill://pdf/sub/b", Name: "b"}}
	default:
		return nil, abi.Errorf(abi.CodeNotFound, "no directory of the folder")
	}
	return reply, nil
}

func TestDirectoriesOfAClient(t *testing.T) {
	for _, c := range []struct {
		pattern, dir string
		want         []string // nil for not found
	}{
		{"skill://pdf/**", "skill://pdf", []string{"SKILL.md", "a", "sub"}},
		{"skill://pdf/a", "skill://pdf", []string{"a"}},
		{"skill://pdf/sub/b", "skill://pdf", []string{"sub"}},
		{"skill://pdf/sub/b", "skill://pdf/sub", []string{"b"}},
		{"skill://pdf/a", "skill://pdf/sub", nil},
		{"notes://**", "skill://pdf", nil},
		{"notes://**", "skill://none", nil},
		{"skill://none/**", "skill://none", nil},
	} {
		reply, err := guard.New(newFolder()).ReadDirectory(as(t, c.pattern), &resource.Request{URI: abi.MustParseURI(c.dir)})
		if c.want == nil {
			if abi.CodeOf(err) != abi.CodeNotFound || err.Error() == "no directory of the folder" {
				t.Errorf("%s in %s: got %v, want the same as for what does not exist", c.pattern, c.dir, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s in %s: %v", c.pattern, c.dir, err)
			continue
		}
		var got []string
		for _, r := range reply.Resources {
			got = append(got, r.Name)
		}
		if !slices.Equal(got, c.want) || reply.CacheScope != abi.CachePrivate {
			t.Errorf("%s in %s: got %q, scope %v, want %q, private", c.pattern, c.dir, got, reply.CacheScope, c.want)
		}
	}
	if _, err := guard.New(newFolder()).ReadDirectory(t.Context(), &resource.Request{URI: abi.MustParseURI("skill://pdf")}); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("without an identity: got %v, want denied", err)
	}
}

// A skill has the files that its client may see, and is none for a client who may not see its SKILL.md.
func TestSkillsOfAClient(t *testing.T) {
	for pattern, want := range map[string]int{"skill://pdf/**": 3, "skill://pdf/SKILL.md": 1, "skill://pdf/a": -1} {
		r := &skill.Reader{Source: guard.New(newFolder())}
		s, err := r.Get(as(t, pattern), abi.MustParseURI("skill://pdf/SKILL.md"))
		switch {
		case want < 0 && abi.CodeOf(err) != abi.CodeInvalidParams:
			t.Errorf("%s: got %v, want no skill", pattern, err)
		case want >= 0 && (err != nil || len(s.Files) != want || r.Scope != abi.CachePrivate):
			t.Errorf("%s: got %+v, %v, want %d files, private", pattern, s, err, want)
		}
	}
}
