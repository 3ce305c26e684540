package takeover

import (
	"testing"
	"time"
)

// SetAnswerTime has the other process answer within a time, until the end of a test.
func SetAnswerTime(tb testing.TB, d time.Duration) {
	was := answerTime
	answerTime = d
	tb.Cleanup(func() { answerTime = was })
}
