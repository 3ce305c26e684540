package hostile

import (
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// nameSection names functions, from the first of a shape's own on.
func nameSection(titles ...string) []byte {
	var list [][]byte
	for i, t := range titles {
		list = append(list, cat(u(uint64(firstFunc+i)), name(t)))
	}
	return custom("name", cat([]byte{1}, sized(vec(list...))))
}

// deepTrap is a stack of n named functions whose last one traps, so that an engine that tells the whole story tells a
// long one.
func deepTrap(n int, title string) shape {
	fs := []function{{typeVoid, body(nil, op(opUnreachable))}}
	titles := []string{title}
	for i := range n {
		fs, titles = append(fs, function{typeVoid, body(nil, op(opCall, uint64(firstFunc+i)))}), append(titles, title)
	}
	return shape{funcs: fs, call: root(n), tail: nameSection(titles...)}
}

// garbage is bytes that begin like a DWARF unit and go on like nothing.
func garbage(n int) []byte {
	b := make([]byte, min(n, 1<<12))
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	b = times(n/len(b), b)
	copy(b, []byte{0xff, 0xff, 0x00, 0x00, 4, 0, 0, 0, 0, 0, 4})
	return b
}

func debugSections() []Case {
	attack := func(name, why string, want []string, p func() shape) Case {
		return Case{
			Name: name, Row: RowDebug, Why: why, Modules: one(p),
			Op: abi.OpRead, URI: "x:a", Want: want, After: "x:o",
		}
	}
	optional := func(c Case) Case { // the module may be refused: then there is nothing to ask afterwards
		c.Want, c.After = either(c.Want, excessive), ""
		return c
	}
	dwarf := func(n int) shape {
		p := deepTrap(2, "f")
		for _, s := range []string{".debug_info", ".debug_line", ".debug_abbrev", ".debug_str", ".debug_ranges"} {
			p.tail = cat(p.tail, custom(s, garbage(n)))
		}
		return p
	}
	return []Case{
		attack("dwarf-garbage", "the host reads debug sections for the message of a trap, some of them for ever", trapped,
			func() shape { return dwarf(1000) }),
		optional(attack("dwarf-large", "5 MB of debug sections are kept for the message of a trap", trapped,
			func() shape { return dwarf(1 << 20) })),
		optional(attack("names-large", "a name of a MB in each of 4 frames makes a message of 4 MB", trapped,
			func() shape { return deepTrap(3, strings.Repeat("n", 1<<20)) })),
		attack("names-many-frames", "a name of 64 KB in each of 30 frames makes a message of 2 MB", trapped,
			func() shape { return deepTrap(30, strings.Repeat("n", 64<<10)) }),
		attack("names-control", "names that clear the terminal of who reads the log", trapped,
			func() shape { return deepTrap(3, "\x1b[2J\r\n{\"jsonrpc\":\"2.0\"}\n\u202e") }),
		attack("names-count", "a name section that says it has billions of names", answered, func() shape {
			return shape{tail: custom("name", cat([]byte{1}, sized(u(1<<32-1))))}
		}),
		attack("names-nested-count", "a map of locals that says it has billions of functions", answered, func() shape {
			return shape{tail: custom("name", cat([]byte{2}, sized(cat(u(1), u(firstFunc), u(1<<32-1)))))}
		}),
		optional(attack("names-malformed", "a name section that ends in the middle of everything", answered, func() shape {
			return shape{tail: custom("name", cat([]byte{1}, u(1<<20), []byte{0xff, 0xff}))}
		})),
		optional(attack("names-env", "a module that calls itself env, so that others would import from it", answered, func() shape {
			return shape{tail: custom("name", cat([]byte{0}, sized(name("env"))))}
		})),
		optional(attack("custom-large", "4 MB of custom sections", answered,
			func() shape { return shape{tail: custom("x", make([]byte, 4<<20))} })),
		optional(attack("custom-many", "200,000 custom sections", answered,
			func() shape { return shape{tail: times(200_000, custom("x", nil))} })),
		{
			Name: "custom-name", Row: RowDebug, Why: "a custom section whose name is longer than the section, or no text", Want: malformed,
			Modules: bare(cat(exporting(right, nil), section(secCustom, u(1<<32-1))), cat(exporting(right, nil), section(secCustom, u(5), []byte("abc"))),
				cat(exporting(right, nil), section(secCustom)), cat(exporting(right, nil), custom("\xff\xfe", nil))),
		},
	}
}
