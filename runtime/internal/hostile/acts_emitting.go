package hostile

import (
	"math"

	"github.com/wasmres/wasmres/abi"
)

// emitting are acts that emit frames and bodies, whatever the host answers.
func emitting() []act {
	entry := (&abi.Reply{Resources: []abi.Resource{{URI: "x:e", Name: "e", Priority: math.NaN()}}}).Append(nil)
	completion := (&abi.Reply{Completions: []string{"c"}}).Append(nil)
	told := (&abi.Reply{Manifest: &abi.Manifest{Name: "other"}}).Append(nil)
	failure := (&abi.Reply{Error: &abi.GuestError{Message: string(times(64<<10, []byte{'e'}))}}).Append(nil)
	head := (&abi.Content{URI: "x:o", Kind: abi.KindBlob}).Append(nil)
	progress := times(16<<10, (&abi.Progress{}).Append(nil))
	full := either([]string{"too_many", "too_large"}, flooded)
	flood := func(name, why string, kind emission, frame []byte) act {
		return act{name: name, why: why, emits: kind, want: full, code: forever(emitted(frame)), prepare: withData(frame)}
	}
	protocol := func(name, why string, code []byte, data []byte) act {
		return act{name: name, why: why, emits: emitsFrames, want: []string{"protocol"}, code: code, prepare: withData(data)}
	}
	rare := func(t act) act { t.rare = true; return t }
	return []act{
		flood("contents", "contents without end", emitsContents, fine),
		rare(flood("entries", "entries of a list without end", emitsFrames, entry)),
		flood("entries-many", "a thousand entries in each frame, without end", emitsFrames, times(1000, entry)),
		rare(flood("completions", "completions without end", emitsFrames, completion)),
		rare(flood("errors", "errors of 64 KiB without end", emitsFrames, failure)),
		flood("progress", "thousands of reports of progress in each frame, without end", emitsFrames, progress),
		rare(flood("frames-empty", "frames without anything in them", emitsFrames, nil)),
		{name: "bodies", why: "bytes of a content without end", emits: emitsContents, want: full,
			code: cat(emitted(head), forever(ignore("body", num(0), num(64<<10)))), prepare: withData(head)},
		protocol("body-first", "bytes of no content", ignore("body", num(0), num(64)), nil),
		protocol("malformed", "a frame that lies about its length", emitted([]byte("\x1a\x7f\x0a")), []byte("\x1a\x7f\x0a")),
		protocol("oversized", "a frame of more than a frame may have", ignore("emit", num(0), num(2<<20)), nil),
		{name: "outside", why: "a frame that is not in memory", want: []string{"protocol"}, code: ignore("emit", num(-2), num(1<<20))},
		protocol("manifests", "two manifests", emitted(times(2, told)), times(2, told)),
	}
}

// emitted emits a frame that lies in an actor's own part of memory.
func emitted(frame []byte) []byte { return ignore("emit", num(actorArea), num(int64(len(frame)))) }
