package project

import (
	"errors"
	"os"

	guestsdk "github.com/wasmres/wasmres/guest-sdk"
	"github.com/wasmres/wasmres/runtime/preinit"
)

// prepare has an engine compile the scripts of a pack, and writes the module that begins with what this leaves.
func prepare(b *builder, engine guestsdk.Engine, pack []byte) error {
	module, err := preinit.Run(b.ctx, engine.Module, preinit.Function{Export: engine.Entry, Input: pack}, b.cache)
	var refused *preinit.Failure
	if errors.As(err, &refused) {
		return &Failed{Command: engine.Version, Output: refused.Message + "\n", Err: errors.New("the sources do not compile")}
	}
	if err != nil {
		return err
	}
	return os.WriteFile(b.module, module, 0o600)
}
