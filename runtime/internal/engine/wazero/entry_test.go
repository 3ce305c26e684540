package wazero_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
)

// anEntry makes an entry of the compilation cache, with a number of functions and native code.
func anEntry(functions int, code string) []byte {
	b := append([]byte("WAZEVO"), 3)
	b = append(b, "dev"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(functions))
	b = append(b, make([]byte, 8*functions)...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(code)))
	return append(append(b, code...), "the rest"...)
}

func TestNativeCode(t *testing.T) {
	good := anEntry(2, "code")
	huge := bytes.Clone(good)
	binary.LittleEndian.PutUint64(huge[30:], 1<<63|5)
	beyond := bytes.Clone(good)
	binary.LittleEndian.PutUint64(beyond[30:], uint64(len("code")+len("the rest")+1))
	many := bytes.Clone(good)
	binary.LittleEndian.PutUint32(many[10:], 1<<32-1)
	for name, tt := range map[string]struct {
		entry []byte
		want  string
		bad   bool
	}{
		"good":          {entry: good, want: "code"},
		"no functions":  {entry: anEntry(0, "code"), want: "code"},
		"no code":       {entry: anEntry(1, ""), want: ""},
		"empty":         {bad: true},
		"another magic": {entry: append([]byte("wazevo"), good[6:]...), bad: true},
		"no version":    {entry: good[:6], bad: true},
		"cut version":   {entry: good[:8], bad: true},
		"cut offsets":   {entry: good[:20], bad: true},
		"cut length":    {entry: good[:33], bad: true},
		"cut code":      {entry: good[:39], bad: true},
		"huge code":     {entry: huge, bad: true},
		"code beyond":   {entry: beyond, bad: true},
		"many offsets":  {entry: many, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			section, err := wazero.NativeCode(bytes.NewReader(tt.entry), int64(len(tt.entry)))
			if tt.bad {
				if err == nil {
					t.Error("it was accepted")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(section); string(got) != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func FuzzNativeCode(f *testing.F) {
	f.Add(anEntry(2, "code"))
	f.Add(anEntry(0, ""))
	f.Fuzz(func(t *testing.T, entry []byte) {
		section, err := wazero.NativeCode(bytes.NewReader(entry), int64(len(entry)))
		if err != nil {
			return
		}
		if _, begin, n := section.Outer(); begin < 0 || n < 0 || begin+n > int64(len(entry)) {
			t.Errorf("native code of %d bytes at %d in an entry of %d", n, begin, len(entry))
		}
		if got, err := io.ReadAll(section); err != nil || int64(len(got)) != section.Size() {
			t.Errorf("read %d of %d bytes: %v", len(got), section.Size(), err)
		}
	})
}

// precompiled has the native code of first, and returns its cache and its entry.
func precompiled(t *testing.T) (dir, entry string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wazero.Precompile(t.Context(), dir, []byte(first)); err != nil {
		t.Fatal(err)
	}
	return dir, cacheEntries(t, dir)[0]
}

// codeFile makes the file of the native code in an entry, changed.
func codeFile(t *testing.T, entry string, change func([]byte) []byte) *os.File {
	t.Helper()
	whole, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	section, err := wazero.NativeCode(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	code, err := io.ReadAll(section)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, change(code), 0o400); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// openWith opens an engine whose only module has its native code in a file.
func openWith(t *testing.T, dir string, code *os.File) *wazero.Engine {
	t.Helper()
	e, err := wazero.Open(engine.Config{CacheDir: dir, Code: code})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// The test fails when an upgrade of wazero has changed how it reads its cache: then all code would be copied.
func TestNativeCodeIsMappedFromItsFile(t *testing.T) {
	for name, tt := range map[string]struct {
		change func([]byte) []byte
		copied bool
	}{
		"as it is": {func(code []byte) []byte { return code }, goruntime.GOOS != "linux"},
		"cut":      {func(code []byte) []byte { return code[:len(code)-1] }, true},
		"longer":   {func(code []byte) []byte { return append(code, 0) }, true},
		"empty":    {func([]byte) []byte { return nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir, entry := precompiled(t)
			e := openWith(t, dir, codeFile(t, entry, tt.change))
			m, err := e.Compile(t.Context(), stripped(t, first), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			for range 2 {
				if got := callModule(t, m); got != 1 {
					t.Errorf("the module gives %d", got)
				}
				m.(engine.Trimmer).Trim()
			}
			if err := m.(engine.CodeMapper).Copied(); (err != nil) != tt.copied {
				t.Errorf("copied because of %v, want copied to be %t", err, tt.copied)
			}
		})
	}
}

func TestNativeCodeWithoutAFileIsCopied(t *testing.T) {
	dir, _ := precompiled(t)
	m, err := openWith(t, dir, nil).Compile(t.Context(), stripped(t, first), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := callModule(t, m); got != 1 || m.(engine.CodeMapper).Copied() == nil {
		t.Errorf("got %d, copied because of %v", got, m.(engine.CodeMapper).Copied())
	}
}

func TestDamagedNativeCodeIsNotRun(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("only Linux maps native code")
	}
	dir, entry := precompiled(t)
	for name, change := range map[string]func([]byte) []byte{
		"flipped": func(code []byte) []byte { code[len(code)/2] ^= 1; return code },
		"zeros":   func(code []byte) []byte { clear(code); return code },
	} {
		t.Run(name, func(t *testing.T) {
			e := openWith(t, dir, codeFile(t, entry, change))
			if m, err := e.Compile(t.Context(), stripped(t, first), nil); abi.CodeOf(err) != abi.CodeModule {
				t.Errorf("got %v, %v", m, err)
			}
		})
	}
}
