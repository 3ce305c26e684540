package tokens_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// newToken makes a token and its entry.
func newToken(name string, uris ...string) (text string, t tokens.Token) {
	text, id, sum := tokens.New()
	return text, tokens.Token{ID: id, Name: name, SHA256: fmt.Sprintf("%x", sum), Expires: tokens.Never, URIs: uris}
}

func write(t *testing.T, file string, list ...tokens.Token) {
	t.Helper()
	f := &tokens.File{Version: tokens.Version, Tokens: list}
	if err := f.Write(file); err != nil {
		t.Fatal(err)
	}
}

// open opens a Store of a file with these tokens.
func open(t *testing.T, log *slog.Logger, list ...tokens.Token) (*tokens.Store, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	write(t, file, list...)
	s, err := tokens.Open(file, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, file
}

func TestATokenNamesItsClient(t *testing.T) {
	text, ada := newToken("ada", "notes://drafts/**", "notes://public")
	s, _ := open(t, nil, ada)
	i, err := s.Authenticate(auth.Credential{Authorization: "Bearer " + text})
	if err != nil {
		t.Fatal(err)
	}
	if got := i.Principal().Subject; got != "ada" {
		t.Errorf("the subject is %q", got)
	}
	for uri, want := range map[string]bool{
		"notes://drafts/1": true, "notes://drafts/a/b": true, "notes://drafts": false, "notes://public": true,
		"notes://public/x": true, "notes://publicity": false, "notes://secret": false, "file:///notes://drafts/1": false,
	} {
		if got := i.Permits(auth.Read, uri); got != want {
			t.Errorf("%s: permitted %v", uri, got)
		}
	}
}

func TestWhatIsNoTokenIsRefused(t *testing.T) {
	text, ada := newToken("ada", "**")
	other, _ := newToken("ada", "**")
	expiredText, expired := newToken("eve", "**")
	expired.Expires = "2020-01-01T00:00:00Z"
	s, _ := open(t, nil, ada, expired)
	changed := []byte(text)
	changed[20] ^= 1
	for name, header := range map[string]string{
		"another scheme": "Basic " + text, "no scheme": text, "no token": "Bearer ", "scheme alone": "Bearer",
		"not in the file": "Bearer " + other, "expired": "Bearer " + expiredText, "cut": "Bearer " + text[:40],
		"a changed character": "Bearer " + string(changed), "two": "Bearer " + text + " " + text,
		"a comma": "Bearer " + text + ", Bearer " + text, "long": "Bearer " + text + strings.Repeat(" ", auth.MaxAuthorization),
		"its hash": "Bearer " + ada.SHA256, "upper case": "Bearer " + strings.ToUpper(text),
	} {
		i, err := s.Authenticate(auth.Credential{Authorization: header})
		if !errors.Is(err, auth.ErrInvalid) || i != nil {
			t.Errorf("%s: got %v, %v", name, i, err)
		}
	}
	if _, err := s.Authenticate(auth.Credential{}); !errors.Is(err, auth.ErrMissing) {
		t.Errorf("without a header: %v", err)
	}
	for _, header := range []string{"bearer " + text, "BEARER  " + text + " "} {
		if _, err := s.Authenticate(auth.Credential{Authorization: header}); err != nil {
			t.Errorf("%.10s: %v", header, err)
		}
	}
}

// What is taken out of the file ends; what stays goes on.
func TestAChangedFileHolds(t *testing.T) {
	text1, ada := newToken("ada", "**")
	text2, ben := newToken("ben", "**")
	s, file := open(t, nil, ada, ben)
	first, err := s.Authenticate(auth.Credential{Authorization: "Bearer " + text1})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Authenticate(auth.Credential{Authorization: "Bearer " + text2})
	if err != nil {
		t.Fatal(err)
	}
	ended, release := first.Hold()
	defer release()
	text3, eve := newToken("eve", "**")
	write(t, file, ben, eve)
	select {
	case <-ended.Done():
	case <-time.After(time.Minute):
		t.Fatal("a token that is no longer in the file has not ended")
	}
	if _, err := s.Authenticate(auth.Credential{Authorization: "Bearer " + text1}); !errors.Is(err, auth.ErrInvalid) || first.Valid() {
		t.Errorf("the token is still good: %v", err)
	}
	for _, text := range []string{text2, text3} {
		if _, err := s.Authenticate(auth.Credential{Authorization: "Bearer " + text}); err != nil {
			t.Errorf("a token of the file: %v", err)
		}
	}
	if !second.Valid() {
		t.Error("a token that stays in the file has ended")
	}
	s.Close()
	if second.Valid() {
		t.Error("a token outlives the store")
	}
}

// A changed entry, as for fewer URIs, ends the identity that has the others.
func TestAChangedEntryEnds(t *testing.T) {
	text, ada := newToken("ada", "**")
	s, file := open(t, nil, ada)
	first, err := s.Authenticate(auth.Credential{Authorization: "Bearer " + text})
	if err != nil {
		t.Fatal(err)
	}
	ended, release := first.Hold()
	defer release()
	ada.URIs = []string{"notes://public"}
	write(t, file, ada)
	<-ended.Done()
	second, err := s.Authenticate(auth.Credential{Authorization: "Bearer " + text})
	if err != nil || second.Permits(auth.Read, "notes://secret") {
		t.Errorf("got %v, and it permits what it did", err)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A wrong file changes nothing, and is logged once. So is none.
func TestAWrongFileChangesNothing(t *testing.T) {
	text, ada := newToken("ada", "**")
	var log syncBuffer
	s, file := open(t, slog.New(slog.NewTextHandler(&log, nil)), ada)
	await := func(want string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); strings.Count(log.String(), want) == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("no %q in the log:\n%s", want, log.String())
			}
		}
		if _, err := s.Authenticate(auth.Credential{Authorization: "Bearer " + text}); err != nil {
			t.Error(err)
		}
	}
	wrong := filepath.Join(t.TempDir(), "wrong")
	if err := os.WriteFile(wrong, []byte("version: '1.0'\ntokens: [{idd: x}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(wrong, file); err != nil { // or the store may see it half written
		t.Fatal(err)
	}
	await("unknown key")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	await("no such file")
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("%d lines, want 2:\n%s", n, log.String())
	}
	write(t, file)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := s.Authenticate(auth.Credential{Authorization: "Bearer " + text}); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the file was not read again")
		}
	}
}

func TestWrongFiles(t *testing.T) {
	const entry = `{id: aaaaaaaaaaaa, name: a, sha256: "` + "%s" + `", expires: never, uris: ["**"]}`
	sum := strings.Repeat("0", 64)
	good := fmt.Sprintf(entry, sum)
	for text, want := range map[string]string{
		``:                                    "empty",
		`tokens: []`:                          `"version" is missing`,
		`{version: "2.0", tokens: []}`:        `expected "1.0"`,
		`{version: "1.0", tokens: {}}`:        "expected a list",
		`{version: "1.0", tokens: [{id: a}]}`: "is not an id",
		`{version: "1.0", tokens: [` + good + "," + good + `]}`:                                         "twice",
		`{version: "1.0", tokens: [` + fmt.Sprintf(entry, "secret") + `]}`:                              "is not a SHA-256",
		`{version: "1.0", tokens: [` + strings.Replace(good, "never", "tomorrow", 1) + `]}`:             "is not a time",
		`{version: "1.0", tokens: [` + strings.Replace(good, `["**"]`, `[]`, 1) + `]}`:                  "empty",
		`{version: "1.0", tokens: [` + strings.Replace(good, `["**"]`, `["a b"]`, 1) + `]}`:             "space",
		`{version: "1.0", tokens: [` + strings.Replace(good, `, uris: ["**"]`, ``, 1) + `]}`:            `"uris" is missing`,
		`{version: "1.0", tokens: [` + strings.Replace(good, `name: a,`, `name: "a\x1b[1m",`, 1) + `]}`: "is not a name",
	} {
		_, err := tokens.Decode("tokens.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, err := tokens.Open(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a file that does not exist was opened")
	}
}

// Writing keeps the mode of the file, and a symbolic link to it.
func TestWriting(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "tokens.yaml"), filepath.Join(dir, "link")
	_, ada := newToken("ada", "**")
	write(t, file, ada)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new file has mode %v, %v", info.Mode(), err)
	}
	if err := errors.Join(os.Chmod(file, 0o640), os.Symlink(file, link)); err != nil {
		t.Skip(err)
	}
	write(t, link)
	info, err := os.Lstat(file)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	f, err := tokens.Read(file)
	if err != nil || len(f.Tokens) != 0 {
		t.Errorf("got %v, %v", f, err)
	}
}

// Whatever a file says, reading it ends, and what it accepts can be written and read again.
func FuzzFile(f *testing.F) {
	_, ada := newToken("ada", "notes://**")
	f.Add((&tokens.File{Version: tokens.Version, Tokens: []tokens.Token{ada}}).Encode())
	f.Add([]byte(`{version: 1.0, tokens: []}`))
	f.Add([]byte("version: \"1.0\"\ntokens:\n- id: aaaaaaaaaaaa\n  uris: [\"**\"]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := tokens.Decode("tokens.yaml", text)
		if err != nil {
			return
		}
		again, err := tokens.Decode("again.yaml", file.Encode())
		if err != nil || fmt.Sprint(again) != fmt.Sprint(file) {
			t.Fatalf("%v, %v became %v", err, file, again)
		}
	})
}

// No header but that of the token in the file is accepted.
func FuzzAuthorization(f *testing.F) {
	text, ada := newToken("ada", "**")
	file := filepath.Join(f.TempDir(), "tokens.yaml")
	if err := (&tokens.File{Version: tokens.Version, Tokens: []tokens.Token{ada}}).Write(file); err != nil {
		f.Fatal(err)
	}
	s, err := tokens.Open(file, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	for _, seed := range []string{"Bearer " + text, "bearer  " + text, "Bearer", "Basic YTpi", "Bearer " + text[:30], "Bearer wr_aaaaaaaaaaaa_"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		_, err := s.Authenticate(auth.Credential{Authorization: header})
		if is := strings.Trim(header[min(len(header), len("bearer ")):], " ") == text; (err == nil) && !is {
			t.Fatalf("%q was accepted", header)
		}
	})
}
