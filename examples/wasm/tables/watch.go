package tables

import (
	"errors"
	"hash/fnv"
	"strconv"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// WatchEvery is how often rows that a client follows are read. A database sends no notice of changes.
const WatchEvery = 10 * time.Second

// Version returns what names the version of a resource for [wasmres.Route.Watch]: a sum of what read answers. A resource
// that is not there has none; it may come yet.
func Version(read func(*wasmres.Request) (string, error)) func(*wasmres.Request) (string, error) {
	return func(r *wasmres.Request) (string, error) {
		text, err := read(r)
		if errors.Is(err, wasmres.ErrNotFound) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		sum := fnv.New64a()
		_, _ = sum.Write([]byte(text))
		return strconv.FormatUint(sum.Sum64(), 36), nil
	}
}
