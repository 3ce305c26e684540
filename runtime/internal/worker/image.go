package worker

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// An ImageStore keeps the images of one owner's modules from one worker to the next. It is safe for concurrent use.
type ImageStore interface {
	// Open opens the image that Put has stored under the key. The error is [fs.ErrNotExist] if there is none. The caller closes
	// the file.
	Open(key [sha256.Size]byte) (*os.File, error)
	// Put stores the image that write writes into an empty file.
	Put(key [sha256.Size]byte, write func(*os.File) error) error
	// Remove removes an image. It is no error if there is none.
	Remove(key [sha256.Size]byte) error
}

// An image is what a worker that starts gets for its image.
type image struct {
	kind    protocol.ImageFile
	file    *os.File // nil for NoImage
	key     [sha256.Size]byte
	unsaved string // why it is not a saved one; empty if it is, or no images are saved
}

func (i *image) close() {
	if i.file != nil {
		_ = i.file.Close() // it is only read, or in memory
	}
}

// imageKey returns the key of the image: it depends on all that the worker is told and that the image can depend on. The
// number of threads and processors is no part of it, nor is what only the worker's own code sees.
func (g *guests) imageKey() (key [sha256.Size]byte, err error) {
	request := *g.startRequest()
	request.Processors, request.LogLevel = 0, 0
	text, err := json.Marshal(request)
	if err != nil {
		return key, err
	}
	return sha256.Sum256(append(text, g.host.Module.Digest...)), nil
}

// openImage returns the saved image, or a new file for one if there is none.
func (g *guests) openImage() *image {
	switch reset, _ := snapshot.Probe(); {
	case g.images == nil:
		return &image{unsaved: g.noImages}
	case reset == snapshot.Copy:
		return &image{unsaved: "memories are copied on this machine, and not mapped"}
	case g.host.Clock != nil:
		return &image{unsaved: "the provider has the clock and the random numbers of a recording"}
	}
	key, err := g.imageKey()
	if err != nil {
		return &image{unsaved: err.Error()}
	}
	f, err := g.images.Open(key)
	if err == nil {
		return &image{kind: protocol.SavedImage, file: f, key: key}
	}
	why := "there was no saved image"
	if !errors.Is(err, fs.ErrNotExist) {
		g.runner.cfg.Logger.Warn("saved image not opened, so the guest starts", "err", err)
		why = err.Error()
	}
	return newImage(key, why)
}

// newImage returns a file for an image, which is not there for a reason.
func newImage(key [sha256.Size]byte, why string) *image {
	f, err := protocol.NewImageFile()
	if err != nil {
		return &image{unsaved: err.Error()}
	}
	return &image{kind: protocol.NewImage, file: f, key: key, unsaved: why}
}

// dropImage removes a saved image that may be what a worker has failed by.
func (g *guests) dropImage(i *image, err error) {
	g.runner.cfg.Logger.Warn("saved image removed", "err", errors.Join(err, g.images.Remove(i.key)))
}

// noteImage follows the start of a worker with an image. It returns why the guest was started, as unsaved.
func (g *guests) noteImage(i *image, w *worker) (unsaved string) {
	g.memory.setImage(nil)
	switch {
	case i.kind == protocol.NewImage:
		g.memory.setImage(i.file)
		g.saveImage(i, w.ready.State, w.ready.Manifest, w.ready.Asked)
	case i.kind == protocol.SavedImage && w.ready.Unsaved != "":
		g.dropImage(i, errors.New(w.ready.Unsaved))
		return w.ready.Unsaved
	case i.kind == protocol.SavedImage:
		w.image = i
	}
	return i.unsaved
}

// maxSaves is how many images are saved or wait for that at once: each is in memory that nothing else counts, up to 32 MiB.
const maxSaves = 8

// saveImage has a new image saved in the background, if the next worker may start from it. No call has run yet, so that the
// image depends on the module and on what the worker was told, and not on any client: the file must be sealed by now. An image
// that depends on the answer of a service is not saved, since the answer may change, and may be secret. While the disk is slow, some
// images are not saved: the next worker of the provider makes another one.
func (g *guests) saveImage(i *image, state *guest.ImageState, manifest []byte, asked bool) {
	if err := checkStart(state, asked); err != nil {
		g.runner.cfg.Logger.Debug("image not saved", "err", err)
		return
	}
	if err := snapshot.CheckSavable(i.file); err != nil {
		g.warnUnsaved(err)
		return
	}
	if err := g.enterSaves(); err != nil {
		g.runner.cfg.Logger.Debug("image not saved", "err", err)
		return
	}
	file := i.file
	i.file = nil // it is closed below
	saved := *state
	saved.Start, saved.Manifest = g.Info().Start, manifest
	isTurn := g.runner.saves.tryEnter()
	g.saving.Go(func() {
		defer g.leaveSaves()
		defer file.Close()
		if !isTurn && !g.runner.saves.enter(g.life) {
			return
		}
		defer g.runner.saves.leave()
		if err := g.putImage(i.key, file, &saved); err != nil {
			g.warnUnsaved(err)
		}
	})
}

func (g *guests) warnUnsaved(err error) {
	g.runner.cfg.Logger.Warn("image not saved, so the next worker starts its guest", "err", err)
}

// checkStart returns an error if the start of a guest makes no image that is saved.
func checkStart(state *guest.ImageState, asked bool) error {
	switch {
	case state == nil:
		return errors.New("there is no image")
	case asked:
		return errors.New("the guest has called a service while it started")
	}
	return nil
}

// enterSaves returns an error unless one more image may be saved or wait for that. After it, the caller calls leaveSaves.
func (g *guests) enterSaves() error {
	if !g.isSaving.CompareAndSwap(false, true) {
		return errors.New("an earlier image of the provider is being saved")
	}
	if !g.runner.saving.tryEnter() {
		g.isSaving.Store(false)
		return errors.New("many other images are being saved")
	}
	return nil
}

func (g *guests) leaveSaves() {
	g.runner.saving.leave()
	g.isSaving.Store(false)
}

func (g *guests) putImage(key [sha256.Size]byte, file *os.File, state *guest.ImageState) error {
	about, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("save image: %w", err)
	}
	return g.images.Put(key, func(to *os.File) error { return snapshot.Save(to, file, about) })
}

// A slot is for so many goroutines at a time as newSlot is told.
type slot chan struct{}

func newSlot(most int) slot { return make(slot, most) }

// tryEnter enters the slot if there is room.
func (s slot) tryEnter() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// enter waits for the slot. It returns false if ctx has ended.
func (s slot) enter(ctx context.Context) bool {
	select {
	case s <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave leaves the slot.
func (s slot) leave() { <-s }
