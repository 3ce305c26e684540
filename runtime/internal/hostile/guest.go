package hostile

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// reading makes cases that read from one module of the folder modules, by the last letter of the URI.
type reading struct {
	row    Row
	module string
}

func (r reading) attack(name, letter string, want []string, why string) Case {
	return Case{
		Name: name, Row: r.row, Why: why, Modules: file(r.module), Op: abi.OpRead, URI: "x:" + letter, Want: want, After: "x:o",
	}
}

func wasiAbuse() []Case {
	w := reading{RowWASI, "wasi.wasm"}
	return []Case{
		w.attack("poll-hour", "a", stopped, "a sleep that no deadline ends"),
		w.attack("poll-endless", "d", stopped, "a sleep until 2554"),
		w.attack("poll-often", "b", flooded, "a host call that takes no time, for ever"),
		w.attack("poll-many", "c", answered, "48 bytes for each of 2^32 subscriptions, a product that overflows"),
		w.attack("random-much", "e", answered, "64 MiB of randomness take 250 ms that nothing interrupts"),
		w.attack("random-often", "f", flooded, "64 KiB of randomness, for ever"),
		w.attack("write-vectors", "g", answered, "a million buffers, and counts whose product overflows"),
		w.attack("write-flood", "h", flooded, "128 MiB of output with each call, for ever"),
		w.attack("write-forged", "i", answered, "a reply forged on the host's standard output"),
		w.attack("write-line", "j", flooded, "a line that never ends is kept until it does"),
		w.attack("write-pointers", "s", answered, "buffers and results that are not in memory"),
		w.attack("exit-0", "k", exited, "an exit that looks like success"),
		w.attack("exit-deadline", "l", exited, "a status that the engine takes for its own deadline"),
		w.attack("exit-cancelled", "m", exited, "a status that the engine takes for a cancellation"),
		w.attack("yield-often", "q", flooded, "a host call that takes no time, for ever"),
		w.attack("clock-often", "r", flooded, "a host call that takes no time, for ever"),
		w.attack("environment", "t", answered, "the environment and arguments of the host"),
	}
}

func files() []Case {
	w := reading{RowFiles, "wasi.wasm"}
	return []Case{
		w.attack("read-stdin", "n", answered, "a read of the pipe the client talks through blocks, or eats a request"),
		w.attack("open-files", "p", answered, "paths, links and sockets that are not granted"),
		reading{RowFiles, "abi.wasm"}.attack("services", "j", answered, "services that are not granted or do not exist"),
	}
}

func floods() []Case {
	a := reading{RowCalls, "abi.wasm"}
	return []Case{
		a.attack("emit-flood", "a", either([]string{"too_many"}, flooded), "contents without end, in spite of what the host says"),
		a.attack("emit-empty", "x", flooded, "empty frames without end"),
		a.attack("emit-malformed", "C", either([]string{"protocol"}, flooded), "a MiB that is malformed, over and over"),
		a.attack("body-flood", "b", either([]string{"too_large"}, flooded), "bytes without end, in spite of what the host says"),
		a.attack("progress-flood", "A", either([]string{"too_many", "too_large"}, flooded), "reports of progress without end"),
		a.attack("log-flood", "f", flooded, "lines without end"),
		a.attack("log-large", "g", either(answered, flooded), "a thousand texts of 1.3 MB"),
		a.attack("log-control", "y", answered, "texts that clear the terminal of who reads the log"),
		a.attack("service-flood", "h", flooded, "refused services, each of which leaves a line in the log"),
		a.attack("notice-flood", "u", flooded, "notices without end, each of which wakes every watcher"),
		a.attack("info-flood", "p", flooded, "numbers without end"),
		{
			Name: "indirect-flood", Row: RowCalls, Why: "a host function in the guest's table, called past the code that checks calls",
			Modules: one(func() shape {
				call := cat(num(1), num(0), op(opCallIndirect, typeInfo, 0), op(opDrop))
				return shape{
					tables: [][]byte{{funcref, 0, 1}}, elements: [][]byte{cat([]byte{0}, num(0), op(opEnd), vec(u(funcInfo)))},
					call: cat([]byte{opLoop, empty}, call, op(opBr, 0), op(opEnd)),
				}
			}),
			Op: abi.OpRead, URI: "x:a", Want: flooded, After: "x:o",
		},
		a.attack("take-flood", "B", flooded, "the request, over and over"),
	}
}

func state() []Case {
	s := reading{RowState, "state.wasm"}
	attack := func(name, letter string, want []string, why string) Case {
		c := s.attack(name, letter, want, why)
		c.Times, c.Timeout = 6, time.Second // it looks at a lot of memory
		return c
	}
	grown := attack("state-grown", "g", answered, "memory that has grown stays, with what was in it")
	grown.Times = 20
	late := attack("state-deadline", "q", stopped, "all of it, then a loop without end")
	late.Timeout = Timeout
	crowd := attack("state-crowd", "a", answered, "calls at the same time see each other")
	crowd.Parallel, crowd.Timeout = 8, 4*time.Second // they share the processors
	return []Case{
		attack("state-everything", "a", answered, "an honest end keeps all of it"),
		attack("state-memory", "b", answered, "memory"),
		attack("state-globals", "c", answered, "globals"),
		attack("state-vector", "d", answered, "a vector global, whose upper half no interface of the engine sets"),
		attack("state-vector-half", "e", answered, "the upper half only"),
		attack("state-reference", "f", answered, "a global that is a reference"),
		grown,
		attack("state-table", "h", answered, "entries of a table, which no interface of the engine sets"),
		attack("state-table-grown", "i", answered, "a table that has grown"),
		attack("state-data-dropped", "j", answered, "a data segment that is gone"),
		attack("state-elements-dropped", "k", answered, "an element segment that is gone"),
		attack("state-line", "l", answered, "half a line of output, which the next call would complete"),
		attack("state-trap", "p", trapped, "all of it, then a trap"),
		late,
		attack("state-exit", "r", exited, "all of it, then an exit"),
		attack("state-failure", "s", []string{"internal"}, "all of it, then a failure of its own"),
		attack("state-overflow", "t", overflow, "all of it, then recursion without end"),
		attack("state-protocol", "u", []string{"protocol"}, "all of it, then a malformed frame"),
		attack("state-pointer", "v", []string{"protocol"}, "all of it, then a pointer out of range"),
		attack("state-memory-limit", "w", exhausted, "all of it, then more memory than there is"),
		crowd,
	}
}

func held() []Case {
	l := reading{RowHeld, "loops.wasm"}
	loop := func(name, letter, why string) Case {
		c := l.attack(name, letter, stopped, why)
		c.Memory = big
		return c
	}
	m := reading{RowHeld, "memory.wasm"}
	early := func(name, file, why string) Case {
		c := Case{Name: name, Row: RowHeld, Why: why, Modules: asking(file), Op: abi.OpRead, URI: "x:o", Want: stopped}
		return c
	}
	const outside = "an access out of memory"
	return []Case{
		loop("loop-empty", "a", "a loop with nothing in it"),
		loop("loop-br_table", "b", "a loop whose way back is a table"),
		loop("loop-nested", "c", "loops that end, in one that does not"),
		loop("loop-counted", "d", "a loop of 2^64 turns"),
		loop("loop-calls", "e", "a loop that calls"),
		loop("loop-indirect", "f", "a loop that calls through a table"),
		loop("loop-dear", "i", "a loop of dear instructions"),
		loop("loop-else", "j", "a loop whose ways back are in a condition"),
		loop("loop-param", "k", "a loop with a parameter"),
		loop("loop-memory", "l", "a loop through all of memory"),
		early("loop-start", "loop-start.wasm", "a loop before the module is ready"),
		early("loop-initialize", "loop-initialize.wasm", "a loop before the module is ready"),
		early("loop-describe", "loop-describe.wasm", "a loop while the module is asked what it is"),
		m.attack("grow", "a", exhausted, "memory that grows until it may not"),
		m.attack("grow-touch", "b", either(exhausted, stopped), "all memory there is, and all of it used"),
		m.attack("grow-endless", "c", either(stopped, exhausted), "memory that is asked for without end"),
		m.attack("grow-everything", "d", answered, "4 GiB at once"),
		m.attack("grow-use", "e", either(answered, stopped), "all memory there is, within the limit"),
		m.attack("grow-host", "k", answered, "the host has a view of memory that is no more"),
		m.attack("store-outside", "f", trapped, outside),
		m.attack("load-outside", "g", trapped, outside),
		m.attack("fill-outside", "h", trapped, outside),
		m.attack("copy-outside", "i", trapped, outside),
		m.attack("vector-outside", "j", trapped, outside),
		m.attack("divide-by-zero", "l", trapped, "a signal of the processor"),
		m.attack("divide-overflow", "m", trapped, "a signal of the processor"),
		m.attack("truncate-nan", "n", trapped, "a number that is none"),
		m.attack("unreachable", "p", trapped, "a trap"),
		{
			Name: "memory-minimum", Row: RowHeld, Why: "a module that begins with more memory than it may have", Want: either(exhausted, excessive),
			Modules: shapes(
				func() shape { return shape{memory: cat([]byte{0}, u(257))} },
				func() shape { return shape{memory: cat([]byte{1}, u(257), u(65536))} },
				func() shape { return shape{memory: cat([]byte{0}, u(65536))} },
			),
		},
	}
}
