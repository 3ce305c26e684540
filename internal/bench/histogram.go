package bench

import (
	"slices"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// highest is the longest latency that is distinguished from longer ones.
const highest = time.Minute

// latencies counts requests by latency, to three digits.
type latencies struct{ *hdr.Histogram }

func newLatencies() latencies { return latencies{hdr.New(1, int64(highest), 3)} }

func (l latencies) add(took time.Duration) { _ = l.RecordValue(int64(min(took, highest))) }

// A Bucket counts the requests that took at least From and less than To.
type Bucket struct {
	From, To time.Duration
	Requests int64
}

// Buckets returns the latencies as a histogram, from the quickest request to the slowest. Buckets are equally wide on a
// logarithmic scale: 24 for a factor of ten. Unless most is 0 there are at most that many: then buckets may be wider,
// 12, 6, 3 or 1 for a factor of ten, and the last one may have all of the slowest thousandth. With a most from 1 to 9
// there may be more.
func (r *Result) Buckets(most int) []Bucket {
	bars := slices.DeleteFunc(r.latencies.Distribution(), func(b hdr.Bar) bool { return b.Count == 0 })
	if len(bars) == 0 {
		return nil
	}
	first, last := step(bars[0].From), step(bars[len(bars)-1].From)
	if most <= 0 || last-first < most {
		return count(bars, first, last, 1)
	}
	end := step(min(int64(r.Latency(tail)), bars[len(bars)-1].From))
	for _, width := range []int{1, 2, 4, 8, stepsOfTen} {
		begin := first / width * width
		if n := (end-begin)/width + 1; n < most || width == stepsOfTen {
			return count(bars, begin, last, width).tailed(n)
		}
	}
	return nil
}

type buckets []Bucket

// count returns buckets of width steps each, from the step first to the step last.
func count(bars []hdr.Bar, first, last, width int) buckets {
	var all buckets
	for s := first; s <= last; s += width {
		all = append(all, Bucket{From: bound(s), To: bound(s + width)})
	}
	for _, b := range bars {
		all[(step(b.From)-first)/width].Requests += b.Count
	}
	return all
}

// tailed merges all buckets after the first n.
func (b buckets) tailed(n int) buckets {
	if len(b) <= n+1 {
		return b
	}
	for _, more := range b[n+1:] {
		b[n].Requests += more.Requests
		b[n].To = more.To
	}
	return b[:n+1]
}

// stepsOfTen is the number of steps for a factor of ten.
const stepsOfTen = 24

// preferred are the steps, as in the series E24: of the series E12, E6 and E3 they are the second, fourth and eighth.
var preferred = [stepsOfTen]time.Duration{
	10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91,
}

// bound returns the shortest latency of a step. The first step is of 10 ns.
func bound(step int) time.Duration {
	b := preferred[step%stepsOfTen]
	for range step / stepsOfTen {
		b *= 10
	}
	return b
}

// step returns the step of a latency in nanoseconds. Those below the first belong to it.
func step(latency int64) int {
	tens := 0
	for latency >= 100 {
		latency, tens = latency/10, tens+1
	}
	i, exact := slices.BinarySearch(preferred[:], time.Duration(latency))
	if !exact {
		i--
	}
	return tens*stepsOfTen + max(i, 0)
}
