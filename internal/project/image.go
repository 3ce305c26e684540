package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	dockerfile = "Dockerfile"
	maxServer  = 200 // bytes
)

var serverName = expression(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)

// AddImage writes a Dockerfile to a project: for an image with wasmres and the provider, which the public MCP registry
// lists as server. It refuses to replace a Dockerfile.
func AddImage(dir, server string) error {
	if len(server) > maxServer || !serverName().MatchString(server) {
		return fmt.Errorf("%q is not the name of a server in the MCP registry: write it as in io.github.ada/notes", server)
	}
	name, err := nameOf(dir)
	if err != nil {
		return err
	}
	files := map[string]string{}
	if err := addTemplates(files, "templates/image", strings.NewReplacer("@NAME@", name, "@SERVER@", server)); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, dockerfile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: remove it first, or change it by hand", filepath.Join(dir, dockerfile))
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(files[dockerfile])
	return errors.Join(err, f.Close())
}

// nameOf returns the name of the provider that a project builds: that of its folder.
func nameOf(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := filepath.Base(abs)
	return name, CheckName(name)
}
