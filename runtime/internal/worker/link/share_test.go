package link

import (
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// Calls share links while they are quick. One call that the machine has stopped does not change that, as several slow ones do.
func TestCallsShareLinksWhileMostAreQuick(t *testing.T) {
	s := New(Config{PipelineUnder: 250 * time.Microsecond})
	for _, step := range []struct {
		calls int
		took  time.Duration
		want  bool
	}{{1, time.Microsecond, false}, {200, time.Microsecond, true}, {1, time.Hour, true}, {20, time.Hour, false}, {1, time.Microsecond, false}, {200, time.Microsecond, true}} {
		for range step.calls {
			s.noteTime(step.took)
		}
		if got := s.isSharing(); got != step.want {
			t.Errorf("after %d calls of %v: got %v, want %v", step.calls, step.took, got, step.want)
		}
	}
}

// A call that lasts long without fuel or services may have stood still: links are shared until most calls last so long.
func TestCallsThatStandStillShareLinks(t *testing.T) {
	s := New(Config{PipelineUnder: 250 * time.Microsecond})
	for _, step := range []struct {
		of   int // one of so many calls lasts long
		fuel uint64
		want bool
	}{{1000, 0, true}, {3, 0, true}, {3, 1e8, false}, {1000, 0, true}, {1, 0, false}} {
		for i := range 300 {
			done, lasted := protocol.Done{Fuel: 1000}, 10*time.Microsecond
			if i%step.of == step.of-1 {
				done.Fuel, lasted = done.Fuel+step.fuel, time.Minute
			}
			s.noteTime(new(pendingCall).duration(&done, lasted))
		}
		if got := s.isSharing(); got != step.want {
			t.Errorf("one of %d calls lasts long, with a fuel of %d: got %v, want %v", step.of, step.fuel, got, step.want)
		}
	}
}
