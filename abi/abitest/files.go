package abitest

import (
	"bytes"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

const (
	writeTemplate  = "kit://write/{name}/{text}"
	removeTemplate = "kit://remove/{name}"
)

// A folder is a directory of files that may be written. It keeps what it is asked.
type folder struct {
	t      testing.TB
	files  map[string]string // by path
	asked  []abi.FileRequest
	others string // what others have put at the end of a file to which something is added
	err    error  // of what is asked second; nil for none
}

func (f *folder) services() map[abi.Service]Service {
	services := map[abi.Service]Service{}
	for service, serve := range map[abi.Service]func(*abi.FileRequest) (abi.FileResponse, error){
		abi.ServiceFileWrite: f.write, abi.ServiceFileRemove: f.remove,
	} {
		services[service] = func(request []byte) (message, body []byte, err error) {
			var req abi.FileRequest
			if err := req.Decode(request); err != nil {
				f.t.Errorf("service %d: %v", service, err)
				return nil, nil, err
			}
			req.Data = bytes.Clone(req.Data)
			f.asked = append(f.asked, req)
			switch {
			case req.Path != path.Clean(req.Path) || !strings.HasPrefix(req.Path, "/kit/"):
				return nil, nil, &abi.Error{Code: abi.CodeInvalidParams}
			case f.err != nil && len(f.asked) == 2:
				return nil, nil, f.err
			}
			resp, err := serve(&req)
			return resp.Append(nil), nil, err
		}
	}
	return services
}

func (f *folder) write(req *abi.FileRequest) (abi.FileResponse, error) {
	old := ""
	if req.Appends {
		old = f.files[req.Path] + f.others
	}
	f.files[req.Path] = old + string(req.Data)
	return wrote(req.Path, uint64(len(f.files[req.Path]))), nil
}

// wrote is what the host answers when a file has so many bytes.
func wrote(name string, size uint64) abi.FileResponse {
	return abi.FileResponse{Files: []abi.File{{Name: path.Base(name), Size: size, ModifiedMillis: 1 << 40}}}
}

func (f *folder) remove(req *abi.FileRequest) (abi.FileResponse, error) {
	if _, ok := f.files[req.Path]; !ok {
		return abi.FileResponse{}, &abi.Error{Code: abi.CodeNotFound}
	}
	delete(f.files, req.Path)
	return abi.FileResponse{}, nil
}

func (f *folder) wantFiles(want map[string]string) {
	f.t.Helper()
	if !maps.Equal(f.files, want) {
		f.t.Errorf("the folder has %.200q, want %.200q", f.files, want)
	}
}

// wantAsked compares what the guest asked for: to put the text, and then a newline at the end.
func (f *folder) wantAsked(path, text string) {
	f.t.Helper()
	want := []abi.FileRequest{{Path: path, Data: []byte(text)}, {Path: path, Data: []byte("\n"), Appends: true}}
	if len(f.asked) != len(want) {
		f.t.Errorf("the guest asks %d times, want %d", len(f.asked), len(want))
		return
	}
	for i, got := range f.asked {
		if got.Path != want[i].Path || !bytes.Equal(got.Data, want[i].Data) || got.Appends != want[i].Appends {
			f.t.Errorf("the guest writes %.50q to %q, append %v; want %.50q, %q, %v", got.Data, got.Path, got.Appends,
				want[i].Data, want[i].Path, want[i].Appends)
		}
	}
}

func (k *kit) testWrite(t *testing.T) {
	write := func(f *folder, name, text string) Outcome {
		t.Helper()
		return k.granted(t, f.services(), writeTemplate, "name", name, "text", text)
	}
	for name, c := range map[string]struct{ file, text, size string }{
		"new":     {"new.txt", "a text", "7"},
		"old":     {"old.txt", "shorter", "8"},
		"nothing": {"old.txt", "", "1"},
		"unicode": {"größe 狐.txt", "Zwölf\r\n🦊", "13"},
		"large":   {"large", strings.Repeat("abcdefgh", 7500), "60001"},
	} {
		t.Run(name, func(t *testing.T) {
			const other, old = "/kit/other", "/kit/old.txt"
			f := &folder{t: t, files: map[string]string{old: "a longer text", other: "x"}}
			wantGranted(t, write(f, c.file, c.text), abi.KindText, c.size)
			f.wantAsked("/kit/"+c.file, c.text)
			want := map[string]string{old: "a longer text", other: "x"}
			want["/kit/"+c.file] = c.text + "\n"
			f.wantFiles(want)
		})
	}
	t.Run("others write too", func(t *testing.T) {
		f := &folder{t: t, files: map[string]string{}, others: "by others"}
		wantGranted(t, write(f, "a", "text"), abi.KindText, "14")
		f.wantFiles(map[string]string{"/kit/a": "textby others\n"})
	})
	for _, name := range []string{"", ".", ".."} {
		f := &folder{t: t, files: map[string]string{}}
		wantCode(t, write(f, name, "text"), abi.CodeInvalidParams)
		f.wantFiles(nil)
	}
	for _, code := range []abi.Code{abi.CodeDenied, abi.CodeUnavailable, abi.CodeTooLarge} {
		t.Run(code.String()+" midway", func(t *testing.T) {
			f := &folder{t: t, files: map[string]string{}, err: &abi.Error{Code: code}}
			wantCode(t, write(f, "a", "text"), code)
			f.wantFiles(map[string]string{"/kit/a": "text"})
		})
	}
}

func (k *kit) testRemove(t *testing.T) {
	remove := func(f *folder, name string) Outcome {
		t.Helper()
		return k.granted(t, f.services(), removeTemplate, "name", name)
	}
	for _, name := range []string{"a", "größe 狐.txt"} {
		f := &folder{t: t, files: map[string]string{"/kit/" + name: "text", "/kit/other": "x"}}
		wantGranted(t, remove(f, name), abi.KindText, "gone")
		f.wantFiles(map[string]string{"/kit/other": "x"})
		wantCode(t, remove(f, name), abi.CodeNotFound)
	}
	for _, name := range []string{"", ".", ".."} {
		f := &folder{t: t, files: map[string]string{}}
		wantCode(t, remove(f, name), abi.CodeInvalidParams)
	}
}

// testFileSizes has the host tell sizes: what it says is what the guest says, of 2^53 bytes and more perhaps an error.
func (k *kit) testFileSizes(t *testing.T) {
	for size, want := range map[uint64]string{
		0: "0", 1: "1", 1<<31 + 1: "2147483649", 1<<32 + 5: "4294967301", 1<<53 - 1: "9007199254740991",
	} {
		p := playWrite(wrote("a", 2), wrote("a", size), want)
		if code, body, err := k.see(t, p, 0); err != nil || code != abi.CodeOK || !p.isRight(body) {
			t.Errorf("size %d: got %v, %q, %v", size, code, body, err)
		}
	}
	for size, want := range map[uint64]string{
		1<<53 + 1: "9007199254740993", 1 << 63: "9223372036854775808", 1<<64 - 1: "18446744073709551615",
	} {
		k.safe(t, playWrite(wrote("a", 2), wrote("a", size), want), 0, "size %d", size)
	}
	two := abi.FileResponse{Files: append(wrote("a", 2).Files, wrote("b", 3).Files...)}
	for name, r := range map[string]abi.FileResponse{"no file": {}, "two files": two} {
		k.safe(t, playWrite(r, wrote("a", 2), "2"), 0, "%s", name)
		p := playWrite(wrote("a", 2), r, "")
		if code, body, err := k.see(t, p, 0); err != nil || code == abi.CodeOK {
			t.Errorf("%s: got %v, %q, %v, want an error", name, code, body, err)
		}
	}
}

// playWrite is a write of a text, and what the host answers to it, and to the newline at its end.
func playWrite(text, newline abi.FileResponse, want string) play {
	return play{writeTemplate, []string{"name", "a", "text", "b"}, []act{
		{abi.ServiceFileWrite, fileSchema, text.Append(nil), nil},
		{abi.ServiceFileWrite, fileSchema, newline.Append(nil), nil},
	}, want}
}
