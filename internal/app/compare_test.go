package app

import (
	"errors"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime"
)

// What a second run has used is told, whatever it showed; a call that did not run again has used nothing.
func TestWhatASecondRunUsesIsTold(t *testing.T) {
	var cpu time.Duration
	told := 0
	a := newApp(Config{Compared: func(*Difference, error) { told++ }, UsedAgain: func(u runtime.Usage) { cpu += u.CPU }})
	used := runtime.Ending{Used: runtime.Usage{CPU: time.Millisecond}}
	for _, c := range []runtime.Compared{
		{Second: used}, {Second: used, Failed: errors.New("late")}, {Failed: errors.New("not begun")},
	} {
		a.onCompared(&c)
	}
	if cpu != 2*time.Millisecond || told != 3 {
		t.Errorf("told of %v in %d comparisons", cpu, told)
	}
}
