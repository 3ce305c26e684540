package provider

import (
	"encoding/json"
	"hash/maphash"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/limits"
)

// maxWitnessed bounds Ending.Content.
const maxWitnessed = 64 << 10

var witnessSeed = maphash.MakeSeed()

// A witness is a sink that passes contents on, and notes what they are.
type witness struct {
	to    abi.Sink // nil refuses contents
	hash  maphash.Hash
	begin []byte
}

func newWitness(to abi.Sink) *witness {
	w := &witness{to: to}
	w.hash.SetSeed(witnessSeed)
	return w
}

// sink returns w, or other if w is nil. It is nil where w passes contents to none.
func (w *witness) sink(other abi.Sink) abi.Sink {
	if w == nil || w.to == nil {
		return other
	}
	return w
}

// Unwrap returns the sink that gets the contents.
func (w *witness) Unwrap() abi.Sink { return w.to }

// Content implements [abi.Sink]. What is inline is passed to Body again.
func (w *witness) Content(c *abi.Content) error {
	head := *c
	head.Inline = nil
	w.note(head.Append([]byte("\n")))
	return w.to.Content(c)
}

// Body implements [abi.Sink].
func (w *witness) Body(p []byte) error {
	w.note(p)
	return w.to.Body(p)
}

// Progress implements [abi.Sink].
func (w *witness) Progress(p abi.Progress) { w.to.Progress(p) }

func (w *witness) note(p []byte) {
	w.hash.Write(p) // never fails
	w.begin = append(w.begin, p[:min(len(p), maxWitnessed-len(w.begin))]...)
}

// ending returns how the run ended of which w is the witness.
func (w *witness) ending(reply *abi.Reply, used limits.Usage, err error) Ending {
	e := Ending{Used: used, Err: err, Content: w.begin, digest: w.hash.Sum64()}
	if err == nil {
		e.Reply, _ = json.Marshal(reply) // of text and numbers alone
	}
	return e
}
