package instance

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/internal/wasi"
)

// An ImageFile is a file for the image of a module. The caller may close it once the factory is open.
type ImageFile struct {
	File *os.File // nil for none
	// Saved says that the file has the image that an earlier factory has made of the same module, with the same limits and
	// configuration: see [snapshot.OpenSaved]. Otherwise it is empty and in memory, and gets the image.
	Saved bool
}

// prepareImage opens the saved image, or acquires what the image will take.
func (f *Factory) prepareImage(file *ImageFile) (err error) {
	if file.Saved {
		if err = f.openSaved(file.File); err == nil {
			return nil
		}
		if !f.Module.HasData() {
			return err // without the image, no instance can start
		}
		f.unsaved = err.Error()
	}
	if file.File == nil || file.Saved {
		f.reserve, err = snapshot.NewReserve()
		return err
	}
	f.saves = true
	f.reserve, err = snapshot.ReserveIn(file.File)
	return err
}

// noteState notes what belongs to an image in a new file.
func (f *Factory) noteState() {
	if f.saves {
		f.state = &guest.ImageState{Globals: f.globals, Monotonic: wasi.Real{}.Now(wasi.Monotonic)}
	}
}

// openSaved takes the image from a file. After an error the factory is as before.
func (f *Factory) openSaved(file *os.File) error {
	image, about, err := snapshot.OpenSaved(file, f.imageConfig())
	if err != nil {
		return err
	}
	if err := f.useSaved(about); err != nil {
		_ = image.Close() // the first error is what matters
		return fmt.Errorf("saved image: %w", err)
	}
	f.image = image
	return nil
}

// useSaved takes the state of a saved image.
func (f *Factory) useSaved(about []byte) error {
	var state guest.ImageState
	if err := json.Unmarshal(about, &state); err != nil {
		return err
	}
	if got, want := len(state.Globals), len(f.Module.Code.Globals); got != want {
		return fmt.Errorf("it has %d globals, and the module %d", got, want)
	}
	if !f.Packed() {
		manifest, err := abi.DecodeManifest(state.Manifest)
		if err != nil {
			return err
		}
		if err := f.SetManifest(manifest); err != nil {
			return err
		}
	}
	f.globals, f.started = state.Globals, state.Start
	wasi.Continue(state.Monotonic)
	return nil
}

// imageConfig returns the configuration of the image.
func (f *Factory) imageConfig() snapshot.Config {
	return snapshot.Config{Limit: f.memoryLimit(), Span: f.reservation(), Idle: f.Limits.Calls, Reserve: f.reserve}
}
