package hostile

import "github.com/wasmres/wasmres/abi"

// Looks are the host functions that look at bytes of the guest's memory, or write them, as many as it says.
func Looks() []string {
	return []string{"take", "emit", "body", "call", "log", "random_get", "fd_write", "poll_oneoff"}
}

// Look returns a provider whose read calls one of [Looks] with so many buffers of n bytes of zeros each: endlessly, or
// once. Functions that take one buffer are called for each.
func Look(function string, buffers, n int64, endless bool) []byte {
	act := look(function, buffers, n)
	if endless {
		act = forever(act)
	}
	p := actor{
		manifest: manifest,
		data:     [][]byte{active(actorArea, times(int(buffers), pair(buffersAt, n)))},
		acts: map[Phase][]byte{
			PhaseStart: cat(num((buffersAt+n)>>16+1), op(opMemoryGrow, 0), op(opDrop)),
			PhaseRead:  act,
		},
	}
	return p.module()
}

// buffersAt is where the buffer of a Look lies, behind all else.
const buffersAt = actorPages << 16

func look(function string, buffers, n int64) []byte {
	at, size := num(buffersAt), num(n)
	var one []byte
	switch function {
	case "take":
		one = ignore("take", num(0), at, num(0), size)
	case "emit", "body":
		one = ignore(function, at, size)
	case "call":
		one = ignore("call", num(int64(abi.ServiceConfig)), at, size)
	case "log":
		one = invoke("log", num(abi.LogError), at, size)
	case "random_get":
		one = ignore("random_get", at, size)
	case "fd_write":
		return ignore("fd_write", num(1), num(actorArea), num(buffers), num(0))
	case "poll_oneoff":
		one = ignore("poll_oneoff", at, num(0), num(n/48), num(0))
	}
	return times(int(buffers), one)
}

// pair is a place and a length, as in a vector of fd_write.
func pair(at, n int64) []byte {
	word := func(v int64) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)} }
	return cat(word(at), word(n))
}

// looks are the cases of [Look] in which there is most to look at.
func looks() []Case {
	attack := func(name, why, function string, buffers, n int64, want []string) Case {
		return Case{
			Name: name, Row: RowCalls, Why: why, Op: abi.OpRead, URI: "x:a", Memory: 2 * big, Want: want, After: "x:o",
			Modules: func() [][]byte { return [][]byte{Look(function, buffers, n, true)} },
		}
	}
	progress := attack("look-progress", "524,288 reports of progress in one frame, each of which is told the parent", "", 0, 0, []string{"host_calls"})
	progress.Modules = func() [][]byte {
		frame := times(1<<19, (&abi.Progress{}).Append(nil))
		p := actor{manifest: manifest, data: [][]byte{active(actorArea, frame)}, acts: map[Phase][]byte{PhaseRead: forever(emitted(frame))}}
		return [][]byte{p.module()}
	}
	return []Case{
		progress,
		attack("look-write", "2 GiB in one call: 31 buffers of 64 MiB", "fd_write", 31, big, flooded),
		attack("look-write-small", "1,024 buffers in each call", "fd_write", 1024, 1<<10, flooded),
		attack("look-log", "texts of 64 MiB", "log", 1, big, flooded),
		attack("look-call", "requests of a MiB, all of which are refused", "call", 1, 1<<20, flooded),
		attack("look-body", "64 MiB of a content that has not begun", "body", 1, big, either([]string{"protocol"}, flooded)),
		attack("look-emit", "a MiB of zeros, which is no message", "emit", 1, 1<<20, either([]string{"protocol"}, flooded)),
		attack("look-take", "the request, into a place of 64 MiB", "take", 1, big, flooded),
		attack("look-random", "64 KiB of random numbers", "random_get", 1, 64<<10, flooded),
		attack("look-poll", "64 subscriptions, all of which are ready", "poll_oneoff", 1, 64*48, flooded),
	}
}
