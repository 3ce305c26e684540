package snapshot_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

func TestProbeFindsAMethodAndSaysWhyNotAQuickerOne(t *testing.T) {
	best, reasons := snapshot.Probe()
	t.Logf("%v works here; %v", best, reasons)
	if at := slices.Index(everyMethod, best); at != len(reasons) {
		t.Errorf("%v has %d quicker methods, got %d reasons", best, at, len(reasons))
	}
	image := newImage(t, nil, snapshot.Config{})
	if got := image.Method(); got != best {
		t.Errorf("got %v, want the quickest, %v", got, best)
	}
}

func TestNewRefusesWhatCannotBeAnImage(t *testing.T) {
	for _, c := range []struct {
		name   string
		length int
		cfg    snapshot.Config
		want   []string
	}{
		{"length", 100, snapshot.Config{}, []string{"length of 100 bytes is not a multiple"}},
		{"limit", 0, snapshot.Config{Limit: 100}, []string{"limit of 100 bytes is not a multiple"}},
		{"huge limit", 0, snapshot.Config{Limit: 4<<30 + wasmPage}, []string{"limit of 4295032832 bytes"}},
		{"over the limit", 2 * wasmPage, snapshot.Config{Limit: wasmPage}, []string{"over the limit of 65536"}},
		{"all at once", 100, snapshot.Config{Limit: 1, Idle: -1, Method: 9}, []string{"length", "limit", "less than none", "method 9"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := snapshot.New(make([]byte, c.length), c.cfg)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		})
	}
}

func TestAnImageOfNothing(t *testing.T) {
	for name, limit := range map[string]int{"may not grow": 0, "may grow": mib} {
		t.Run(name, func(t *testing.T) {
			eachMethod(t, func(t *testing.T, method snapshot.Method) {
				m := newMemory(t, newImage(t, nil, snapshot.Config{Limit: uint64(limit), Method: method}))
				defer release(t, m)
				e := instantiate(m)
				if e.view == nil || len(e.view) != 0 {
					t.Errorf("got %d bytes, nil %v, want an empty memory", len(e.view), e.view == nil)
				}
				for range 2 {
					if got := e.grow(wasmPage); got != (limit > 0) {
						t.Errorf("growth: got %v", got)
					}
					e.dirty(0, len(e.view), 1)
					e.reset(t)
					checkRestored(t, e, nil, limit)
				}
			})
		})
	}
}

func TestAnImageIsACopy(t *testing.T) {
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		original := noise(mib)
		given := bytes.Clone(original)
		image := newImage(t, given, snapshot.Config{Method: method})
		clear(given)
		m, other := newMemory(t, image), newMemory(t, image)
		defer release(t, m)
		defer release(t, other)
		clear(m.Bytes())
		checkEqual(t, other.Bytes(), original)
	})
}

// A blank memory initialises itself and becomes an image, whose memories begin where it was.
func TestABlankMemoryBecomesAnImage(t *testing.T) {
	const limit = 4 * mib
	blank, err := snapshot.Blank(limit, 0)
	if err != nil {
		t.Fatal(err)
	}
	if blank.Reallocate(limit+wasmPage) != nil || !blank.GrowthRefused() {
		t.Error("growth over the limit was not refused")
	}
	view := blank.Reallocate(mib)
	checkEqual(t, view, make([]byte, mib))
	view = blank.Reallocate(2 * mib)
	copy(view, noise(2*mib))
	checkEqual(t, blank.Bytes(), noise(2*mib))
	if err := blank.Reset(func() error { return nil }); err == nil {
		t.Error("a memory without image was reset")
	}
	image, err := snapshot.NewOf(blank, snapshot.Config{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	blank.Free()
	release(t, blank)
	m := newMemory(t, image)
	defer release(t, m)
	if got := m.Reallocate(mib); uint64(len(got)) != image.Len() {
		t.Errorf("got %d bytes, want the image's %d", len(got), image.Len())
	}
	checkEqual(t, m.Bytes(), noise(2*mib))
	if _, err := snapshot.Blank(1, 0); err == nil {
		t.Error("a limit of 1 byte was accepted")
	}
}

// The image of a blank memory has what was written, however scattered that is, and zeros elsewhere.
func TestTheImageOfABlankMemoryIsWhatWasWritten(t *testing.T) {
	const length = 2 * mib
	scattered := make([]byte, length) // in more runs than one question to the kernel answers
	for at := kernelPage; at < length; at += 2 * kernelPage {
		scattered[at] = 1
	}
	last := make([]byte, length)
	last[length-1] = 1
	for name, want := range map[string][]byte{"nothing": make([]byte, length), "scattered": scattered, "holes": holes(length), "the last byte": last, "all": noise(length)} {
		t.Run(name, func(t *testing.T) {
			blank, err := snapshot.Blank(2*length, 0)
			if err != nil {
				t.Fatal(err)
			}
			view := blank.Reallocate(length)
			for at := 0; at < length; at += 5 * kernelPage {
				_ = view[at] // reading maps the kernel's page of zeros
			}
			for at, b := range want {
				if b != 0 {
					view[at] = b
				}
			}
			image, err := snapshot.NewOf(blank, snapshot.Config{Limit: 2 * length})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := image.Close(); err != nil {
					t.Error(err)
				}
			})
			release(t, blank)
			m := newMemory(t, image)
			defer release(t, m)
			checkEqual(t, m.Bytes(), want)
			again, err := snapshot.NewOf(m, snapshot.Config{Limit: 2 * length}) // of one that has an image
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			other := newMemory(t, again)
			defer release(t, other)
			checkEqual(t, other.Bytes(), want)
		})
	}
}

func TestReleasedMemoriesComeBackClean(t *testing.T) {
	if testing.Short() {
		t.Skip("it resets very often")
	}
	const length, limit = mib, 4 * mib
	original := holes(length)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		image := newImage(t, original, snapshot.Config{Limit: limit, Method: method, Idle: 2})
		for size := length; size <= limit; size += mib {
			var memories []*snapshot.Memory
			for range 4 { // two are recycled, two are new
				m := newMemory(t, image)
				memories = append(memories, m)
				e := instantiate(m)
				checkRestored(t, e, original, limit)
				mustGrow(t, e, size)
				fill(e.view, 0x5a)
				if m.Reallocate(limit+1) != nil {
					t.Error("growth over the limit was not refused")
				}
			}
			for _, m := range memories {
				m.Free()
				release(t, m)
			}
		}
		m := newMemory(t, image)
		defer release(t, m)
		if m.GrowthRefused() || m.PrivateBytes() != 0 {
			t.Errorf("a recycled memory knows the last one: refused %v, kept %d", m.GrowthRefused(), m.PrivateBytes())
		}
	})
}

func TestNothingIsDoneTwice(t *testing.T) {
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		image := newImage(t, noise(wasmPage), snapshot.Config{Limit: mib, Method: method})
		released, late := newMemory(t, image), newMemory(t, image)
		release(t, released)
		next := newMemory(t, image) // has the mapping of the one released
		for what, err := range map[string]error{
			"release": released.Release(), "reset": released.Reset(nil), "trim": released.Trim(),
		} {
			if !errors.Is(err, snapshot.ErrReleased) {
				t.Errorf("%s: got %v, want %v", what, err, snapshot.ErrReleased)
			}
		}
		if released.Reallocate(0) != nil || released.Bytes() != nil {
			t.Error("a released memory can be seen")
		}
		checkEqual(t, next.Bytes(), noise(wasmPage))
		release(t, next)

		if err := image.Close(); err == nil || !strings.Contains(err.Error(), "1 memories are not released") {
			t.Errorf("close: got %v, want a complaint", err)
		}
		if _, err := image.Memory(); !errors.Is(err, snapshot.ErrClosed) {
			t.Errorf("memory: got %v, want %v", err, snapshot.ErrClosed)
		}
		e := instantiate(late)
		clear(e.view)
		e.reset(t) // what lives on has its image
		checkEqual(t, e.view, noise(wasmPage))
		if err := late.Release(); !errors.Is(err, snapshot.ErrClosed) {
			t.Errorf("release: got %v, want %v", err, snapshot.ErrClosed)
		}
		if err := late.Release(); !errors.Is(err, snapshot.ErrReleased) {
			t.Errorf("second release: got %v, want %v", err, snapshot.ErrReleased)
		}
		if err := image.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
}

// Many goroutines share an image whose idle list is too short for them, while one of them closes it.
func TestAnImageIsSafeForConcurrentUse(t *testing.T) {
	const length, limit = 512 << 10, mib
	original := holes(length)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		image, err := snapshot.New(original, snapshot.Config{Limit: limit, Idle: 3, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		var workers sync.WaitGroup
		for worker := range 8 {
			workers.Go(func() {
				for turn := range cycles(30) {
					m, err := image.Memory()
					if errors.Is(err, snapshot.ErrClosed) {
						return
					}
					hammer(t, m, original, worker, turn)
					if worker == 0 && turn == 25 {
						_ = image.Close() // says that the others are at work
					}
					if err := m.Release(); err != nil && !errors.Is(err, snapshot.ErrClosed) {
						t.Error(err)
					}
				}
			})
		}
		workers.Wait()
		if err := image.Close(); err != nil {
			t.Error(err)
		}
	})
}

// hammer uses a memory as its only goroutine may. It finds what it wrote, and nothing else.
func hammer(t *testing.T, m *snapshot.Memory, original []byte, worker, turn int) {
	e := instantiate(m)
	for pass := range 3 {
		if !bytes.Equal(e.view, original) {
			t.Errorf("worker %d, turn %d, pass %d: not the image", worker, turn, pass)
			return
		}
		stride := kernelPage * (1 + (worker+turn)%7)
		for at := worker; at < len(e.view); at += stride {
			e.view[at] = byte(worker) + 1
		}
		if turn%3 == 0 {
			e.grow(len(original) + wasmPage)
			e.dirty(len(original), len(e.view), 1000)
		}
		for at := worker; at < len(original); at += stride {
			if e.view[at] != byte(worker)+1 {
				t.Errorf("worker %d, turn %d, pass %d: another one's byte", worker, turn, pass)
				return
			}
		}
		if err := m.Reset(e.shrink); err != nil {
			t.Error(err)
			return
		}
	}
}
