package stdio

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// sizeOf is how many bytes a pipe has room for.
func sizeOf(t *testing.T, f *os.File) int {
	t.Helper()
	size, err := unix.FcntlInt(f.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func TestOnlyLargeLinesGrowThePipe(t *testing.T) {
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := sizeOf(t, r)
	small, big := bytes.Repeat([]byte("s"), largeWrite-1), bytes.Repeat([]byte("0123456789"), largeWrite)
	read := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(r) // what is missing is noticed
		read <- all
	}()
	w := newWriter(out)
	if err := w.write(small, nil); err != nil {
		t.Fatal(err)
	}
	if got := sizeOf(t, r); got != before {
		t.Errorf("a small line has made it %d bytes, want %d as before", got, before)
	}
	if err := w.write(big, nil); err != nil {
		t.Fatal(err)
	}
	if got := sizeOf(t, r); got != pipeSize {
		t.Errorf("a large line has made it %d bytes, want %d", got, pipeSize)
	}
	w.close()
	<-w.ended
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := <-read, append(small, big...); !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, want %d, or others", len(got), len(want))
	}
}

func TestOnlyPipesAreGrown(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	closed, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	closed.Close()
	for name, out := range map[string]io.Writer{"file": file, "closed pipe": closed, "writer": io.Discard} {
		if got := growPipe(out); got != 0 {
			t.Errorf("%s: got %d", name, got)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestALargerPipeIsLeftAsItIs(t *testing.T) {
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer out.Close()
	if _, err := unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, 2*pipeSize); err != nil {
		t.Skipf("this user may not have so large a pipe: %v", err)
	}
	if got := growPipe(out); got != pipeSize/2 || sizeOf(t, r) != 2*pipeSize {
		t.Errorf("got %d at once, %d bytes of room", got, sizeOf(t, r))
	}
}
