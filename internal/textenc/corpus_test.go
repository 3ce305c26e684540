package textenc_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// A corpus is about a mebibyte of text of one kind.
type corpus struct {
	name string
	text []byte
}

// corpora are made of parts in random order, since a processor learns what repeats.
func corpora() []corpus {
	return []corpus{
		{"mixed", mixed()},
		{"ascii", mix("The quick ", "brown ", "fox ", "jumps over ", "the lazy dog, ", "and then ", "it sleeps ")},
		{"prose", mix("The quick ", "brown ", "fox ", "jumps over ", "the lazy dog, ", "and then ", "it sleeps ",
			"for as long ", "as it likes, ", "naïve as it is. ", "\"Yes\", ", "it says.\n")},
		{"code", mix("\tif err != nil {\n", "\t\treturn fmt.Errorf(\"read %s: %w\", name, err)\n", "\t}\n", "}\n\n",
			"\tfor i := range n {\n", "func (s *Server) Serve(ctx context.Context) error {\n", "// Serve serves.\n")},
		{"kanji", mix("国境の", "長い", "トンネルを", "抜けると", "雪国", "であった。")},
		{"json", mix(`{"name":"some value",`, `"id":12345,`, `"list":[1,2,3],`, `"in":{"a":"b"},`, `"text":"item 7"},`)},
		{"control", mix("\x00", "\x01\x02", "\x1f\n", "\t", "\"")},
	}
}

func mix(parts ...string) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for len(b) < 1<<20 {
		b = append(b, parts[r.IntN(len(parts))]...)
	}
	return b
}

// mixed is text://1m of the servers this one is measured beside: a character in 44 wants an escape, some are not ASCII.
func mixed() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 1<<20; i++ {
		switch i % 8 {
		case 0:
			fmt.Fprintf(&b, "\tif s == \"value-%d\" && n < %d { // naïve café — 日本語テキスト\n", i, i*7)
		case 3:
			fmt.Fprintf(&b, "    path := `C:\\Users\\me\\file-%d.txt`\n", i)
		default:
			fmt.Fprintf(&b, "line %07d: lorem ipsum dolor sit amet, consectetur adipiscing elit %x\n", i, int64(i)*2654435761)
		}
	}
	return b.Bytes()
}
