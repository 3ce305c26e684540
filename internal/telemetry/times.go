package telemetry

import (
	"math/bits"
	"time"
)

// Times counts times, in buckets. Its zero value is empty. It is not safe for concurrent use.
type Times [timeBuckets]uint32

// timeBuckets is the number of buckets of times: two for each doubling from a microsecond, up to 67 seconds.
const timeBuckets = 2 * 26

// Add counts a time.
func (t *Times) Add(d time.Duration) { t[bucketOf(d)]++ }

// AddAll adds what others have counted.
func (t *Times) AddAll(others *Times) {
	for b, n := range others {
		t[b] += n
	}
}

// AllBut returns the time that all but so many did not exceed, to a factor of 1.5; zero if there are no more.
func (t *Times) AllBut(few uint32) time.Duration {
	above := uint32(0)
	for b := timeBuckets - 1; b >= 0; b-- {
		if above += t[b]; above > few {
			return endOf(b)
		}
	}
	return 0
}

// bucketOf returns the bucket of a time.
func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 1))
	exp := bits.Len64(us) - 1
	half := 0
	if exp > 0 {
		half = int(us >> (exp - 1) & 1)
	}
	return min(2*exp+half, timeBuckets-1)
}

// endOf returns the time before which those of a bucket are.
func endOf(bucket int) time.Duration {
	exp, half := bucket/2, bucket%2
	start := time.Microsecond << exp
	if half == 0 {
		return start + start/2
	}
	return 2 * start
}
