package uritemplate_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	oracle "github.com/yosida95/uritemplate/v3"

	"github.com/wasmres/wasmres/abi/uritemplate"
)

// TestMatchAgreesWithRegexp compares whether random URIs match random templates
// with what a regular expression says, over an alphabet without dots, so that
// no value is a traversal. # is the number of the piece, as names must differ.
func TestMatchAgreesWithRegexp(t *testing.T) {
	pieces := []struct{ template, regexp string }{
		{"a", "a"}, {"ab", "ab"}, {"/", "/"}, {",", ","}, {"aab", "aab"},
		{"{v#}", "[ab]+"},
		{"{v#:1}", "[ab]{1}"},
		{"{v#:2}", "[ab]{1,2}"},
		{"{v#:70}", "[ab]{1,70}"},
		{"{v#,w#}", "[ab]+(,[ab]*)?"},
		{"{v#,w#:5}", "[ab]+(,[ab]{0,5})?"},
		{"{v#*}", "[ab,]+"},
		{"{+v#}", "[ab,/]+"},
		{"{+v#:3}", "[ab,/]{1,3}"},
		{"{+v#,w#}", "[ab/]+(,[ab/]*)?"},
		{"{/v#}", "(/[ab]*)?"},
		{"{/v#,w#:2}", "(/[ab]*(/[ab]{0,2})?)?"},
		{"{/v#*}", "(/[ab/]*)?"},
		{"{/v#*,w#}", "(/[ab/]*)?"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	matches := 0
	for range 3000 {
		template, pattern := "", "^"
		for i := range 1 + random.IntN(7) {
			p := pieces[random.IntN(len(pieces))]
			template += strings.ReplaceAll(p.template, "#", strconv.Itoa(i))
			pattern += p.regexp
		}
		compiled, want := mustParse(t, template), regexp.MustCompile(pattern+"$")
		for range 40 {
			uri := make([]byte, random.IntN([]int{8, 80, 300}[random.IntN(3)]))
			for i := range uri {
				uri[i] = "aaaaaaabbb/,"[random.IntN(12)]
			}
			_, got := compiled.Match(string(uri))
			if want := want.Match(uri); got != want {
				t.Fatalf("%s against %s: got match %v, want %v", uri, template, got, want)
			}
			if got {
				matches++
			}
		}
	}
	if matches < 3000 {
		t.Errorf("only %d matches, want enough to mean something", matches)
	}
}

// uritemplate v3.0.2 escapes the code point of a non-ASCII character and not its
// UTF-8, so it is given these letters instead.
var (
	toNonASCII = strings.NewReplacer("X", "é", "Y", "€", "Z", "😀")
	toEscapes  = strings.NewReplacer("X", "%C3%A9", "Y", "%e2%82%ac", "Z", "%F0%9F%98%80")
)

// TestMatchUndoesExpand expands random values with another implementation and
// wants them back.
func TestMatchUndoesExpand(t *testing.T) {
	templates := []string{
		"x://{s}", "x://{s,t}", "x://{l*}", "x://{s}/y/{t}", "x://h{/s,t}", "x://h{/l*}", "x://h{/l*,s}",
		"x://h{.s}", "x://h{;s,t}", "x://h{;s,l*}", "x://h{?s,t}", "x://h{?s,l*}", "x://h{?s,l}", "x://h?f=1{&s,t}",
		"x://h{?s}{&t,l*}", "x://h/{s}{/l*}{?t}", "x://{+r}", "x://{+r}/y/{s}", "x://{+r}{?s,l*}", "x://h{#r}",
		"x://{+r}{?s}{#t}",
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, source := range templates {
		template, other := mustParse(t, source), oracle.MustNew(source)
		for range 300 {
			given, want := oracle.Values{}, values()
			for _, name := range template.Variables() {
				if name == "l" {
					list := randomList(random)
					given.Set(name, oracle.List(list...))
					for _, value := range list {
						want = append(want, uritemplate.Value{Name: name, Value: toNonASCII.Replace(value)})
					}
					continue
				}
				value := randomValue(random, name == "r")
				given.Set(name, oracle.String(value))
				want = append(want, uritemplate.Value{Name: name, Value: toNonASCII.Replace(value)})
			}
			uri, err := other.Expand(given)
			if err != nil {
				t.Fatal(err)
			}
			uri = toEscapes.Replace(uri)
			got, ok := template.Match(uri)
			if !ok {
				t.Fatalf("%s against %s: got no match, want %v", uri, source, want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s against %s (-want +got):\n%s", uri, source, diff)
			}
		}
	}
}

// randomValue returns a value of one to eight characters, without a dot so as
// not to be a traversal. A reserved value has only what stays as it is.
func randomValue(random *rand.Rand, reserved bool) string {
	alphabet := []rune("aA09-_~ XYZ/?#&=+,;:%\"<|\\")
	if reserved {
		alphabet = []rune("aA09-_~XYZ/&=+,;:@!$()*")
	}
	value := make([]rune, 1+random.IntN(8))
	for i := range value {
		value[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(value)
}

func randomList(random *rand.Rand) []string {
	list := make([]string, 1+random.IntN(4))
	for i := range list {
		list[i] = randomValue(random, false)
	}
	return list
}
