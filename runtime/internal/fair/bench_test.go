package fair_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/fair"
)

// BenchmarkEnter is what a turn costs: while slots are free, and while 5,000 shares have waiting turns.
func BenchmarkEnter(b *testing.B) {
	b.Run("free", func(b *testing.B) {
		q := newQueue(b, fair.Config{Slots: 8})
		s := q.NewShare(1)
		ctx := b.Context()
		b.ReportAllocs()
		turns := make([]fair.Turn, 1024) // in memory, as those of calls
		i := 0
		for b.Loop() {
			t := &turns[i%len(turns)]
			i++
			t.Init(s, nil)
			if err := t.Enter(ctx, nil, time.Second); err != nil {
				b.Fatal(err)
			}
			t.Leave(time.Millisecond)
		}
	})
	b.Run("free, from all processors", func(b *testing.B) {
		q := newQueue(b, fair.Config{Slots: 64})
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			s, t := q.NewShare(1), new(fair.Turn)
			for pb.Next() {
				t.Init(s, nil)
				if err := t.Enter(context.Background(), nil, time.Second); err != nil {
					b.Error(err)
				}
				t.Leave(time.Millisecond)
			}
		})
	})
	for _, shares := range []int{1, 5000} {
		b.Run(fmt.Sprintf("full, %d shares wait", shares), func(b *testing.B) {
			q := newQueue(b, fair.Config{Slots: 1, MaxWaiting: 1 << 20})
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			var first fair.Turn
			first.Init(q.NewShare(1), nil)
			_ = first.Enter(ctx, nil, time.Second)
			passed := make(chan struct{})
			for range shares { // each call of a share waits for a slot, and its next one waits again
				go func() {
					s := q.NewShare(1)
					for {
						var t fair.Turn
						t.Init(s, nil)
						err := t.Enter(ctx, nil, time.Hour)
						select {
						case passed <- struct{}{}:
						case <-ctx.Done():
							err = ctx.Err()
						}
						t.Leave(time.Millisecond)
						if err != nil {
							return
						}
					}
				}()
			}
			for q.Stats().Waiting < shares {
				time.Sleep(time.Millisecond)
			}
			first.Leave(0)
			b.ReportAllocs()
			for b.Loop() {
				<-passed
			}
		})
	}
}
