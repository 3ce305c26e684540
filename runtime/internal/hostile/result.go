package hostile

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

const framesAt = 8192 // where hostile frames lie in memory

// saying returns a provider that emits frames and returns a code.
func saying(code abi.Code, frames ...[]byte) shape {
	p := shape{silent: true, code: int64(code)}
	at := int64(framesAt)
	for _, f := range frames {
		p.call = cat(p.call, num(at), num(int64(len(f))), op(opCall, funcEmit), op(opDrop))
		at += int64(len(f))
	}
	p.data = [][]byte{cat([]byte{0}, num(framesAt), op(opEnd), sized(cat(frames...)))}
	p.memory = cat([]byte{0}, u(uint64(at>>16)+1))
	return p
}

// variants makes a module of each frame.
func variants(frames ...[]byte) func() [][]byte {
	return func() [][]byte {
		var out [][]byte
		for _, f := range frames {
			out = append(out, saying(abi.CodeOK, f).module())
		}
		return out
	}
}

func content(c abi.Content) []byte {
	if c.URI == "" {
		c.URI = "x:a"
	}
	return c.Append(nil)
}

func contentsAt(uris ...string) func() [][]byte {
	var frames [][]byte
	for _, uri := range uris {
		frames = append(frames, content(abi.Content{URI: uri, Kind: abi.KindText, Inline: []byte("t")}))
	}
	return variants(frames...)
}

func entries(n int, e abi.Resource) []byte {
	e.Priority = math.NaN()
	one := (&abi.Reply{Resources: []abi.Resource{e}}).Append(nil)
	return times(n, one)
}

func results() []Case {
	reads := func(name, why string, want []string, modules func() [][]byte) Case {
		return Case{Name: name, Row: RowResults, Why: why, Modules: modules, Op: abi.OpRead, URI: "x:a", Want: want, After: "x:o"}
	}
	lists := func(name, why string, want []string, modules func() [][]byte) Case {
		c := reads(name, why, want, modules)
		c.Op, c.URI = abi.OpList, ""
		return c
	}
	protocol, badURI := []string{"protocol"}, []string{"invalid_uri"}
	a := reading{RowResults, "abi.wasm"}
	deepJSON := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	entry := abi.Resource{URI: "x:e", Name: "e"}
	cases := []Case{
		reads("uri-escapes", "URIs that leave the place they claim", badURI,
			contentsAt("file:///a/../../etc/passwd", "file:///a/%2e%2e/b", "file:///a%2fb", "file:///a%5cb", "x:/.//../")),
		reads("uri-control", "URIs that steer a terminal or split a header", badURI,
			contentsAt("x:a\x1b[2J", "x:a\r\nb", "x:a b", "x:\x00", "x:\u0085", "x:%00")),
		reads("uri-malformed", "URIs that are none", either(badURI, protocol),
			contentsAt("a", "/etc/passwd", "1:x", "x:%", "x:%zz", "x:\xff\xfe", "x:"+strings.Repeat("u", 3000))),
		reads("frames-malformed", "frames that end early, lie about lengths, or use what is not in the encoding", protocol, variants(
			[]byte{0x1a}, []byte{0x1a, 0x7f, 0x0a}, []byte{0x1a, 0xff, 0xff, 0xff, 0xff, 0x0f}, []byte{0x1a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
			[]byte{0x1b}, []byte{0x1c}, []byte{0x1e}, []byte{0x1f}, []byte{0x02, 0x00}, []byte{0x00, 0x00}, []byte{0x80, 0x80, 0x80, 0x80, 0x10, 0x00},
			[]byte{0x50, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, []byte{0x18, 0x01},
			[]byte{0x1a, 0x02, 0x0a, 0x05}, cat(fine, []byte{0xff}))),
		reads("frame-groups", "groups in groups, which a decoder would follow down", protocol, variants(times(1<<19, []byte{0x1b}), times(1<<19, []byte{0x0b}))),
		reads("content-fields", "types, tags, times and metadata that break their rules", protocol, variants(
			content(abi.Content{MIMEType: "text/plain\r\nX: y", Kind: abi.KindText, Inline: []byte("t")}),
			content(abi.Content{ETag: strings.Repeat("e", 300), Kind: abi.KindText, Inline: []byte("t")}),
			content(abi.Content{LastModified: "yesterday", Kind: abi.KindText, Inline: []byte("t")}),
			content(abi.Content{Meta: "[1]", Kind: abi.KindText, Inline: []byte("t")}),
			content(abi.Content{Meta: deepJSON, Kind: abi.KindText, Inline: []byte("t")}),
			content(abi.Content{Meta: `{"a":` + strings.Repeat(" ", 20<<10) + `1}`, Kind: abi.KindText, Inline: []byte("t")}),
			content(abi.Content{Meta: `{"a":"` + "\xff\xfe" + `"}`, Kind: abi.KindText, Inline: []byte("t")}))),
		reads("content-kinds", "text and bytes at once, and a kind there is not", protocol, variants(
			[]byte("\x1a\x0b\x0a\x03x:a\x1a\x01t\x22\x01b"), []byte("\x1a\x07\x0a\x03x:a\x28\x09"))),
		reads("content-none", "a read that answers nothing", protocol, variants(nil)),
		reads("content-size", "a size that the host would allocate", []string{"too_large"}, variants(
			content(abi.Content{Kind: abi.KindBlob, Size: math.MaxUint64}), content(abi.Content{Kind: abi.KindBlob, Size: 1 << 40}))),
		reads("content-large", "more bytes in one frame than a read may have", []string{"too_large"}, func() [][]byte {
			half := content(abi.Content{Kind: abi.KindBlob, Inline: make([]byte, 900<<10)})
			return [][]byte{saying(abi.CodeOK, half, half, half).module()}
		}),
		reads("error-text", "what a guest says of its failure: a MiB that clears the terminal", []string{"not_found", "protocol", "too_large"}, func() [][]byte {
			said := abi.GuestError{Message: strings.Repeat("\x1b[2J\r\n", 100<<10)}
			return [][]byte{saying(abi.CodeNotFound, (&abi.Reply{Error: &said}).Append(nil)).module()}
		}),
		reads("error-data", "error data that is no JSON object", protocol, func() [][]byte {
			var out [][]byte
			for _, data := range []string{"[", "1e999999", deepJSON, `{"a":1e999999`, "\xff"} {
				out = append(out, saying(abi.CodeNotFound, (&abi.Reply{Error: &abi.GuestError{Message: "m", Data: data}}).Append(nil)).module())
			}
			return out
		}),
		reads("manifest-in-read", "a manifest where none was asked for, twice", protocol, func() [][]byte {
			m := (&abi.Reply{Manifest: &manifest}).Append(nil)
			return [][]byte{saying(abi.CodeOK, m, m).module()}
		}),
		a.attack("code-unknown", "q", []string{"internal"}, "a code there is not"),
		a.attack("code-deadline", "r", []string{"deadline"}, "a guest that says itself that it took too long"),
		a.attack("code-host", "s", []string{"internal"}, "a code that only the host may state"),
		a.attack("abort", "t", trapped, "pointers that the host must not follow"),
		a.attack("emit-length", "c", protocol, "a frame that is not in memory"),
		a.attack("emit-end", "d", protocol, "a frame over the end of memory"),
		a.attack("emit-long", "e", protocol, "a frame of more than a MiB"),
		a.attack("service-length", "i", protocol, "a service request that is not in memory"),
		a.attack("log-pointer", "w", protocol, "a line that is not in memory"),
		a.attack("take-pointer", "l", protocol, "a place to copy to that is not in memory"),
		a.attack("take-odd", "k", answered, "channels, offsets and lengths there are not"),
		a.attack("info-unknown", "n", answered, "numbers the host does not know"),
		a.attack("notice-uri", "v", answered, "a notice about what is no URI"),
		a.attack("body-first", "z", protocol, "bytes of no content"),
		lists("list-uris", "entries of a list whose URIs break the rules", badURI, variants(
			entries(1, abi.Resource{URI: "file:///a/../b", Name: "n"}), entries(1, abi.Resource{URI: "x:\x1b", Name: "n"}))),
		lists("list-fields", "entries of a list that break the rules", either(protocol, []string{"too_many"}), variants(
			entries(1, abi.Resource{URI: "x:e"}), entries(1, abi.Resource{URI: "x:e", Name: "a\nb"}),
			entries(1, abi.Resource{URI: "x:e", Name: strings.Repeat("n", 300)}), entries(1, abi.Resource{URI: "x:e", Name: "n", Meta: deepJSON}),
			entries(1, abi.Resource{URI: "x:e", Name: "n", Icons: []abi.Icon{{Source: "javascript:alert(1)"}}}),
			entries(1, abi.Resource{URI: "x:e", Name: "n", Icons: make([]abi.Icon, 1000)}),
			(&abi.Reply{NextCursor: strings.Repeat("c", 5000)}).Append(nil))),
		lists("list-many", "more entries than a page may have", []string{"too_many"}, func() [][]byte {
			return [][]byte{saying(abi.CodeOK, repeat(11, entries(1000, entry))...).module()}
		}),
		lists("list-empty-entries", "two bytes each of which becomes a struct of 200", either(protocol, []string{"too_many", "invalid_uri"}), variants(times(500_000, []byte{0x0a, 0}))),
		lists("list-contents", "contents where entries were asked for", protocol, variants(fine)),
	}
	completes := reads("complete-many", "more completions than there may be", []string{"too_many"}, variants(times(5000, []byte{0x32, 1, 'c'})))
	completes.Op = abi.OpComplete
	return slices.Concat(append(cases, completes), directories(), describing())
}

// directories returns the cases with hostile answers to LISTDIR.
func directories() []Case {
	lists := func(name, why string, want []string, frames ...[]byte) Case {
		return Case{
			Name: name, Row: RowResults, Why: why, Want: want, Op: abi.OpListDir, URI: "x:d", After: "x:o", Modules: variants(frames...),
		}
	}
	child := func(uri, name string) []byte { return entries(1, abi.Resource{URI: uri, Name: name}) }
	protocol, badURI, tooMany := []string{"protocol"}, []string{"invalid_uri"}, []string{"too_many"}
	many := make([][]byte, 11_000)
	for i := range many {
		many[i] = child("x:d/"+strconv.Itoa(i), "n")
	}
	return []Case{
		lists("directory-frames", "entries that end early, or lie about lengths", protocol,
			[]byte{0x0a}, []byte{0x0a, 0x7f, 0x0a}, []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, cat(child("x:d/a", "a"), []byte{0xff})),
		lists("directory-children", "entries of another directory, of the directory above, and the directory itself, in which a client goes round", badURI,
			child("x:d", "d"), child("x:d/", "d"), child("x:e/a", "a"), child("x:d/a/b", "b"), child("x:d/..", "a"), child("x:d/%2e%2e", "a"),
			child("x:d/%2fetc", "a"), child("x:d/a%5cb", "a"), child("x:d?a", "a"), child("x:d/a#b", "a"), child("x:da", "a")),
		lists("directory-names", "names that a client would take for a path", protocol,
			child("x:d/a", ".."), child("x:d/a", "."), child("x:d/a", "../a"), child("x:d/a", "/etc/passwd"), child("x:d/a", "a\\b"), child("x:d/a", "")),
		lists("directory-twice", "two entries of one name, of which a client sees one", protocol,
			cat(child("x:d/a", "a"), child("x:d/a", "b")), cat(child("x:d/a", "a"), child("x:d/%61", "a"))),
		lists("directory-many", "more entries than a page may have", tooMany, cat(many...)),
		lists("directory-cursor", "a cursor of 5 KB, which a client would send back", either(protocol, tooMany),
			(&abi.Reply{NextCursor: strings.Repeat("c", 5000)}).Append(nil)),
		lists("directory-contents", "contents where entries were asked for", protocol, fine),
	}
}

// describing returns the cases with hostile answers to DESCRIBE.
func describing() []Case {
	asked := func(name, why string, want []string, frames ...[]byte) Case {
		return Case{
			Name: name, Row: RowResults, Why: why, Want: want, Op: abi.OpRead, URI: "x:o",
			Modules: func() [][]byte {
				var out [][]byte
				for _, f := range frames {
					out = append(out, saying(abi.CodeOK, f).raw())
				}
				return out
			},
		}
	}
	told := func(m abi.Manifest) []byte {
		if m.Name == "" {
			m.Name = "hostile"
		}
		return (&abi.Reply{Manifest: &m}).Append(nil)
	}
	protocol := []string{"protocol"}
	var many []abi.Resource
	for i := range 11_000 {
		many = append(many, abi.Resource{URI: "x:" + strconv.Itoa(i), Name: "n", Priority: math.NaN()})
	}
	packedIn := func(manifest []byte) []byte { return cat(shape{}.raw(), custom(abi.ManifestSection, manifest)) }
	return []Case{
		asked("manifest-none", "no answer at all", protocol, nil),
		asked("manifest-twice", "two answers", protocol, cat(told(abi.Manifest{}), told(abi.Manifest{Name: "other"}))),
		asked("manifest-fields", "names that a person would decide by, and are deceived by", protocol,
			told(abi.Manifest{Name: "a\u202eb"}), told(abi.Manifest{Name: "a\x1b[2Jb"}), told(abi.Manifest{Name: strings.Repeat("n", 300)}),
			told(abi.Manifest{Version: "a\nb"}), told(abi.Manifest{Name: "a\u200bb"}), told(abi.Manifest{ConfigSchema: "[1]"})),
		asked("manifest-text", "names that are not UTF-8", protocol, told(abi.Manifest{Name: "\xff\xfe"})),
		asked("manifest-future", "a provider for hosts that do not exist", misfit, told(abi.Manifest{Minor: 99})),
		asked("manifest-claims", "resources outside of what the manifest claims", []string{"invalid_uri"},
			told(abi.Manifest{URIPrefixes: []string{"x:"}, Resources: []abi.Resource{{URI: "file:///etc/passwd", Name: "p", Priority: math.NaN()}}}),
			told(abi.Manifest{Resources: []abi.Resource{{URI: "file:///a/../b", Name: "p", Priority: math.NaN()}}})),
		asked("manifest-many", "more resources than a manifest may have", []string{"too_many", "protocol", "too_large"}, told(abi.Manifest{Resources: many})),
		asked("manifest-idle", "a provider that implements nothing", []string{"unsupported", "protocol"}, told(abi.Manifest{})),
		{
			Name: "manifest-packed", Row: RowResults, Why: "a packed manifest that is malformed, huge, or no manifest", Want: either(protocol, excessive),
			Modules: func() [][]byte {
				return [][]byte{
					packedIn([]byte{0x12}), packedIn([]byte{0x12, 0xff, 0xff, 0xff, 0xff, 0x0f}), packedIn([]byte{0x0a}),
					packedIn(make([]byte, 2<<20)), packedIn([]byte("\x12\x02\xff\xfe")), packedIn(nil),
				}
			},
		},
	}
}
