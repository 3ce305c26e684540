package snapshot_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// memoryFile makes an empty file in memory that can be sealed.
func memoryFile(tb testing.TB) *os.File {
	tb.Helper()
	fd, err := unix.MemfdCreate("image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		tb.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "image")
	tb.Cleanup(func() { f.Close() })
	return f
}

// sealedImage makes an image in a file in memory.
func sealedImage(tb testing.TB, memory []byte) *os.File {
	tb.Helper()
	f := memoryFile(tb)
	reserve, err := snapshot.ReserveIn(f)
	if err != nil {
		tb.Fatal(err)
	}
	defer reserve.Close()
	image, err := snapshot.New(memory, snapshot.Config{Reserve: reserve})
	if err != nil {
		tb.Fatal(err)
	}
	if err := image.Close(); err != nil {
		tb.Fatal(err)
	}
	return f
}

// saved saves an image of memory.
func saved(tb testing.TB, memory []byte, about string) (file string) {
	tb.Helper()
	file = filepath.Join(tb.TempDir(), "saved")
	f, err := os.Create(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if err := snapshot.Save(f, sealedImage(tb, memory), []byte(about)); err != nil {
		tb.Fatal(err)
	}
	return file
}

func openSaved(tb testing.TB, file string, cfg snapshot.Config) (*snapshot.Image, string, error) {
	tb.Helper()
	f, err := os.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	image, about, err := snapshot.OpenSaved(f, cfg)
	return image, string(about), err
}

func TestASavedImageIsAsItWas(t *testing.T) {
	const length = 2 * mib
	original := holes(length)
	file := saved(t, original, "more")
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		if method == snapshot.Copy {
			t.Skip("it does not map images")
		}
		image, about, err := openSaved(t, file, snapshot.Config{Limit: 2 * length, Method: method})
		if err != nil || about != "more" {
			t.Fatalf("got %q, %v", about, err)
		}
		defer image.Close()
		m := newMemory(t, image)
		defer release(t, m)
		e := instantiate(m)
		checkRestored(t, e, original, length)
		for _, stride := range []int{kernelPage, 10 * kernelPage, 100 * kernelPage} {
			mustGrow(t, e, 2*length)
			e.dirty(0, 2*length, stride)
			e.reset(t)
			checkRestored(t, e, original, 2*length)
		}
	})
	if whole, err := os.ReadFile(file); err != nil || !bytes.Equal(whole[:length], original) {
		t.Errorf("the file has changed: %v", err)
	}
}

func TestASavedImageHasHoles(t *testing.T) {
	memory := make([]byte, 16*mib)
	memory[5*mib] = 1
	info, err := os.Stat(saved(t, memory, ""))
	if err != nil {
		t.Fatal(err)
	}
	var s unix.Stat_t
	if err := unix.Stat(saved(t, memory, ""), &s); err != nil {
		t.Fatal(err)
	}
	if used := s.Blocks * 512; used > 1*mib || info.Size() < 16*mib {
		t.Errorf("a file of %d bytes takes %d", info.Size(), used)
	}
}

func TestAHarmedSavedImageIsRefused(t *testing.T) {
	original := holes(2 * mib)
	whole, err := os.ReadFile(saved(t, original, "more"))
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) []byte {
		b := slices.Clone(whole)
		b[at] ^= 0x10
		return b
	}
	filled := slices.IndexFunc(original, func(b byte) bool { return b != 0 })
	headLength := slices.Clone(whole)
	binary.LittleEndian.PutUint32(headLength[len(whole)-4:], 1<<31)
	for name, text := range map[string][]byte{
		"empty": {}, "half": whole[:len(whole)/2], "without its end": whole[:len(whole)-1], "a page short": whole[kernelPage:],
		"without its head": whole[:len(original)], "longer": append(slices.Clone(whole), 0), "twice": append(slices.Clone(whole), whole...),
		"zeros": make([]byte, len(whole)), "other memory": flip(filled), "other head": flip(len(original)),
		"other hole": flip(bytes.IndexByte(original, 0)), "other parts": flip(len(original) + 12), "another number of parts": flip(len(original) + 8),
		"another checksum": flip(len(whole) - 6), "another length of the head": headLength, "other text beside": flip(len(whole) - 9),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "harmed")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if image, _, err := openSaved(t, file, snapshot.Config{}); err == nil {
				image.Close()
				t.Error("it was opened")
			}
		})
	}
	if _, _, err := openSaved(t, saved(t, original, ""), snapshot.Config{Limit: 1 * mib}); err == nil {
		t.Error("an image over the limit was opened")
	}
}

// TestWhatAWorkerGivesIsNotSavedUnchecked saves files that are not of an honest worker.
func TestWhatAWorkerGivesIsNotSavedUnchecked(t *testing.T) {
	seal := func(f *os.File) error {
		_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
		return err
	}
	for name, make := range map[string]func(f *os.File) error{
		"not sealed": func(f *os.File) error { return f.Truncate(mib) },
		"writable": func(f *os.File) error {
			_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW)
			return err
		},
		"empty":          seal,
		"no whole page":  func(f *os.File) error { f.Truncate(kernelPage); return seal(f) },
		"a very big one": func(f *os.File) error { f.Truncate(1 << 40); return seal(f) },
		"too much in it": func(f *os.File) error { return fillWith(f, 40*mib, seal) },
		"too many parts": func(f *os.File) error {
			for at := int64(0); at < 64*mib; at += 2 * kernelPage {
				if _, err := f.WriteAt([]byte{1}, at); err != nil {
					return err
				}
			}
			f.Truncate(64 * mib)
			return seal(f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			from := memoryFile(t)
			if err := make(from); err != nil {
				t.Fatal(err)
			}
			to, err := os.Create(filepath.Join(t.TempDir(), "saved"))
			if err != nil {
				t.Fatal(err)
			}
			defer to.Close()
			if err := snapshot.Save(to, from, nil); err == nil {
				t.Error("it was saved")
			}
			if snapshot.CheckSavable(from) == nil {
				t.Error("it may wait to be saved")
			}
		})
	}
}

func fillWith(f *os.File, n int, seal func(*os.File) error) error {
	if _, err := f.Write(bytes.Repeat([]byte{1}, n)); err != nil {
		return err
	}
	return seal(f)
}

// FuzzOpenSaved opens files of any bytes. What is opened is as long as it says, and can be used.
func FuzzOpenSaved(f *testing.F) {
	const length = 64 << 10
	memory := make([]byte, length)
	memory[9000] = 1
	whole, err := os.ReadFile(saved(f, memory, "more"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[length:], uint8(1))
	f.Add([]byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, head []byte, pages uint8) {
		file := memoryFile(t)
		if _, err := file.WriteAt(append(slices.Clone(memory[:min(length, 9001)]), 0), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(head, int64(pages)*length); err != nil {
			t.Fatal(err)
		}
		image, about, err := snapshot.OpenSaved(file, snapshot.Config{Limit: 4 * length})
		if err != nil {
			return
		}
		defer image.Close()
		if image.Len() > 4*length || len(about) > len(head) {
			t.Errorf("an image of %d bytes, and %d beside it", image.Len(), len(about))
		}
		m := newMemory(t, image)
		defer release(t, m)
		e := instantiate(m)
		e.dirty(0, int(image.Len()), kernelPage)
		e.reset(t)
	})
}
