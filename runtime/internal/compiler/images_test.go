package compiler_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
)

// imagesOf returns the images of an owner; of none if that is empty.
func imagesOf(t *testing.T, c *compiler.Compiler, owner string) *compiler.Images {
	t.Helper()
	ctx := t.Context()
	if owner != "" {
		ctx = compiler.WithOwner(ctx, owner)
	}
	images, err := c.Images(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return images
}

func put(t *testing.T, images *compiler.Images, key [32]byte, text string) {
	t.Helper()
	if err := images.Put(key, write(text)); err != nil {
		t.Fatal(err)
	}
}

func write(text string) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	}
}

// content returns an image; empty if there is none.
func content(t *testing.T, images *compiler.Images, key [32]byte) string {
	t.Helper()
	f, err := images.Open(key)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestImagesAreKeptByOwnerAndKey(t *testing.T) {
	dir := t.TempDir()
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	alone, acme, globex := imagesOf(t, c, ""), imagesOf(t, c, "acme"), imagesOf(t, c, "globex")
	put(t, alone, [32]byte{1}, "without an owner")
	put(t, acme, [32]byte{1}, "first")
	put(t, acme, [32]byte{2}, "second")
	if got := content(t, globex, [32]byte{1}); got != "" {
		t.Errorf("globex has %q", got)
	}
	other := imagesOf(t, newCompiler(t, compiler.Config{CacheDir: dir}), "acme")
	put(t, other, [32]byte{1}, "again")
	for key, want := range map[byte]string{1: "again", 2: "second", 3: ""} {
		if got := content(t, acme, [32]byte{key}); got != want {
			t.Errorf("image %d is %q, want %q", key, got, want)
		}
	}
	if err := errors.Join(acme.Remove([32]byte{1}), acme.Remove([32]byte{3})); err != nil || content(t, other, [32]byte{1}) != "" {
		t.Errorf("not removed: %v", err)
	}
	if _, err := c.Images(context.Background()); err == nil {
		t.Error("there are images without an owner beside those of owners")
	}
	for _, file := range imageFiles(t, dir) {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o400 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
}

func imageFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.image"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestImagesAreUsedForADay(t *testing.T) {
	dir := t.TempDir()
	images := imagesOf(t, newCompiler(t, compiler.Config{CacheDir: dir}), "acme")
	for age, kept := range map[time.Duration]bool{0: true, 23 * time.Hour: true, 25 * time.Hour: false, -time.Hour: false} {
		put(t, images, [32]byte{1}, "text")
		made := time.Now().Add(-age)
		if err := os.Chtimes(imageFiles(t, dir)[0], made, made); err != nil {
			t.Fatal(err)
		}
		if got := content(t, images, [32]byte{1}); (got != "") != kept || (len(imageFiles(t, dir)) == 1) != kept {
			t.Errorf("after %v: got %q, and the files %v", age, got, imageFiles(t, dir))
		}
	}
}

func TestTheImagesOfAnOwnerAreRemoved(t *testing.T) {
	dir := t.TempDir()
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	acme, globex := imagesOf(t, c, "acme"), imagesOf(t, c, "globex")
	for key := range byte(3) {
		put(t, acme, [32]byte{key}, "acme's")
	}
	put(t, globex, [32]byte{1}, "globex's")
	put(t, imagesOf(t, newCompiler(t, compiler.Config{CacheDir: dir}), "acme"), [32]byte{9}, "of another process")
	if err := c.RemoveImages("acme"); err != nil {
		t.Fatal(err)
	}
	if left := imageFiles(t, dir); len(left) != 1 || content(t, globex, [32]byte{1}) == "" {
		t.Errorf("left are %v", left)
	}
	if err := acme.Put([32]byte{1}, write("late")); err == nil || len(imageFiles(t, dir)) != 1 {
		t.Errorf("a module that was open has left an image: %v", err)
	}
	put(t, imagesOf(t, c, "acme"), [32]byte{1}, "of a new one")
	if err := errors.Join(c.RemoveImages("initech"), c.With("wasmtime").RemoveImages("acme")); err != nil || len(imageFiles(t, dir)) != 1 {
		t.Errorf("left are %v: %v", imageFiles(t, dir), err)
	}
}

// TestAFailedImageLeavesNothing writes as to a full disk.
func TestAFailedImageLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	images := imagesOf(t, newCompiler(t, compiler.Config{CacheDir: dir}), "acme")
	put(t, images, [32]byte{1}, "earlier")
	full := errors.New("disk full")
	if err := images.Put([32]byte{1}, func(f *os.File) error { return errors.Join(write("half")(f), full) }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || content(t, images, [32]byte{1}) != "earlier" {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := os.Remove(imageFiles(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, left[0].Name()), 0o700); err != nil {
		t.Fatal(err)
	}
	if f, err := images.Open([32]byte{1}); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory is an image: %v, %v", f, err)
	}
}

// TestAnOwnerHasAPartOfTheCacheForImages saves more images than one owner may have.
func TestAnOwnerHasAPartOfTheCacheForImages(t *testing.T) {
	dir, text := t.TempDir(), strings.Repeat("x", 1000)
	c := newCompiler(t, compiler.Config{CacheDir: dir, MaxBytes: 16_000}) // 2,000 for the images of an owner
	acme, globex := imagesOf(t, c, "acme"), imagesOf(t, c, "globex")
	put(t, globex, [32]byte{1}, text)
	for n := range byte(5) {
		made := time.Now().Add(-time.Duration(10-n) * time.Hour)
		for _, file := range imageFiles(t, dir) { // the one that was put last is the youngest
			if info, err := os.Stat(file); err != nil || time.Since(info.ModTime()) > time.Hour {
				continue
			}
			if err := os.Chtimes(file, made, made); err != nil {
				t.Fatal(err)
			}
		}
		put(t, acme, [32]byte{n}, text)
	}
	for n := range byte(5) {
		if got := content(t, acme, [32]byte{n}); (got == text) != (n >= 3) {
			t.Errorf("image %d has %d bytes", n, len(got))
		}
	}
	if len(imageFiles(t, dir)) != 3 || content(t, globex, [32]byte{1}) != text {
		t.Errorf("left are %v", imageFiles(t, dir))
	}
}

// TestImagesPushNothingElseOut saves images of many owners beside modules that were not used lately.
func TestImagesPushNothingElseOut(t *testing.T) {
	dir := newCacheDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir, MaxBytes: 8000})
	for n := range byte(20) {
		put(t, imagesOf(t, c, string('a'+rune(n))), [32]byte{n}, strings.Repeat("x", 1000))
	}
	all, err := compiler.List(dir)
	if err != nil || compiler.Size(all) > 8000 {
		t.Errorf("the cache has %d bytes, at most 8000 may be there: %v", compiler.Size(all), err)
	}
	if got := namesOf(all)[:4]; !slices.Equal(got, []string{"d compiled 300", "c refused 10", "b prepared 500", "a compiled 1100"}) {
		t.Errorf("left are %q", got)
	}
	if len(imageFiles(t, dir)) == 0 {
		t.Error("no image is left, and there is room for some")
	}
}

// TestTheImagesOfAnOwnerAreFoundInAnyFolder has a folder whose name is a pattern of other names.
func TestTheImagesOfAnOwnerAreFoundInAnyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ca[ch]e")
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	put(t, imagesOf(t, c, "acme"), [32]byte{1}, "text")
	if err := c.RemoveImages("acme"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
