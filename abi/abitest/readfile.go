package abitest

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

const fileTemplate = "kit://file/{name}"

// A fileDir is a directory of files that may be read.
type fileDir struct {
	t     testing.TB
	files map[string]string // by path
	part  int               // bytes that one answer has at most; 0 for as many as the ABI allows
	err   error             // of the second part, and those after it; nil for none
	read  int               // parts so far
	// sizeless says that the size of files is told as 0, as that of files of procfs is.
	sizeless bool
}

func (s *fileDir) services() map[abi.Service]Service {
	return map[abi.Service]Service{abi.ServiceFileStat: s.answer(false), abi.ServiceFileRead: s.answer(true)}
}

// answer returns one of the services: both describe the file, and one has bytes of it beside that.
func (s *fileDir) answer(reads bool) Service {
	return func(request []byte) (message, body []byte, err error) {
		var req abi.FileRequest
		if err := req.Decode(request); err != nil {
			s.t.Errorf("a malformed request: %v", err)
			return nil, nil, err
		}
		text, there := s.files[req.Path]
		isDir := path.Dir(req.Path) == "/" || path.Base(req.Path) == "folder"
		switch {
		case req.Path != path.Clean(req.Path) || !strings.HasPrefix(req.Path, "/kit"):
			return nil, nil, &abi.Error{Code: abi.CodeInvalidParams}
		case isDir && reads:
			return nil, nil, &abi.Error{Code: abi.CodeInvalidParams}
		case !isDir && !there:
			return nil, nil, &abi.Error{Code: abi.CodeNotFound}
		}
		if reads {
			if body, err = s.cut(text, &req); err != nil {
				return nil, nil, err
			}
		}
		size := uint64(len(text))
		if s.sizeless {
			size = 0
		}
		return described(req.Path, size, isDir), body, nil
	}
}

func (s *fileDir) cut(text string, req *abi.FileRequest) ([]byte, error) {
	if s.read++; s.read > 1 && s.err != nil {
		return nil, s.err
	}
	size := uint64(abi.MaxService)
	for _, most := range []uint64{req.Length, uint64(s.part)} {
		if most > 0 {
			size = min(size, most)
		}
	}
	from := min(req.Offset, uint64(len(text)))
	return []byte(text[from:min(from+size, uint64(len(text)))]), nil
}

// described is what the host says of a file.
func described(name string, size uint64, isDir bool) []byte {
	r := abi.FileResponse{Files: []abi.File{{Name: path.Base(name), Size: size, ModifiedMillis: 1 << 40, Dir: isDir}}}
	return r.Append(nil)
}

func (k *kit) testFile(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		part int
	}{
		"empty": {"", 0}, "größe 狐.txt": {"Zwölf\r\n🦊", 0}, "bytes": {pattern(0, 256), 0}, "pieces": {pattern(3, 5000), 7},
		"page": {pattern(0, 4096), 0}, "large": {pattern(5, 3<<20+7), 0}, "large, in pieces": {pattern(9, 200_001), 1 << 10},
	} {
		for _, sizeless := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sizeless=%t", name, sizeless), func(t *testing.T) {
				s := &fileDir{t: t, part: c.part, sizeless: sizeless, files: map[string]string{"/kit/" + name: c.text, "/kit/other": "x"}}
				wantGranted(t, k.granted(t, s.services(), fileTemplate, "name", name), abi.KindBlob, c.text)
			})
		}
	}
	for name, code := range map[string]abi.Code{
		"missing": abi.CodeNotFound, "folder": abi.CodeInvalidParams, "": abi.CodeInvalidParams, ".": abi.CodeInvalidParams,
		"..": abi.CodeInvalidParams, "a/../b": abi.CodeInvalidParams,
	} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			s := &fileDir{t: t, files: map[string]string{"/kit/a": "x", "/b": "x"}}
			wantCode(t, k.granted(t, s.services(), fileTemplate, "name", name), code)
		})
	}
	for _, code := range []abi.Code{abi.CodeNotFound, abi.CodeDenied, abi.CodeUnavailable} {
		t.Run(code.String()+" midway", func(t *testing.T) {
			s := &fileDir{t: t, files: map[string]string{"/kit/a": pattern(0, 300_000)}, err: &abi.Error{Code: code}, part: 100_000}
			wantCode(t, k.granted(t, s.services(), fileTemplate, "name", "a"), code)
		})
	}
}

// playFile is a read of a file, and what the host answers to a guest that asks for the file's metadata and reads the file in two parts.
func playFile() play {
	described := described("a", 5, false)
	return play{fileTemplate, []string{"name", "a"}, []act{
		{abi.ServiceFileStat, fileSchema, described, nil},
		{abi.ServiceFileRead, fileSchema, described, []byte("val")},
		{abi.ServiceFileRead, fileSchema, described, []byte("ue")},
		{abi.ServiceFileRead, fileSchema, described, nil}, // as a guest reads that makes sure of the end
	}, "value"}
}
