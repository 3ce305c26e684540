package quota

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

const (
	maxFile     = 32 << 20 // bytes; one of 100,000 tenants has 8 MiB
	fileVersion = 1
)

// A file is what a Book stores.
type file struct {
	Version int `json:"version"`
	day
	// Others are those days of which the file was before, the last first: the clock may be set back to one of them.
	Others []day `json:"others,omitempty"`
}

// An invalidError is one of what a file says.
type invalidError struct{ err error }

func (e *invalidError) Error() string { return e.err.Error() }

// read reads a file of usage; there may be none.
func read(path string) (f file, err error) {
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return f, err
	}
	return decode(text)
}

// decode reads the text of a file. The error is an invalidError.
func decode(text []byte) (f file, err error) {
	if len(text) > maxFile {
		return file{}, &invalidError{fmt.Errorf("it has more than %d bytes", maxFile)}
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return file{}, &invalidError{err}
	}
	if f.Version != fileVersion {
		return file{}, &invalidError{fmt.Errorf("its version is %d, expected %d", f.Version, fileVersion)}
	}
	for _, d := range append([]day{f.day}, f.Others...) {
		for id, u := range d.Tenants {
			if u.CPU < 0 || u.Bytes < 0 {
				return file{}, &invalidError{fmt.Errorf("the usage of tenant %.64q is negative", id)}
			}
		}
	}
	return f, nil
}
