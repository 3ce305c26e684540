package app

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAnnounceSlow(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration
		want  string
	}{
		"quick": {slowAfter - 1, ""}, "slow": {slowAfter + 1, "begin end"}, "at once": {0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := ""
				stop := announceSlow(func() func() {
					said += "begin"
					return func() { said += " end" }
				})
				time.Sleep(tt.takes)
				stop()
				time.Sleep(time.Hour)
				if said != tt.want {
					t.Errorf("got %q, want %q", said, tt.want)
				}
			})
		})
	}
}
