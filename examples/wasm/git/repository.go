package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/config"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// configMax is how many bytes of the repository's configuration are read.
const configMax = 1 << 20

// A repository is what one request reads.
type repository struct {
	*objects
	own     fs.FS  // HEAD and what else each working tree has for itself
	common  fs.FS  // all else; the same but in a linked working tree
	packed  string // what packed-refs has; empty before it was read
	shallow map[plumbing.Hash]bool
}

// open opens the repository that is granted.
func open() (*repository, error) {
	dir, err := gitDir(root)
	if err != nil {
		return nil, err
	}
	common, err := commonDir(dir)
	if err != nil {
		return nil, err
	}
	g := &repository{own: wasmres.Dir(dir), common: wasmres.Dir(common)}
	if err := g.check(); err != nil {
		return nil, err
	}
	if g.shallow, err = readShallow(g.common); err != nil {
		return nil, err
	}
	g.objects, err = openObjects(wasmres.Dir(common + "/objects"))
	return g, err
}

// gitDir gives the folder of a repository that a working copy belongs to, or that top is itself.
func gitDir(top string) (string, error) {
	info, err := fs.Stat(wasmres.Dir(top), ".git")
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "", wasmres.Denied("the repository may not be read: grant its folder, as with --dir FOLDER:" + top + ":ro")
	case errors.Is(err, fs.ErrNotExist):
		return top, nil // it may be bare
	case err != nil:
		return "", err
	case info.IsDir():
		return top + "/.git", nil
	}
	return pointer(top, ".git", "gitdir:")
}

// commonDir gives the folder that a working tree shares with others.
func commonDir(dir string) (string, error) {
	common, err := pointer(dir, "commondir", "")
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	return common, err
}

// pointer gives the folder that a file of dir names. It may be outside of what is granted.
func pointer(dir, name, prefix string) (string, error) {
	content, err := readFile(wasmres.Dir(dir), name, looseMax)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(content)), prefix)
	if target = strings.TrimSpace(target); !ok || target == "" {
		return "", fmt.Errorf("%s/%s names no folder", dir, name)
	}
	if !path.IsAbs(target) {
		target = path.Join(dir, target)
	}
	target = path.Clean(target)
	if _, err := fs.Stat(wasmres.Dir(target), "."); err != nil {
		return "", elsewhere.Because(fmt.Errorf("the repository goes on in %q: %w", target, err))
	}
	return target, nil
}

var elsewhere = unsupported("the folder is a linked working tree or a submodule of a repository that is not granted: " +
	"grant the repository's own folder, or that too, at the path it has (the log says which)")

// check refuses what is no repository, or one that this provider would misread.
func (g *repository) check() error {
	if _, err := fs.Stat(g.own, headName); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return wasmres.NotFound("there is no git repository at " + root)
		}
		return err
	}
	content, err := readFile(g.common, "config", configMax)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	settings := config.New()
	if err := config.NewDecoder(strings.NewReader(string(content))).Decode(settings); err != nil {
		return fmt.Errorf("the repository's configuration is damaged: %w", err)
	}
	if err := checkFormat(settings); err != nil {
		return err
	}
	if info, err := fs.Stat(g.common, "objects/info/alternates"); err == nil && info.Size() > 0 {
		return unsupported("the repository borrows objects from another one (objects/info/alternates): " +
			"git repack -a -d, then delete that file")
	}
	return nil
}

// checkFormat refuses extensions that change how a repository is to be read.
func checkFormat(settings *config.Config) error {
	version := settings.Section("core").Option("repositoryformatversion")
	if version != "" && version != "0" && version != "1" {
		return unsupported("the repository's format has version " + strconv.Quote(version) + ", which is not known")
	}
	for _, o := range settings.Section("extensions").Options {
		switch key := strings.ToLower(o.Key); key {
		case "noop", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees":
		case "objectformat", "refstorage":
			if o.Value != "sha1" && o.Value != "files" {
				return unsupported("the repository has " + key + " " + strconv.Quote(o.Value) + ", which cannot be read")
			}
		default:
			if version == "1" {
				return unsupported("the repository has the extension " + strconv.Quote(key) + ", which is not known")
			}
		}
	}
	return nil
}

func unsupported(message string) *wasmres.Error {
	return &wasmres.Error{Code: wasmres.ErrUnsupported.Code, Message: message}
}

// readShallow gives the commits whose parents a shallow clone leaves out.
func readShallow(common fs.FS) (map[plumbing.Hash]bool, error) {
	content, err := readFile(common, "shallow", configMax)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	shallow := map[plumbing.Hash]bool{}
	for line := range strings.Lines(string(content)) {
		if hash := strings.TrimSpace(line); plumbing.IsHash(hash) {
			shallow[plumbing.NewHash(hash)] = true
		}
	}
	return shallow, nil
}

// readFile reads a file of at most some bytes.
func readFile(dir fs.FS, name string, most int64) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	case info.Size() > most:
		return nil, fmt.Errorf("%s has more than %d bytes", name, most)
	}
	content := make([]byte, info.Size())
	n, err := io.ReadFull(f, content)
	if err == io.EOF || err == io.ErrUnexpectedEOF { // the file has become shorter
		err = nil
	}
	return content[:n], err
}
