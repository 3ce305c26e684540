package httpcap_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// spellings are ways in which a server may write a secret.
func spellings(text string) map[string]string {
	all := map[string]string{
		"raw": text, "hex": hex.EncodeToString([]byte(text)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(text))),
		"query": url.QueryEscape(text), "path": url.PathEscape(text), "html": html.EscapeString(text),
	}
	for name, each := range map[string]string{
		"percent": "%%%02x", "PERCENT": "%%%02X", "unicode": `\u%04x`, "x": `\x%02x`, "octal": `\%03o`,
		"braces": `\u{%02x}`, "percent thrice": "%%2525%02x", "unicode in JSON": `\\u%04x`, "entity": "&#%d;", "xentity": "&#x%x;",
	} {
		for i := range len(text) {
			all[name] += fmt.Sprintf(each, text[i])
		}
	}
	quoted, _ := json.Marshal(text)
	all["json"] = string(quoted[1 : len(quoted)-1])
	again, _ := json.Marshal(all["json"])
	all["json twice"] = string(again[1 : len(again)-1])
	all["html twice"] = html.EscapeString(all["html"])
	all["html thrice"] = html.EscapeString(all["html twice"])
	all["json in html"] = html.EscapeString(all["json"])
	ofHTML, _ := json.Marshal(all["html twice"])
	all["html twice in json"] = string(ofHTML[1 : len(ofHTML)-1])
	all["query twice"] = url.QueryEscape(all["query"])
	all["base64 in a query"] = url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(text)))
	all["base64 in lines in JSON"] = `\n` + strings.Join(regexp.MustCompile(".{1,8}").FindAllString(base64.StdEncoding.EncodeToString([]byte(text)), -1), `\n`)
	for name, end := range map[string]string{
		"in a query": "%0A", "in a query twice": "%250D%250A", "in JSON twice": `\\r\\n`, "in unicode": `\u000a`, "in HTML": "&#10;",
		"folded": "\r\n\t", "in YAML": "\n        ",
	} {
		all["base64 in lines "+name] = strings.Join(regexp.MustCompile(".{1,8}").FindAllString(base64.StdEncoding.EncodeToString([]byte(text)), -1), end)
	}
	all["base64 in JSON"] = strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(text)), "/", `\/`)
	for before := range 4 {
		for after := range 4 {
			long := []byte(strings.Repeat("?", before) + text + strings.Repeat("~", after))
			for name, encoding := range map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.RawURLEncoding} {
				all[fmt.Sprintf("base64 %s %d %d", name, before, after)] = encoding.EncodeToString(long)
			}
		}
	}
	return all
}

// core is the part of a spelling that belongs to the secret alone: in base64, without the characters it shares.
func core(name, spelling, text string) string {
	var alphabet string
	var before, after int
	if n, _ := fmt.Sscanf(name, "base64 %s %d %d", &alphabet, &before, &after); n == 3 {
		return spelling[(8*before+5)/6 : 8*(before+len(text))/6]
	}
	return spelling
}

var secrets = []string{"s3cr3t-t0k3n/+=", `p4ss "w\rd" <&>'`, "%41%42%43%44", "aaaaaaaaaaaaaaaab", "?????>?????>"}

func TestAllSpellingsAreRedacted(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 7
	}
	for _, text := range secrets {
		for name, spelling := range spellings(text) {
			body := "before " + spelling + "; after"
			for split := 0; split < len(body); split += stride {
				got, err := httpcap.Redact(secrets, io.MultiReader(strings.NewReader(body[:split]), strings.NewReader(body[split:])))
				if err != nil || bytes.Contains(got, []byte(core(name, spelling, text))) || !strings.Contains(string(got), "[redacted]") {
					t.Fatalf("%q as %s, split at %d: got %q, %v", text, name, split, got, err)
				}
				if !bytes.HasPrefix(got, []byte("before ")) || !bytes.HasSuffix(got, []byte("; after")) {
					t.Fatalf("%q as %s: got %q: more is gone than the secret", text, name, got)
				}
			}
		}
	}
}

func TestOtherTextIsUnchanged(t *testing.T) {
	for _, body := range []string{
		"", "s3cr3t-t0k3n", "s3cr3t", "%", "&", "\\", "100%25 & more \\u00", strings.Repeat("aaaaaaaa", 1000), "\xff\x00",
	} {
		got, err := httpcap.Redact(secrets, iotest.OneByteReader(strings.NewReader(body)))
		if string(got) != body || err != nil {
			t.Errorf("%.40q: got %.40q, %v", body, got, err)
		}
	}
}

// The length of an answer when reading fails, or continues, must not depend on its text: otherwise a server without the
// secret could try beginnings of it, and the guest would see which of them is held back.
func TestTheBytesHeldBackDoNotDependOnTheText(t *testing.T) {
	broken := errors.New("broken")
	var lengths []int
	for _, tail := range []string{"", "s3cr3t-t0k", "czNjcjN0", "733363", "............", "\\u0073\\u00", "&#115;&#5"} {
		text := strings.Repeat("text ", 1000)
		text = text[:len(text)-len(tail)] + tail
		got, err := httpcap.Redact(secrets, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || !strings.HasPrefix(text, string(got)) {
			t.Errorf("%s: got %.40q, %v", tail, got, err)
		}
		lengths = append(lengths, len(got))
	}
	for _, n := range lengths {
		if n == 0 || n != lengths[0] {
			t.Errorf("the lengths are %v", lengths)
		}
	}
}

// FuzzRedactor searches for a spelling, and a way to cut it into pieces, by which a secret is not redacted.
func FuzzRedactor(f *testing.F) {
	f.Add("s3cr3t-t0k3n", "before", "after", uint8(0), uint8(3))
	f.Add("%41\\u0041&amp;", "%", "%", uint8(9), uint8(1))
	f.Add("aaaaaaaaaaaa", "aaa", "aaa", uint8(20), uint8(7))
	f.Add("%4#\\u7b41&", "%", "", uint8(128), uint8(1))
	f.Add(`\\\\\\00"`, "", "0", uint8(36), uint8(43))
	f.Fuzz(func(t *testing.T, text, before, after string, which, step uint8) {
		if len(text) < 8 || len(text) > 100 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			return
		}
		all := spellings(text)
		names := slices.Sorted(maps.Keys(all))
		name := names[int(which)%len(names)]
		spelling := core(name, all[name], text)
		if len(spelling) < 8 || strings.Contains(before+"[redacted]"+after, spelling) {
			return
		}
		body := before + all[name] + after
		got, err := httpcap.Redact([]string{text}, pieces{strings.NewReader(body), int(step)%17 + 1})
		if err != nil || strings.Contains(string(got), spelling) {
			t.Errorf("%q as %s in %q: got %q, %v", text, name, body, got, err)
		}
	})
}

// pieces is a reader of a fixed number of bytes at a time.
type pieces struct {
	r    io.Reader
	most int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.most)]) }

func BenchmarkRedact(b *testing.B) {
	text := bytes.Repeat([]byte(`{"id": 42, "name": "Ada Lovelace", "url": "https://example.org/a%20b"}`+"\n"), 15_000)
	for _, of := range []struct{ secrets, size int }{{1, 15}, {1, 40}, {1, 100}, {1, 4096}, {16, 40}} {
		b.Run(fmt.Sprintf("secrets=%d/size=%d", of.secrets, of.size), func(b *testing.B) {
			var all []string
			for range of.secrets {
				all = append(all, randomSecret(of.size))
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := httpcap.Redact(all, bytes.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// randomSecret returns a secret of that many characters.
func randomSecret(size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte('!' + rand.IntN('~'-'!'+1))
	}
	return string(b)
}
