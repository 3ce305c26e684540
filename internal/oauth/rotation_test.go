package oauth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/authtest"
	"github.com/wasmres/wasmres/internal/oauth"
)

// near sends requests to an issuer without a network, whose waits no clock of a test could skip.
type near struct {
	issuer *authtest.Issuer
	gone   atomic.Bool
}

func (n *near) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.gone.Load() {
		return nil, errors.New("no route to host")
	}
	w := httptest.NewRecorder()
	n.issuer.ServeHTTP(w, r)
	return w.Result(), nil
}

// rotating runs a test of an issuer by a clock of its own.
func rotating(t *testing.T, test func(t *testing.T, i *authtest.Issuer, n *near, check func(token string) error)) {
	t.Helper()
	i := authtest.New(t)
	synctest.Test(t, func(t *testing.T) {
		n := &near{issuer: i}
		v := newVerifier(t)
		oauth.SetTransport(v, n)
		by := of(i)
		test(t, i, n, func(token string) error {
			_, err := verify(t.Context(), v, by, token)
			synctest.Wait() // for a fetch in the background
			return err
		})
	})
}

func TestKeysRotate(t *testing.T) {
	rotating(t, func(t *testing.T, i *authtest.Issuer, _ *near, check func(string) error) {
		old, next := i.Key(), authtest.NewKey("next", authtest.ES256)
		of := func(k *authtest.Key) string { return k.Sign(nil, i.Claims(resource)) }
		if err := check(of(old)); err != nil {
			t.Fatal(err)
		}
		i.Publish(next, old)
		if err := check(of(next)); !isInvalid(err) {
			t.Errorf("just after a fetch: %v", err)
		}
		for range 100 {
			if err := check(authtest.NewKey("none", authtest.ES256).Sign(nil, i.Claims(resource))); !isInvalid(err) {
				t.Errorf("an unknown key: %v", err)
			}
		}
		if n := i.Asked(authtest.KeysPath); n != 1 {
			t.Errorf("unknown keys caused %d fetches", n)
		}
		time.Sleep(30 * time.Second)
		if err := check(of(next)); err != nil {
			t.Errorf("after 30 s: %v", err)
		}
		if err := check(of(old)); err != nil {
			t.Errorf("the old key, which is still published: %v", err)
		}
		i.Publish(next)
		time.Sleep(time.Hour + time.Second)
		_ = check(of(next)) // has the keys fetched in the background
		if err := check(of(old)); !isInvalid(err) {
			t.Errorf("a key that is no longer published: %v", err)
		}
	})
}

func TestKeysOfAnIssuerThatIsGoneServeForADay(t *testing.T) {
	rotating(t, func(t *testing.T, i *authtest.Issuer, n *near, check func(string) error) {
		if err := check(i.Token(resource)); err != nil {
			t.Fatal(err)
		}
		n.gone.Store(true)
		for hours := range 23 {
			time.Sleep(time.Hour)
			if err := check(i.Token(resource)); err != nil {
				t.Fatalf("after %d hours: %v", hours+1, err)
			}
		}
		time.Sleep(time.Hour)
		if err := check(i.Token(resource)); !isUnavailable(err) {
			t.Errorf("after a day: %v", err)
		}
		n.gone.Store(false)
		time.Sleep(30 * time.Second)
		if err := check(i.Token(resource)); err != nil {
			t.Errorf("when it is back: %v", err)
		}
	})
}

func TestAnIssuerThatIsDownAtFirst(t *testing.T) {
	rotating(t, func(t *testing.T, i *authtest.Issuer, n *near, check func(string) error) {
		n.gone.Store(true)
		if err := check(i.Token(resource)); !isUnavailable(err) {
			t.Fatal(err)
		}
		n.gone.Store(false)
		if err := check(i.Token(resource)); !isUnavailable(err) {
			t.Errorf("at once: %v", err)
		}
		time.Sleep(time.Second)
		if err := check(i.Token(resource)); err != nil {
			t.Errorf("after a second: %v", err)
		}
	})
}
