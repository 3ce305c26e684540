package limits_test

import (
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"
)

func TestLimitsAreChecked(t *testing.T) {
	for name, l := range map[string]limits.Limits{
		"odd memory": {Memory: 100}, "huge memory": {Memory: 8 << 30}, "negative timeout": {Timeout: -1}, "negative items": {Items: -1}, "too many calls": {Calls: 1 << 30},
		"too many sessions": {Sessions: 10_001}, "tiny idle": {Idle: time.Millisecond}, "huge stack": {Stack: 64 << 20}, "huge table": {Table: 1 << 30},
		"huge fuel": {Fuel: 1<<62 + 1}, "negative host calls": {HostCalls: -1},
	} {
		if _, err := l.WithDefaults(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
