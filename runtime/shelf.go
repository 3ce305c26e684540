package runtime

import (
	"crypto/sha256"
	"fmt"
)

// A Shelf keeps prepared modules from one run of this very program to the next: preparing one again takes a hundred
// times as long. What it gives is believed as is. It must be safe for concurrent use.
type Shelf interface {
	// Find gives what was kept under the key, by a program that is the same to the last byte; nil when that is nothing,
	// or is damaged.
	Find(key [sha256.Size]byte) []byte
	// Keep keeps something under the key, in place of what was there. It may fail to.
	Keep(key [sha256.Size]byte, text []byte)
}

// key names what becomes of a module under all of cfg that decides on that.
func (cfg *Config) key(digest [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%x %+v %d %d", digest, cfg.Admission, cfg.Limits.Table, cfg.Limits.Pages()))
}
