package hostile

import "github.com/wasmres/wasmres/abi"

// afterStop returns a case for each act in [abi.ExportStopped] of a provider that was stopped. The call ends as it would
// without, and the next one is answered.
func afterStop() (cases []Case) {
	for _, t := range acts() {
		if t.rare {
			continue
		}
		module := func() [][]byte {
			a := &actor{
				manifest: abi.Manifest{Name: "actor", Ops: 1 << abi.OpRead},
				acts:     map[Phase][]byte{PhaseRead: forever()}, afterStop: t.code,
			}
			if t.prepare != nil {
				t.prepare(a)
			}
			return [][]byte{a.module()}
		}
		cases = append(cases, Case{
			Name: "after-stop-" + t.name, Row: RowLifecycle, Why: t.why + ", once it was stopped", Modules: module,
			Timeout: phaseTimeout, Op: abi.OpRead, URI: "x:a", Want: stopped, After: "x:o",
		})
	}
	return cases
}
