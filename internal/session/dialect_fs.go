package session

import (
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// fileDialects are those of the power to read and write files.
var fileDialects = []*dialect{
	fileDialect(abi.ServiceFileStat, "fs.stat", true),
	fileDialect(abi.ServiceFileRead, "fs.read", true),
	fileDialect(abi.ServiceFileList, "fs.list", true),
	fileDialect(abi.ServiceFileWrite, "fs.write", false),
	fileDialect(abi.ServiceFileRemove, "fs.remove", false),
}

func fileDialect(id abi.Service, name string, hasBody bool) *dialect {
	return &dialect{
		service: id, name: name, capability: CapabilityFS,
		places: "PATH", options: "offset=N, length=N, after=NAME, text=TEXT, blob=BASE64, sha256=HEX, append",
		answers: []string{"files", "more"}, hasBody: hasBody,
		question: func() question { return &fileQuestion{} }, response: func() response { return &fileResponse{} },
	}
}

type fileQuestion struct {
	abi.FileRequest
	data payload
}

func (q *fileQuestion) Decode(request []byte) error {
	err := q.FileRequest.Decode(request)
	q.data = payloadOf(q.Data)
	return err
}

func (q *fileQuestion) places() []*string { return []*string{&q.Path} }

func (q *fileQuestion) options() (words []string) {
	words = numberOption(words, "offset", q.Offset)
	words = numberOption(words, "length", q.Length)
	words = textOption(words, "after", q.After)
	words = q.data.option(words)
	if q.Appends {
		words = append(words, "append")
	}
	return words
}

func (q *fileQuestion) setOption(name, value string) (err error) {
	switch name {
	case "offset":
		return setNumber(&q.Offset, value)
	case "length":
		return setNumber(&q.Length, value)
	case "after":
		q.After = value
	case "append":
		q.Appends = true
		return parseFlag(value)
	default:
		q.data, err = parsePayload(name, value)
	}
	return err
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
