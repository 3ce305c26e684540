package abi_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wasmres/wasmres/abi"
)

var update = flag.Bool("update", false, "write testdata/abi anew")

const vectorDir = "../testdata/abi"

// A vector is one message as it stands on the wire, in the file testdata/abi/NAME.hex.
type vector struct {
	message string   // its name in wasmres_v1.proto
	about   string   // in plain words
	want    any      // what it decodes to, as from decodeAs; nil when it must be rejected
	raw     []byte   // when it is not what Append makes of want
	code    abi.Code // when it must be rejected
	why     string   // part of the error's text
}

// canonical reports whether Append makes exactly these bytes.
func (v vector) canonical() bool { return v.want != nil && v.raw == nil }

func (v vector) bytes() []byte {
	if v.canonical() {
		return encode(v.want)
	}
	return v.raw
}

// An emitted is a decoded Reply with what flows past it.
type emitted struct {
	Reply    abi.Reply
	Contents []abi.Content
	Progress []abi.Progress
}

type collector struct{ to *emitted }

func (c collector) Content(content *abi.Content) error {
	c.to.Contents = append(c.to.Contents, *content)
	return nil
}

func (c collector) Progress(p abi.Progress) { c.to.Progress = append(c.to.Progress, p) }
func (c collector) Continue() error         { return nil }

func decodeAs(message string, b []byte) (any, error) {
	type decoder interface{ Decode([]byte) error }
	plain := map[string]decoder{
		"Request": &abi.Request{}, "ConfigRequest": &abi.ConfigRequest{}, "ConfigResponse": &abi.ConfigResponse{},
		"NotifyRequest": &abi.NotifyRequest{}, "FileRequest": &abi.FileRequest{}, "FileResponse": &abi.FileResponse{},
		"KVRequest": &abi.KVRequest{}, "KVResponse": &abi.KVResponse{}, "HTTPRequest": &abi.HTTPRequest{},
		"HTTPResponse": &abi.HTTPResponse{}, "StreamRequest": &abi.StreamRequest{}, "StreamResponse": &abi.StreamResponse{},
		"SQLRequest": &abi.SQLRequest{}, "SQLResponse": &abi.SQLResponse{},
	}
	switch message {
	case "Reply":
		e := &emitted{}
		return e, e.Reply.Merge(b, 1000, collector{e})
	case "Manifest":
		return abi.DecodeManifest(b)
	}
	d, ok := plain[message]
	if !ok {
		return nil, fmt.Errorf("no message %q", message)
	}
	return d, d.Decode(b)
}

func encode(m any) []byte {
	if e, ok := m.(*emitted); ok {
		b := e.Reply.Append(nil)
		for i := range e.Contents {
			b = e.Contents[i].Append(b)
		}
		for i := range e.Progress {
			b = e.Progress[i].Append(b)
		}
		return b
	}
	return m.(interface{ Append([]byte) []byte }).Append(nil)
}

func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateNaNs()) }

func TestVectors(t *testing.T) {
	if *update {
		writeVectors(t)
	}
	for name, v := range vectors() {
		t.Run(name, func(t *testing.T) {
			b, message := readVector(t, name)
			if message != v.message {
				t.Errorf("the file says message %q, the table %q", message, v.message)
			}
			got, err := decodeAs(message, b)
			if v.want == nil {
				if abi.CodeOf(err) != v.code || v.code == abi.CodeOK || !strings.HasPrefix(name, "bad-") {
					t.Fatalf("got %+v, %v, want an error with code %v and a name with bad-", got, err, v.code)
				}
				if v.why == "" || !strings.Contains(err.Error(), v.why) {
					t.Errorf("got error %q, want one that says %q", err, v.why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(v.want, got); d != "" {
				t.Errorf("decoded (-want +got):\n%s", d)
			}
			if again := encode(got); v.canonical() && !bytes.Equal(again, b) {
				t.Errorf("encoded again: got %x, want %x", again, b)
			}
			if !bytes.Equal(b, v.bytes()) {
				t.Errorf("the file has %x, the table %x; run with -update", b, v.bytes())
			}
		})
	}
}

// TestVectorFiles holds the folder to the table and the files to their form.
func TestVectorFiles(t *testing.T) {
	table := vectors()
	files, err := filepath.Glob(filepath.Join(vectorDir, "*.hex"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".hex")
		v, ok := table[name]
		if !ok {
			t.Errorf("%s is not in the table", path)
			continue
		}
		delete(table, name)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := v.render(t); string(got) != want {
			t.Errorf("%s is not as the table has it; run with -update", path)
		}
	}
	for name := range table {
		t.Errorf("%s has no file", name)
	}
}

func writeVectors(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(vectorDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, v := range vectors() {
		if err := os.WriteFile(filepath.Join(vectorDir, name+".hex"), []byte(v.render(t)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readVector reads a file the way any guest's test would: lines that begin with # are comments, the rest is hex.
func readVector(t *testing.T, name string) (b []byte, message string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectorDir, name+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	var digits strings.Builder
	for line := range strings.Lines(string(text)) {
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			if m, ok := strings.CutPrefix(comment, " message: "); ok {
				message = strings.TrimSpace(m)
			}
			continue
		}
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err = hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b, message
}

// render returns the text of a vector's file.
func (v vector) render(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# message: %s\n", v.message)
	if v.want == nil {
		fmt.Fprintf(&b, "# rejected: %s\n", v.code)
	}
	fmt.Fprintf(&b, "# %s\n", v.about)
	annotate(&b, schema(t), v.message, v.bytes(), "")
	return b.String()
}

type protoField struct{ name, typ string }

var (
	protoMessage = regexp.MustCompile(`(?s)message (\w+) \{(.*?)\}`)
	protoLine    = regexp.MustCompile(`(?:repeated |optional )?(\w+) (\w+) = (\d+);`)
)

// schema reads wasmres_v1.proto: fields by message and number.
func schema(t *testing.T) map[string]map[string]protoField {
	t.Helper()
	text, err := os.ReadFile("wasmres_v1.proto")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]protoField{}
	for _, m := range protoMessage.FindAllSubmatch(text, -1) {
		fields := map[string]protoField{}
		for _, f := range protoLine.FindAllSubmatch(m[2], -1) {
			fields[string(f[3])] = protoField{name: string(f[2]), typ: string(f[1])}
		}
		all[string(m[1])] = fields
	}
	return all
}

// annotate writes each field as a comment that says what it is, and its bytes. What is no field is written as it is.
func annotate(w *strings.Builder, all map[string]map[string]protoField, message string, b []byte, indent string) {
	for len(b) > 0 {
		head, value, size := splitField(b)
		if size == 0 {
			fmt.Fprintf(w, "#%s not a field\n", indent)
			hexLines(w, b)
			return
		}
		tag, _ := binary.Uvarint(b)
		f, known := all[message][fmt.Sprint(tag>>3)]
		if !known {
			f = protoField{name: "(unknown)"}
		}
		_, embedded := all[f.typ]
		embedded = embedded && tag&7 == 2
		fmt.Fprintf(w, "#%s %d %s %s\n", indent, tag>>3, f.name, describe(f.typ, embedded, tag&7, value))
		if embedded {
			hexLines(w, head)
			annotate(w, all, f.typ, value, indent+"  ")
		} else {
			hexLines(w, b[:size])
		}
		b = b[size:]
	}
}

// splitField splits off the first field: tag and length, value, and how long both are; 0 when it is malformed.
func splitField(b []byte) (head, value []byte, size int) {
	tag, n := binary.Uvarint(b)
	if n <= 0 || tag>>3 == 0 {
		return nil, nil, 0
	}
	length := map[uint64]int{1: 8, 5: 4}[tag&7]
	switch tag & 7 {
	case 0:
		_, length = binary.Uvarint(b[n:])
	case 2:
		l, m := binary.Uvarint(b[n:])
		if m <= 0 || l > uint64(len(b)) {
			return nil, nil, 0
		}
		n, length = n+m, int(l)
	case 3, 4, 6, 7:
		return nil, nil, 0
	}
	if length < 0 || tag&7 != 2 && length == 0 || n+length > len(b) {
		return nil, nil, 0
	}
	return b[:n], b[n : n+length], n + length
}

func describe(typ string, embedded bool, wire uint64, value []byte) string {
	switch {
	case embedded:
		return fmt.Sprintf("%s of %d bytes", typ, len(value))
	case wire == 2 && (typ == "bytes" || typ == ""):
		return fmt.Sprintf("%d bytes", len(value))
	case wire == 2 && len(value) > 256:
		return fmt.Sprintf("%.64q... of %d bytes", value, len(value))
	case wire == 2:
		return fmt.Sprintf("%q", value)
	case wire == 0:
		v, _ := binary.Uvarint(value)
		if typ == "int64" {
			return fmt.Sprint(int64(v))
		}
		return fmt.Sprint(v)
	case wire == 1 && typ == "double":
		return fmt.Sprint(float(value))
	}
	return fmt.Sprintf("fixed %x", value)
}

func float(b []byte) (f float64) {
	if _, err := binary.Decode(b, binary.LittleEndian, &f); err != nil {
		panic(err)
	}
	return f
}

func hexLines(w *strings.Builder, b []byte) {
	for line := range slices.Chunk(b, 32) {
		fmt.Fprintf(w, "% x\n", line)
	}
}
