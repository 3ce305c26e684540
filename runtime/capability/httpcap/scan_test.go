package httpcap_test

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// agreeing returns secrets of the length of a guess, of which the first n characters agree with it, by n.
func agreeing(guess string, ns ...int) map[int]string {
	all := map[int]string{}
	for _, n := range ns {
		all[n] = guess[:n] + strings.Repeat("|", len(guess)-n)
	}
	return all
}

// sameWork checks that a text of guesses costs the same with each of the secrets, and gives the cost.
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

// A server that the guest controls sends guesses, and the guest measures how long redacting takes.
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

// The work shows whether the whole head of a long secret is right, and nothing about the tail.
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

// A guest that knows one secret, which is the end of another, has a server put guesses of the rest before it.
func TestTheWorkDoesNotTellHowMuchAgreesBeforeAKnownSecret(t *testing.T) {
	const known = "Hq7!x2Lm"
	for _, rest := range []string{
		"0123456789-abcdefghijklmnopqrstuvwxyz-account:", strings.Repeat("0123456789-abcdefghijklmnopqrstuvwxyz-account:", 9),
	} {
		text := strings.Repeat(rest+known+" ", 20)
		works := map[int]int{}
		for _, n := range []int{0, 5, 20, len(rest) - 1} {
			hidden := strings.Repeat("|", len(rest)-n) + rest[len(rest)-n:] + known
			clean, work := httpcap.Work([]string{known, hidden}, text)
			if want := strings.ReplaceAll(text, known, "[redacted]"); clean != want {
				t.Fatalf("%d characters agree: got %q", n, clean)
			}
			works[n] = work
			if work != works[0] {
				t.Errorf("where %d of %d characters agree, %d words are followed, and %d where none", n, len(rest), work, works[0])
			}
		}
	}
}

// The cost of finding one secret does not depend on the other secrets.
func TestAFindCostsNoMoreBesideLongerSecrets(t *testing.T) {
	const short = "Hq7!x2Lm"
	text := strings.Repeat(short, 1000)
	cost := func(size int) int {
		_, work := httpcap.Work([]string{short, randomSecret(size), randomSecret(size)}, text)
		return work
	}
	if few, many := cost(200), cost(4096); few != many || few < len(text) {
		t.Errorf("%d words are followed beside secrets of 200 bytes, and %d beside some of 4096", few, many)
	}
	all := []string{short, randomSecret(4096)}
	allocations := func(finds int) float64 {
		return testing.AllocsPerRun(5, func() { httpcap.Work(all, text[:finds*len(short)]) })
	}
	if one, many := allocations(1), allocations(1000); many > one+100 {
		t.Errorf("one find takes %v allocations, and 1000 take %v", one, many)
	}
}

// The head of one long secret starts the search for its tail only.
func TestAHeadWakesNoOtherSecret(t *testing.T) {
	one := randomSecret(200)
	text := strings.Repeat(one[:128]+strings.Repeat(" ", 10_000), 3)
	cost := func(size int) int {
		_, work := httpcap.Work([]string{one, randomSecret(size)}, text)
		return work
	}
	if few, many := cost(200), cost(4096); few != many || few < len(text) {
		t.Errorf("%d words are followed beside a secret of 200 bytes, and %d beside one of 4096", few, many)
	}
}

func TestOverlappingSecretsAreRedacted(t *testing.T) {
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
			if got, err := httpcap.Redact(tt.secrets, body); string(got) != tt.want || err != nil {
				t.Errorf("%q in %.40q, %s: got %q, %v", tt.secrets, tt.text, name, got, err)
			}
		}
	}
}

// The bytes that are held back suffice for the longest spelling of a secret.
func TestTheLongestSpellingsAreFound(t *testing.T) {
	text := strings.Repeat("?????>?~", 8) // in base64 it has the most characters that may be escaped
	longest := map[string]string{}
	for i := range len(text) {
		longest["escaped"] += `\\\\\\\\u{` + hexOf(text[i]) + `}`
	}
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte("???"[:before] + text + "???"))
		var b strings.Builder
		for i := range len(encoded) {
			if c := encoded[i]; c == '+' || c == '/' {
				b.WriteString(`\u0026amp;#x` + hexOf(c) + `;`)
			} else {
				b.WriteByte(c)
			}
			b.WriteString(`%250D%250A`)
		}
		longest["base64 "+"???"[:before]] = b.String()
	}
	for name, spelling := range longest {
		body := strings.Repeat("- ", 2000) + spelling + strings.Repeat(" -", 2000)
		want, _ := httpcap.Work([]string{text}, body)
		if !strings.Contains(want, "[redacted]") || len(want) > 8100 {
			t.Errorf("as %s: got %d bytes of a whole text", name, len(want))
		}
		got, err := httpcap.Redact([]string{text}, iotest.OneByteReader(strings.NewReader(body)))
		if string(got) != want || err != nil {
			t.Errorf("as %s: got %d bytes, %v, and %d of a whole text", name, len(got), err, len(want))
		}
	}
}

func hexOf(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}
