package tenant

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// initial has the files of a new server, with comments for its operator.
//
//go:embed initial
var initial embed.FS

// InitDir makes a folder for a new server: serve.yaml, and tenants/default.yaml with a tenant that has no provider yet. It
// reports whether it has written serve.yaml. It leaves a folder that has one as it is, and never replaces a file.
func InitDir(data string) (written bool, err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return false, fmt.Errorf("make the data folder: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(data, "serve.yaml")); err == nil {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Join(data, "tenants"), 0o700); err != nil {
		return false, fmt.Errorf("make the folder of tenants: %w", err)
	}
	for _, name := range []string{"tenants/default.yaml", "serve.yaml"} { // serve.yaml says that all is there
		if written, err = writeNew(data, name); err != nil {
			return false, err
		}
	}
	return written, nil
}

// writeNew writes one of the initial files as a whole, unless there is one. It reports whether it did.
func writeNew(data, name string) (bool, error) {
	text, err := initial.ReadFile("initial/" + name)
	if err != nil {
		return false, err
	}
	into := filepath.Join(data, filepath.FromSlash(name))
	f, err := os.CreateTemp(filepath.Dir(into), ".new-*")
	if err != nil {
		return false, fmt.Errorf("write %s: %w", into, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, fmt.Errorf("write %s: %w", into, err)
	}
	err = os.Link(f.Name(), into) // fails if there is a file
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err == nil, nil
	}
	return writeWithoutLink(into, text)
}

// writeWithoutLink writes a file, unless there is one, where the file system has no links.
func writeWithoutLink(into string, text []byte) (bool, error) {
	f, err := os.OpenFile(into, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("make %s: %w", into, err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return false, errors.Join(fmt.Errorf("write %s: %w", into, err), os.Remove(into))
	}
	return true, nil
}
