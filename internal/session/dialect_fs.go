package session

import (
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// fileDialects are those of the power to read files.
var fileDialects = []*dialect{
	fileDialect(abi.ServiceFileStat, "fs.stat"),
	fileDialect(abi.ServiceFileRead, "fs.read"),
	fileDialect(abi.ServiceFileList, "fs.list"),
}

func fileDialect(id abi.Service, name string) *dialect {
	return &dialect{
		service: id, name: name, capability: CapabilityFS,
		places: "PATH", options: "offset=N, length=N, after=NAME", answers: []string{"files", "more"}, hasBody: true,
		question: func() question { return &fileQuestion{} }, response: func() response { return &fileResponse{} },
	}
}

type fileQuestion struct{ abi.FileRequest }

func (q *fileQuestion) places() []*string { return []*string{&q.Path} }

func (q *fileQuestion) options() (words []string) {
	words = numberOption(words, "offset", q.Offset)
	words = numberOption(words, "length", q.Length)
	return textOption(words, "after", q.After)
}

func (q *fileQuestion) setOption(name, value string) error {
	switch name {
	case "offset":
		return setNumber(&q.Offset, value)
	case "length":
		return setNumber(&q.Length, value)
	case "after":
		q.After = value
		return nil
	}
	return errUnknown
}

func (q *fileQuestion) check() error { return nil }

type fileResponse struct{ abi.FileResponse }

func (r *fileResponse) check() error {
	for _, f := range r.Files {
		if !hasYear(f.ModifiedMillis) {
			return fmt.Errorf("the time of change of %.128q is out of range: touch it", f.Name)
		}
	}
	return nil
}

func (r *fileResponse) members() []member {
	var files []*value
	for _, f := range r.Files {
		files = append(files, object(
			member{"name", text(f.Name)}, member{"size", unlessZero(f.Size)},
			member{"modified", timeValue(f.ModifiedMillis)}, member{"dir", ifTrue(f.Dir)},
		))
	}
	return []member{{"files", array(files)}, {"more", ifTrue(r.More)}}
}

func (r *fileResponse) set(m member) error {
	switch m.name {
	case "files":
		return r.setFiles(m.value)
	case "more":
		return m.value.into(&r.More)
	}
	return errUnknown
}

func (r *fileResponse) setFiles(v *value) error {
	var list []struct {
		Name     string
		Size     uint64
		Modified time.Time
		Dir      bool
	}
	if err := v.into(&list); err != nil {
		return err
	}
	r.Files = nil
	for _, f := range list {
		r.Files = append(r.Files, abi.File{Name: f.Name, Size: f.Size, ModifiedMillis: millisOf(f.Modified), Dir: f.Dir})
	}
	return nil
}
