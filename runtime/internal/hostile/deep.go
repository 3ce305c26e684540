package hostile

import (
	"github.com/wasmres/wasmres/abi"
)

// fat calls itself for ever with n locals of a type, all of which live over the call.
func fat(n int, t byte, constant []byte) func() shape {
	var set, use []byte
	for i := range n {
		set = append(set, cat(constant, op(opLocalSet, uint64(i)))...)
		use = append(use, cat(op(opLocalGet, uint64(i)), op(opDrop))...)
	}
	return func() shape {
		return shape{
			funcs: []function{{typeVoid, body(locals(n, t), set, op(opCall, firstFunc), use)}},
			call:  op(opCall, firstFunc),
		}
	}
}

func stack() []Case {
	attack := func(name, why, uri string) Case {
		return Case{
			Name: name, Row: RowStack, Why: why, Modules: file("recursion.wasm"), Op: abi.OpRead, URI: uri, Want: overflow, After: "x:o",
		}
	}
	of := func(c Case, p func() shape) Case {
		c.Modules = one(p)
		return c
	}
	most := of(attack("recursion-locals-most", "each frame has 2,000 live locals", "x:a"), fat(2000, i64, []byte{0x42, 7}))
	most.Compile = patientCompile
	crowd := attack("recursion-crowd", "150 MB of stack for each of 16 calls", "x:a")
	crowd.Parallel, crowd.Times, crowd.Want = 16, 2, either(overflow, stopped) // they share the processors
	again := attack("recursion-again", "an instance keeps the stack it once had", "x:a")
	again.Times = 8
	ever := attack("recursion-start", "before the module is ready", "x:a")
	ever.After = ""
	selfCall := []function{{typeVoid, body(nil, op(opCall, firstFunc), op(opCall, firstFunc))}}
	initialize := ever
	initialize.Name = "recursion-initialize"
	ok := attack("recursion-honest", "a thousand frames are not an attack", "x:g")
	ok.Want = answered
	ends := attack("recursion-ends", "120,000 calls that end in each way there is: who forgets one thinks they are nested", "x:j")
	ends.Want, ends.Timeout = answered, 10*Timeout
	after := attack("recursion-after-ends", "the same, then recursion: who counts an end twice allows for more of it each time", "x:k")
	after.Timeout = 10 * Timeout
	wide := attack("recursion-wide", "deep and wide at once: the stack empties, the calls do not end", "x:h")
	wide.Want = either(stopped, overflow)
	host := attack("recursion-info", "each frame calls the host", "x:i")
	host.Want = either(overflow, flooded)
	return []Case{
		attack("recursion", "a call takes 150 MB beside its memory", "x:a"),
		attack("recursion-mutual", "two functions that call each other", "x:b"),
		attack("recursion-indirect", "a function that calls itself through a table", "x:c"),
		attack("recursion-params", "each frame passes 16 parameters on", "x:d"),
		attack("recursion-handler", "the exported function calls itself", "x:e"),
		of(attack("recursion-locals", "each frame has 500 live locals: few frames, all the stack", "x:a"), fat(500, i64, []byte{0x42, 7})),
		most,
		of(attack("recursion-vectors", "each frame has 500 live vectors", "x:a"),
			fat(500, v128, cat([]byte{0xfd, 12}, make([]byte, 16)))),
		of(ever, func() shape { return shape{funcs: selfCall, start: op(opCall, firstFunc)} }),
		of(initialize, func() shape { return shape{funcs: selfCall, initialize: op(opCall, firstFunc)} }),
		crowd, again, ok, ends, after, wide, host,
	}
}
