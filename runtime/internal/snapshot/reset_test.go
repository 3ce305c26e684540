package snapshot_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// guests are what may happen to a memory that can grow by 2 MiB.
var guests = map[string]func(t *testing.T, e *fakeEngine, length int){
	"writes nothing":       func(*testing.T, *fakeEngine, int) {},
	"reads everything":     func(_ *testing.T, e *fakeEngine, _ int) { bytes.Count(e.view, []byte{1}) },
	"writes 1 byte":        func(_ *testing.T, e *fakeEngine, _ int) { e.dirty(12345, 12346, 1) },
	"writes the last byte": func(_ *testing.T, e *fakeEngine, length int) { e.dirty(length-1, length, 1) },
	"writes 30 pages":      func(_ *testing.T, e *fakeEngine, _ int) { e.dirty(7, 30*8*kernelPage, 8*kernelPage) },
	"writes 64 pages":      func(_ *testing.T, e *fakeEngine, _ int) { e.dirty(0, 64*kernelPage, kernelPage) },
	"writes 65 pages":      func(_ *testing.T, e *fakeEngine, _ int) { e.dirty(0, 65*kernelPage, kernelPage) },
	"writes fragments":     func(_ *testing.T, e *fakeEngine, length int) { e.dirty(kernelPage, length, 2*kernelPage) },
	"writes everything":    func(_ *testing.T, e *fakeEngine, _ int) { fill(e.view, 0x5a) },
	"grows and writes nothing": func(t *testing.T, e *fakeEngine, length int) {
		mustGrow(t, e, length+wasmPage)
	},
	"grows a little": func(t *testing.T, e *fakeEngine, length int) {
		mustGrow(t, e, length+wasmPage)
		fill(e.view[length-wasmPage:], 0x5a)
	},
	"grows, tail in fragments": func(t *testing.T, e *fakeEngine, length int) {
		mustGrow(t, e, length+2*mib)
		e.dirty(length, length+2*mib, 3*kernelPage)
	},
	"grows and only reads": func(t *testing.T, e *fakeEngine, length int) {
		mustGrow(t, e, length+2*mib)
		bytes.Count(e.view, []byte{1})
	},
	"grows to the limit and fills it": func(t *testing.T, e *fakeEngine, length int) {
		mustGrow(t, e, length+2*mib)
		fill(e.view, 0x5a)
	},
	"grows in steps": func(t *testing.T, e *fakeEngine, length int) {
		for size := length; size <= length+2*mib; size += 5 * wasmPage {
			mustGrow(t, e, size)
			e.dirty(size-wasmPage, size, 100)
		}
	},
	"is refused growth": func(t *testing.T, e *fakeEngine, length int) {
		if e.grow(length+2*mib+wasmPage) || !e.memory.GrowthRefused() {
			t.Error("growth over the limit was not refused")
		}
		e.dirty(0, 10*kernelPage, 10)
	},
}

func TestResetRestoresEveryByte(t *testing.T) {
	if testing.Short() {
		t.Skip("it resets very often")
	}
	images := map[string][]byte{
		"noise": noise(mib),
		"zeros": make([]byte, mib),
		"holes": holes(mib),
	}
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		for name, original := range images {
			t.Run(name, func(t *testing.T) {
				limit := len(original) + 2*mib
				m := newMemory(t, newImage(t, original, snapshot.Config{Limit: uint64(limit), Method: method}))
				defer release(t, m)
				e := instantiate(m)
				checkEqual(t, e.view, original)
				for name, guest := range guests {
					t.Run(name, func(t *testing.T) {
						for _, watched := range []bool{false, false, true, true} { // each meets the private pages of those before
							if watched {
								m.BeginTracking()
							}
							guest(t, e, len(original))
							m.EndTracking()
							e.reset(t)
							if m.GrowthRefused() {
								t.Error("a refusal outlived the reset")
							}
							checkEqual(t, e.view, original)
						}
						checkRestored(t, e, original, limit)
					})
				}
			})
		}
	})
}

// 2,048 runs of pages are 32 times what the buffer of Scan holds.
func TestResetFindsEveryFragment(t *testing.T) {
	if testing.Short() {
		t.Skip("it resets very often")
	}
	const length, limit = 2 * 2048 * kernelPage, 2 * 2 * 2048 * kernelPage
	original := holes(length)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		m := newMemory(t, newImage(t, original, snapshot.Config{Limit: limit, Method: method}))
		defer release(t, m)
		e := instantiate(m)
		mustGrow(t, e, limit)
		e.dirty(kernelPage, limit, 2*kernelPage)
		e.reset(t)
		checkRestored(t, e, original, limit)
	})
}

func mustGrow(t testing.TB, e *fakeEngine, size int) {
	t.Helper()
	if !e.grow(size) {
		t.Fatalf("cannot grow to %d bytes", size)
	}
}

// A guest writes, grows and is reset at random; a plain slice is the model.
func TestResetHoldsForAnyGuest(t *testing.T) {
	const length, limit = mib, 4 * mib
	original := holes(length)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		r := rand.New(rand.NewPCG(20, uint64(method)))
		m := newMemory(t, newImage(t, original, snapshot.Config{Limit: limit, Method: method}))
		defer release(t, m)
		e := instantiate(m)
		model := bytes.Clone(original)
		for range cycles(70) {
			if r.IntN(4) > 0 {
				m.BeginTracking()
			}
			for range r.IntN(6) {
				model = step(t, r, e, model, limit)
			}
			if r.IntN(10) == 0 {
				m.StopTracking()
			}
			m.EndTracking()
			checkEqual(t, e.view, model)
			if r.IntN(10) == 0 {
				trimAfterReset(t, e)
			} else {
				e.reset(t)
			}
			model = append(model[:0], original...)
			checkEqual(t, e.view, model)
			if kept := m.PrivateBytes(); method != snapshot.Copy && kept > 1536<<10 {
				t.Fatalf("%d bytes are kept, want at most 1.5 MiB", kept)
			}
		}
	})
}

func trimAfterReset(t *testing.T, e *fakeEngine) {
	t.Helper()
	e.reset(t)
	if err := e.memory.Trim(); err != nil {
		t.Fatal(err)
	}
}

// step does one random thing to the guest's memory and the model alike, and gives the model.
func step(t *testing.T, r *rand.Rand, e *fakeEngine, model []byte, limit int) []byte {
	t.Helper()
	switch at := r.IntN(len(model)); r.IntN(4) {
	case 0: // a run of bytes, at times a long one
		n := min(r.IntN(1<<(4+r.IntN(17))), len(model)-at)
		value := byte(r.Uint32())
		fill(e.view[at:at+n], value)
		fill(model[at:at+n], value)
	case 1: // fragments
		stride := kernelPage * (1 + r.IntN(20))
		for i := at; i < len(model); i += stride {
			e.view[i]++
			model[i]++
		}
	case 2: // growth, at times too much
		size := len(model) + wasmPage*r.IntN(1+limit/wasmPage/4)
		if got, want := e.grow(size), size <= limit; got != want {
			t.Fatalf("growth to %d bytes: got %v, want %v", size, got, want)
		} else if want {
			model = append(model, make([]byte, size-len(model))...)
		}
	case 3: // reading
		if bytes.Count(e.view[at:], []byte{7}) != bytes.Count(model[at:], []byte{7}) {
			t.Fatal("memory and model differ")
		}
	}
	return model
}

// cycles is how often to repeat: less in a short run.
func cycles(n int) int {
	if testing.Short() {
		return max(n/10, 2)
	}
	return n
}

func TestAnErrorLeavesTheMemoryUnusable(t *testing.T) {
	reason := errors.New("no")
	for name, shrink := range map[string]func() error{
		"no shrink":           nil,
		"shrink fails":        func() error { return reason },
		"shrink asks nothing": func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t, newImage(t, noise(wasmPage), snapshot.Config{Limit: mib}))
			e := instantiate(m)
			mustGrow(t, e, 2*wasmPage)
			if err := m.Reset(shrink); err == nil || !strings.Contains(err.Error(), "unusable") {
				t.Errorf("got %v, want an error", err)
			}
			if err := m.Reset(e.shrink); err == nil || !strings.Contains(err.Error(), "unusable") {
				t.Errorf("second reset: got %v, want an error", err)
			}
			if err := m.Trim(); err == nil {
				t.Error("trim: got no error")
			}
			if m.Reallocate(wasmPage) != nil {
				t.Error("memory is given after a failed reset")
			}
			release(t, m)
		})
	}
}

func TestAPanicOfTheEngineLeavesTheMemoryUnusable(t *testing.T) {
	m := newMemory(t, newImage(t, noise(wasmPage), snapshot.Config{Limit: mib}))
	defer release(t, m)
	e := instantiate(m)
	mustGrow(t, e, 2*wasmPage)
	func() {
		defer func() { _ = recover() }()
		_ = m.Reset(func() error { panic("engine") })
	}()
	if err := m.Reset(e.shrink); err == nil {
		t.Error("got no error")
	}
}

func TestResetDoesNotAllocate(t *testing.T) {
	const length = 4 * mib
	original := noise(length)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		m := newMemory(t, newImage(t, original, snapshot.Config{Limit: 2 * length, Method: method}))
		defer release(t, m)
		e := instantiate(m)
		shrink := e.shrink
		got := testing.AllocsPerRun(20, func() {
			mustGrow(t, e, length+wasmPage)
			e.dirty(0, length, 100*kernelPage)
			if err := m.Reset(shrink); err != nil {
				t.Fatal(err)
			}
			m.BeginTracking()
			e.dirty(0, length, 100*kernelPage)
			m.EndTracking()
			if err := m.Reset(shrink); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("%v allocations", got)
		}
	})
}

func TestTrimKeepsNothing(t *testing.T) {
	const length = mib
	original := noise(length)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		m := newMemory(t, newImage(t, original, snapshot.Config{Limit: 2 * length, Method: method}))
		defer release(t, m)
		e := instantiate(m)
		mustGrow(t, e, 2*length)
		if err := m.Trim(); err == nil {
			t.Error("a memory that was not reset was trimmed")
		}
		e.dirty(0, 20*kernelPage, kernelPage)
		e.dirty(length, 2*length, kernelPage)
		e.reset(t)
		const written = length + 20*kernelPage
		want := map[snapshot.Method]uint64{snapshot.Watch: written, snapshot.Scan: written, snapshot.Pagemap: written, snapshot.Copy: 2 * length}
		if got := m.PrivateBytes(); got != want[method] {
			t.Errorf("after a reset %d bytes are kept, want %d", got, want[method])
		}
		if err := m.Trim(); err != nil {
			t.Fatal(err)
		}
		if got := m.PrivateBytes(); got != 0 && method != snapshot.Copy {
			t.Errorf("after a trim %d bytes are kept", got)
		}
		checkRestored(t, e, original, 2*length)
	})
}
