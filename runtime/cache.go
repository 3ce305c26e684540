package runtime

import (
	"time"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
)

// A CachedModule is one entry of a directory of compiled modules.
type CachedModule struct {
	Digest string    `json:"digest"` // of the module, or of what a prepared module was made of
	Kind   string    `json:"kind"`   // compiled, prepared or refused
	Bytes  int64     `json:"bytes"`
	Used   time.Time `json:"used"` // when it was made, or was last taken from the folder
}

// CachedModules returns the entries of a directory of compiled modules, the least recently used first. A directory that
// does not exist has none. A directory to which other users can write is an error.
func CachedModules(dir string) ([]CachedModule, error) {
	all, err := compiler.List(dir)
	return cachedModules(all), err
}

// CleanCache removes the least recently used modules from a directory until it has at most max bytes, and returns them.
func CleanCache(dir string, max int64) (removed []CachedModule, err error) {
	all, err := compiler.Clean(dir, max)
	return cachedModules(all), err
}

func cachedModules(all []compiler.Cached) []CachedModule {
	var out []CachedModule
	for _, one := range all {
		out = append(out, CachedModule(one))
	}
	return out
}
