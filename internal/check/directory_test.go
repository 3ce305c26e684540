package check_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

const skillText = "---\nname: tea\ndescription: Makes tea.\n---\n# Tea\n"

// A tree is a provider of a skill and a listed directory, whose directories have no fault until a test replaces one.
type tree struct {
	*source
	directories map[string][]abi.Resource
	files       map[string]string
	pageOf      func(uri string, req *resource.Request) (*abi.Reply, error)
}

func newTree() *tree {
	child := func(uri, mimeType string, size int) abi.Resource {
		name := uri[strings.LastIndexByte(uri, '/')+1:]
		return abi.Resource{URI: uri, Name: name, MIMEType: mimeType, Size: uint64(size), Priority: math.NaN()}
	}
	s := &tree{
		source: faultless(),
		files:  map[string]string{"skill://tea/SKILL.md": skillText, "skill://tea/pots/a.txt": "a", "skill://tea/pots/b.txt": "bb", "skill://tea/c.txt": "c"},
	}
	s.directories = map[string][]abi.Resource{
		"skill://tea": {
			child("skill://tea/SKILL.md", "text/plain", len(skillText)), child("skill://tea/c.txt", "text/plain", 1),
			child("skill://tea/pots", abi.DirectoryType, 0),
		},
		"skill://tea/pots": {child("skill://tea/pots/a.txt", "text/plain", 1), child("skill://tea/pots/b.txt", "text/plain", 2)},
		"skill://empty":    {},
	}
	s.manifest.Ops |= 1 << abi.OpListDir
	s.manifest.URIPrefixes = append(s.manifest.URIPrefixes, "skill://")
	s.list = func(req *resource.Request) (*abi.Reply, error) {
		return page(append(slices.Clone(s.manifest.Resources), child("skill://tea/SKILL.md", "text/plain", 0), child("skill://empty", abi.DirectoryType, 0)), req)
	}
	s.read = func(req *resource.Request) ([]answer, error) {
		if body, ok := s.files[req.URI.String()]; ok {
			return []answer{text(req, body)}, nil
		}
		return s.readWell(req)
	}
	s.pageOf = s.pageWell
	return s
}

func (s *tree) HasDirectories() bool { return s.manifest.Implements(abi.OpListDir) }

func (s *tree) pageWell(uri string, req *resource.Request) (*abi.Reply, error) {
	entries, ok := s.directories[uri]
	if !ok {
		return nil, abi.Errorf(abi.CodeNotFound, "no such directory")
	}
	return page(entries, req)
}

// ReadDirectory implements resource.Directories.
func (s *tree) ReadDirectory(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	reply, err := s.pageOf(req.URI.String(), req)
	if err == nil {
		err = abi.CheckChildren(req.URI.Normal(), reply.Resources)
	}
	return reply, err
}

func TestFaultlessDirectoriesAreClean(t *testing.T) {
	report := run(t, newTree())
	if len(report.Findings) > 0 || report.Directories != 3 || report.Skills != 1 || report.Read != 6 {
		t.Errorf("got %+v, want 3 directories, 1 skill and 6 resources read", report)
	}
}

// TestEachSinOfDirectoriesIsFound has a provider break one rule, by the URI at which it is found.
func TestEachSinOfDirectoriesIsFound(t *testing.T) {
	answering := func(change func(s *tree, uri string, reply *abi.Reply, n int) error) func(*tree) {
		return func(s *tree) {
			n := map[string]int{}
			s.pageOf = func(uri string, req *resource.Request) (*abi.Reply, error) {
				reply, err := s.pageWell(uri, req)
				if err != nil || uri != "skill://tea/pots" {
					return reply, err
				}
				reply.Resources = slices.Clone(reply.Resources)
				n[uri]++
				return reply, change(s, uri, reply, n[uri])
			}
		}
	}
	for name, c := range map[string]struct {
		where  string
		rules  []string // broken, in the order of the rules
		commit func(*tree)
	}{
		"fails": {"skill://tea/pots", []string{"list-fails", "skill-invalid"}, answering(func(*tree, string, *abi.Reply, int) error {
			return abi.Errorf(abi.CodeUnsupported, "no")
		})},
		"a name": {"skill://tea/pots", []string{"list-fails"}, answering(func(_ *tree, _ string, reply *abi.Reply, _ int) error {
			reply.Resources[0].Name = "../a"
			return nil
		})},
		"no child": {"skill://tea/pots", []string{"list-fails"}, answering(func(_ *tree, _ string, reply *abi.Reply, _ int) error {
			reply.Resources[0].URI = "skill://tea/c.txt"
			return nil
		})},
		"endless": {"skill://tea/pots", []string{"list-endless", "skill-invalid"}, answering(func(_ *tree, _ string, reply *abi.Reply, n int) error {
			reply.Resources, reply.NextCursor = nil, fmt.Sprintf("c%d", n%3)
			return nil
		})},
		"unstable": {"skill://tea/pots", []string{"list-unstable"}, answering(func(s *tree, uri string, reply *abi.Reply, n int) error {
			reply.Resources = slices.Clone(s.directories[uri])
			if n == 2 || n == 3 {
				slices.Reverse(reply.Resources)
			}
			reply.NextCursor = ""
			return nil
		})},
		"unreadable": {"skill://tea/pots/b.txt", []string{"read-fails", "skill-invalid"}, func(s *tree) { delete(s.files, "skill://tea/pots/b.txt") }},
		"size":       {"skill://tea/pots/b.txt", []string{"size-differs"}, func(s *tree) { s.files["skill://tea/pots/b.txt"] = "three" }},
		"any": {"skill://tea/wasmres-check-no-such-resource", []string{"not-found"}, func(s *tree) {
			s.pageOf = func(uri string, req *resource.Request) (*abi.Reply, error) {
				if s.directories[uri] == nil {
					return &abi.Reply{}, nil
				}
				return s.pageWell(uri, req)
			}
		}},
		"cursor": {"skill://tea", []string{"cursor-taken"}, func(s *tree) {
			s.pageOf = func(uri string, req *resource.Request) (*abi.Reply, error) {
				reply, err := s.pageWell(uri, req)
				if abi.CodeOf(err) == abi.CodeInvalidParams {
					return &abi.Reply{}, nil
				}
				return reply, err
			}
		}},
		"no operation": {"skill://empty", []string{"directory-unlisted"}, func(s *tree) { s.manifest.Ops &^= 1 << abi.OpListDir }},
		"frontmatter":  {"skill://tea/SKILL.md", []string{"skill-invalid"}, func(s *tree) { s.files["skill://tea/SKILL.md"] = strings.Replace(skillText, "tea", "pot", 1) }},
		"bytes": {"skill://tea/c.txt", []string{"read-unstable", "skill-unstable"}, func(s *tree) {
			n, read := 0, s.read
			s.read = func(req *resource.Request) ([]answer, error) {
				if req.URI.String() == "skill://tea/c.txt" {
					n++
					return []answer{text(req, string(rune('a'+n%26)))}, nil
				}
				return read(req)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTree()
			c.commit(s)
			report := run(t, s)
			found := false
			for _, f := range report.Findings {
				found = found || f.Where == c.where && f.Rule == c.rules[0]
				if !slices.Contains(c.rules, f.Rule) && f.Rule != "skill-invalid" {
					t.Errorf("got %+v beside it", f)
				}
			}
			for _, rule := range c.rules {
				found = found && strings.Contains(fmt.Sprintf("%+v", report.Findings), rule)
			}
			if !found {
				t.Errorf("got %+v, want %s at %s", report.Findings, c.rules, c.where)
			}
		})
	}
}

// TestDirectoriesAreBounded gives a directory in each directory.
func TestDirectoriesAreBounded(t *testing.T) {
	s := newTree()
	s.pageOf = func(uri string, req *resource.Request) (*abi.Reply, error) {
		if req.URI.String() == uri && strings.HasSuffix(uri, "no-such-resource") {
			return nil, abi.Errorf(abi.CodeNotFound, "no such directory")
		}
		if len(uri) > 1000 || !strings.HasPrefix(uri, "skill://empty") {
			return s.pageWell("skill://empty", req)
		}
		var inner []abi.Resource
		for _, name := range []string{"a", "b"} {
			inner = append(inner, abi.Resource{URI: uri + "/" + name, Name: name, MIMEType: abi.DirectoryType, Priority: math.NaN()})
		}
		return page(inner, req)
	}
	if report := run(t, s); report.Directories != 1000 {
		t.Errorf("got %d directories, want no more than 1000", report.Directories)
	}
}
