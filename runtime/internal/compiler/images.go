package compiler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
)

const (
	// imageAge is how long after it was made an image is used: what a guest has read of the clock and of random numbers while it
	// started is in the image, and no older than that.
	imageAge = 24 * time.Hour
	// imageTidy is how often Put looks for old images, and for entries beyond the bound of the cache, if little is stored.
	imageTidy = time.Minute
	// maxOwnerImages bounds the images of one owner.
	maxOwnerImages = 256
	// imagePart is which part of the bound of the cache the images of one owner may have, and tidyPart after which part of it Put looks
	// for entries beyond that bound: a tenant can have images made without end.
	imagePart, tidyPart = 8, 32
)

// images are the Images of all owners.
type images struct {
	mu     sync.Mutex // guards the fields below
	of     map[string]*Images
	tidied time.Time
	stored int64 // bytes since tidied
}

// Images has the images of the modules of one owner in the compilation cache. It is safe for concurrent use. Several processes
// may use the same files: each appears complete, is only readable, and is never written again. What is in them is for their
// reader to check.
type Images struct {
	// fixed at creation
	store  *store
	all    *images
	prefix string // of the names of all files

	mu   sync.Mutex // held while a file appears
	gone bool       // the owner was removed; guarded by mu
}

// Images returns the images of the owner that ctx has. After a module with an owner, one without has none: see [Compiler.Code].
func (c *Compiler) Images(ctx context.Context) (*Images, error) {
	owner := c.ownerOf(ctx)
	if owner == "" && c.hasOwners.Load() {
		return nil, errNoOwner
	}
	c.images.mu.Lock()
	defer c.images.mu.Unlock()
	i := c.images.of[owner]
	if i == nil {
		i = &Images{store: c.store, all: c.images, prefix: imagePrefix(owner)}
		c.images.of[owner] = i
	}
	return i, nil
}

// imagePrefix returns half of a digest, as text; the key of an image makes the other half.
func imagePrefix(owner string) string {
	sum := sha256.Sum256([]byte("owner of images " + owner))
	return hex.EncodeToString(sum[:sha256.Size/2])
}

// RemoveImages removes the images of an owner, also those of earlier processes. Modules of the owner that are open have none from
// then on; those that are opened later may.
func (c *Compiler) RemoveImages(owner string) error {
	c.images.mu.Lock()
	i := c.images.of[owner]
	delete(c.images.of, owner)
	c.images.mu.Unlock()
	if i != nil {
		i.mu.Lock()
		i.gone = true
		i.mu.Unlock()
	}
	var errs []error
	for _, file := range c.store.byAge(imagePrefix(owner) + "*.image") {
		errs = append(errs, removeIfThere(file))
	}
	return errors.Join(errs...)
}

func removeIfThere(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// path returns the file for a key. Its name depends on the program file, as a prepared module does.
func (i *Images) path(key [sha256.Size]byte) (string, error) {
	program, err := i.store.program()
	if err != nil {
		return "", err
	}
	name := sha256.Sum256(append([]byte(program), key[:]...))
	return filepath.Join(i.store.dir, i.prefix+hex.EncodeToString(name[:sha256.Size/2])+".image"), nil
}

// Open opens the image that Put has stored under the key. The error is [fs.ErrNotExist] if there is none, or it is too old. The
// caller closes the file.
func (i *Images) Open(key [sha256.Size]byte) (*os.File, error) {
	path, err := i.path(key)
	if err != nil {
		return nil, err
	}
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	if isOldImage(info, time.Now()) {
		return nil, errors.Join(fs.ErrNotExist, f.Close(), removeIfThere(path))
	}
	return f, nil
}

// isOldImage reports whether an image is not used any more. It is if it is from the future, as after the clock was set back: then its
// age is not known. A clock that is set back to a time after the image was made is not noticed, and the image is used for so much longer.
func isOldImage(info fs.FileInfo, now time.Time) bool {
	age := now.Sub(info.ModTime())
	return age > imageAge || age < -time.Minute
}

// Put stores the image that write writes into an empty file, in place of an earlier one. Beyond the part of the cache that the owner may
// have for images, the oldest of its images go.
func (i *Images) Put(key [sha256.Size]byte, write func(*os.File) error) error {
	path, err := i.path(key)
	if err != nil {
		return err
	}
	if err := codedir.CheckOwn(i.store.dir); err != nil {
		return err
	}
	if err := i.store.putFile(path, write, i.publish); err != nil {
		return err
	}
	i.trim()
	i.tidy(path)
	return nil
}

// trim removes the oldest images of the owner beyond what it may have.
func (i *Images) trim() {
	files := i.store.byAge(i.prefix + "*.image")
	number, left := 0, i.store.maxBytes/imagePart
	for _, file := range slices.Backward(files) {
		info, err := os.Lstat(file)
		if err != nil {
			continue // another process has removed it
		}
		number, left = number+1, left-diskSize(info)
		if number > maxOwnerImages || left < 0 {
			_ = os.Remove(file) // likewise
		}
	}
}

// publish renames a file, unless the owner was removed.
func (i *Images) publish(from, to string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.gone {
		return errors.New("the owner of the image was removed")
	}
	return os.Rename(from, to)
}

// tidy removes what is too much in the cache, once a minute, and more often if much is stored.
func (i *Images) tidy(stored string) {
	size := int64(0)
	if info, err := os.Lstat(stored); err == nil {
		size = diskSize(info)
	}
	i.all.mu.Lock()
	i.all.stored += size
	due := time.Since(i.all.tidied) > imageTidy || i.all.stored > i.store.maxBytes/tidyPart
	if due {
		i.all.tidied, i.all.stored = time.Now(), 0
	}
	i.all.mu.Unlock()
	if due {
		i.store.removeOldImages()
		i.store.limit()
	}
}

// Remove removes the image under a key, if there is one.
func (i *Images) Remove(key [sha256.Size]byte) error {
	path, err := i.path(key)
	if err != nil {
		return err
	}
	return removeIfThere(path)
}

// removeOldImages removes images that are not used any more.
func (s *store) removeOldImages() {
	for _, file := range s.byAge("*.image") {
		info, err := os.Lstat(file)
		if err == nil && isOldImage(info, time.Now()) {
			_ = os.Remove(file) // another process may have removed it
		}
	}
}
