package auth_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
)

// renewed makes an Identity that lasts a minute, and after that as answers say, of which each is called once.
func renewed(ctx context.Context, answers ...func() (time.Time, error)) (i *auth.Identity, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	i = auth.NewIdentity(ctx, abi.Principal{Subject: "ada"}, auth.FullAccess(auth.AnyURI()), time.Time{})
	return i.RenewedBy(time.Now().Add(time.Minute), func(context.Context) (time.Time, error) {
		return answers[asked.Add(1)-1]()
	}), asked
}

func aMinute() (time.Time, error) { return time.Now().Add(time.Minute), nil }
func refused() (time.Time, error) { return time.Time{}, auth.ErrInvalid }
func silent() (time.Time, error) {
	return time.Time{}, &auth.UnavailableError{RetryAfter: 25 * time.Second}
}

// How long an Identity goes on that is held from its beginning depends on the answers.
func TestRenewals(t *testing.T) {
	for name, c := range map[string]struct {
		answers []func() (time.Time, error)
		lasts   time.Duration
	}{
		"refused at once":      {[]func() (time.Time, error){refused}, time.Minute},
		"then refused":         {[]func() (time.Time, error){aMinute, aMinute, refused}, 3 * time.Minute},
		"a time that is over":  {[]func() (time.Time, error){func() (time.Time, error) { return time.Now(), nil }}, time.Minute},
		"silent":               {[]func() (time.Time, error){silent, silent, silent, silent}, time.Minute + 75*time.Second},
		"silent for a while":   {[]func() (time.Time, error){silent, silent, aMinute, refused}, time.Minute + 50*time.Second + time.Minute},
		"silent, then refused": {[]func() (time.Time, error){silent, refused}, time.Minute + 25*time.Second},
		"another error":        {[]func() (time.Time, error){func() (time.Time, error) { return time.Time{}, errors.New("no") }}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				i, asked := renewed(t.Context(), c.answers...)
				ended, release := i.Hold()
				<-ended.Done()
				if took := time.Since(began); took != c.lasts || asked.Load() != int64(len(c.answers)) || i.Valid() {
					t.Errorf("it ended after %v and %d answers, valid %t", took, asked.Load(), i.Valid())
				}
				release()
			})
		})
	}
}

// No one is asked about an Identity that nothing holds, or that has ended for good.
func TestRenewedWhileHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		i, asked := renewed(ctx, aMinute, aMinute)
		if time.Sleep(59 * time.Second); !i.Valid() {
			t.Fatal("it ended early")
		}
		first, releaseFirst := i.Hold()
		second, releaseSecond := i.Hold()
		time.Sleep(2 * time.Second)
		if !i.Valid() || first.Err() != nil || asked.Load() != 1 {
			t.Fatalf("it is not renewed: asked %d times", asked.Load())
		}
		releaseFirst()
		time.Sleep(time.Minute)
		if second.Err() != nil || asked.Load() != 2 {
			t.Fatalf("another holder: asked %d times", asked.Load())
		}
		releaseSecond()
		time.Sleep(time.Hour)
		if i.Valid() || asked.Load() != 2 {
			t.Fatalf("nothing holds it: asked %d times", asked.Load())
		}
		cancel()
		ended, release := i.Hold()
		<-ended.Done()
		release()
		if time.Sleep(time.Hour); asked.Load() != 2 {
			t.Fatalf("it has ended for good: asked %d times", asked.Load())
		}
	})
}

// An Identity whose end was while nothing held it is renewed when it is held again.
func TestHeldAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, _ := renewed(t.Context(), aMinute)
		time.Sleep(2 * time.Minute)
		ended, release := i.Hold()
		defer release()
		synctest.Wait()
		if ended.Err() != nil || !i.Valid() {
			t.Error("it was not renewed")
		}
	})
}
