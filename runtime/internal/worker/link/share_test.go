package link

import (
	"testing"
	"time"
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
