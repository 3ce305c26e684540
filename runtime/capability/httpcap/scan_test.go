package httpcap_test

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// agreeing gives secrets of the length of a guess, of which the first n characters agree with it, by n.
func agreeing(guess string, ns ...int) map[int]string {
	all := map[int]string{}
	for _, n := range ns {
		all[n] = guess[:n] + strings.Repeat("|", len(guess)-n)
	}
	return all
}

// sameWork looks whether a text of guesses costs the same whichever of the secrets is the right one, and gives what.
func sameWork(t *testing.T, text string, secrets map[int]string) int {
	t.Helper()
	want := -1
	for n, secret := range secrets {
		clean, work := httpcap.Work([]string{secret}, text)
		if clean != text {
			t.Fatalf("a secret was found of which %d characters are there: %q", n, clean)
		}
		if want < 0 {
			want = work
		}
		if work != want {
			t.Errorf("where %d characters are right, %d words are followed, and %d elsewhere", n, work, want)
		}
	}
	return want
}

// A server of the guest's own sends guesses, and the guest looks at how long they are scrubbed.
func TestTheWorkDoesNotTellHowMuchOfAGuessIsRight(t *testing.T) {
	for _, guess := range secrets {
		for name, spelling := range spellings(guess) {
			text := strings.Repeat(spelling+" ", 20)
			work := sameWork(t, text, agreeing(guess, 0, 1, 2, len(guess)/2, len(guess)-2, len(guess)-1))
			if work < len(text) {
				t.Errorf("%q as %s: %d words for %d bytes", guess, name, work, len(text))
			}
		}
	}
}

// Of a long secret it tells whether a whole head is right, and nothing of what is behind.
func TestTheWorkDoesNotTellHowMuchOfALongGuessIsRight(t *testing.T) {
	guess := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.,;", 4)
	text := strings.Repeat(guess+" ", 20)
	wrong := sameWork(t, text, agreeing(guess, 0, 1, 64, 126, 127))
	right := sameWork(t, text, agreeing(guess, 128, 129, 200, len(guess)-1))
	if wrong >= right {
		t.Errorf("%d words are followed with a wrong head and %d with a right one: the tails never are", wrong, right)
	}
	for name, spelling := range spellings(guess) {
		sameWork(t, strings.Repeat(spelling+" ", 20), agreeing(guess, 0, 1, 32, 62, 63))
		if clean, _ := httpcap.Work([]string{guess}, spelling); !strings.Contains(clean, "[redacted]") {
			t.Errorf("not found as %s", name)
		}
	}
}

func TestSecretsThatOverlapAreGoneWhole(t *testing.T) {
	for _, tt := range []struct {
		secrets    []string
		text, want string
	}{
		{[]string{"abcdefghij", "ghijklmnop"}, "-abcdefghijklmnop-", "-[redacted]-"},
		{[]string{"defghijk", "abcdefghijklmnop"}, "-abcdefghijklmnop-defghijk-", "-[redacted]-[redacted]-"},
		{[]string{"abcabcabc"}, "-abcabcabcabcabc-", "-[redacted]-"},
		{[]string{"abcdefgh"}, "-abcdefghabcdefgh-", "-[redacted][redacted]-"},
		{[]string{"aaaaaaaa"}, strings.Repeat("a", 1000) + "-", "[redacted]-"},
		{[]string{`\abcdefgh\`}, `-\\\\abcdefgh\\\\-`, "-[redacted]-"},
	} {
		for name, body := range map[string]io.Reader{
			"whole": strings.NewReader(tt.text), "bytes": iotest.OneByteReader(strings.NewReader(tt.text)),
		} {
			if got, err := httpcap.Scrub(tt.secrets, body); string(got) != tt.want || err != nil {
				t.Errorf("%q in %.40q, %s: got %q, %v", tt.secrets, tt.text, name, got, err)
			}
		}
	}
}

// What is kept back is as long as a secret may become.
func TestTheLongestSpellingsAreFound(t *testing.T) {
	text := strings.Repeat("?????>?~", 8) // in base64 it has more of what may be escaped than any other
	longest := map[string]string{}
	for i := range len(text) {
		longest["escaped"] += `\\\\\\\\u{` + hexOf(text[i]) + `}`
	}
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte("???"[:before] + text + "???"))
		var b strings.Builder
		for i := range len(encoded) {
			if c := encoded[i]; c == '+' || c == '/' {
				b.WriteString(`\\\\\\\\u{` + hexOf(c) + `}`)
			} else {
				b.WriteByte(c)
			}
			b.WriteString(`\r\n\r\n`)
		}
		longest["base64 "+"???"[:before]] = b.String()
	}
	for name, spelling := range longest {
		body := strings.Repeat("- ", 2000) + spelling + strings.Repeat(" -", 2000)
		want, _ := httpcap.Work([]string{text}, body)
		if !strings.Contains(want, "[redacted]") || len(want) > 8100 {
			t.Errorf("as %s: got %d bytes of a whole text", name, len(want))
		}
		got, err := httpcap.Scrub([]string{text}, iotest.OneByteReader(strings.NewReader(body)))
		if string(got) != want || err != nil {
			t.Errorf("as %s: got %d bytes, %v, and %d of a whole text", name, len(got), err, len(want))
		}
	}
}

func hexOf(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}
