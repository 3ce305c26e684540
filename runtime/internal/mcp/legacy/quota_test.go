package legacy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
)

// A crowd has many clients without a network.
type crowd struct{ front *legacy.Front }

func (c crowd) post(addr, session, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.RemoteAddr = addr + ":1000"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	c.front.ServeHTTP(w, r)
	synctest.Wait()
	return w
}

// initialize opens a session without completing the handshake; empty when it is refused.
func (c crowd) initialize(addr string) (session string) {
	return c.post(addr, "", initializeLine("2025-06-18")).Header().Get("Mcp-Session-Id")
}

// open opens a session, and lets a millisecond pass.
func (c crowd) open(addr string) (session string) {
	session = c.initialize(addr)
	c.post(addr, session, initializedLine)
	after(time.Millisecond)
	return session
}

func (c crowd) lives(session string) bool {
	return c.post("192.0.2.99", session, request(1, "ping", "")).Code == http.StatusOK
}

func inCrowd(t *testing.T, change func(*legacy.Config), test func(t *testing.T, c crowd)) {
	synctest.Test(t, func(t *testing.T) {
		c := crowd{newFront(t, newFake(), change)}
		test(t, c)
		c.front.Close()
	})
}

func TestSessionWithoutHandshakeEnds(t *testing.T) {
	inCrowd(t, func(*legacy.Config) {}, func(t *testing.T, c crowd) {
		pinged, listening, ready := c.initialize("192.0.2.1"), c.initialize("192.0.2.1"), c.open("192.0.2.1")
		stream := make(chan struct{})
		go func() {
			defer close(stream)
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Accept", "text/event-stream")
			r.Header.Set("Mcp-Session-Id", listening)
			c.front.ServeHTTP(httptest.NewRecorder(), r)
		}()
		for range 2 {
			after(10 * time.Second)
			if !c.lives(pinged) || !c.lives(listening) || !c.lives(ready) {
				t.Fatal("a session ended too soon")
			}
		}
		after(11 * time.Second)
		if c.lives(pinged) || c.lives(listening) {
			t.Error("a session outlives 30 s without notifications/initialized")
		}
		if !c.lives(ready) {
			t.Error("a session that completed the handshake ended")
		}
		<-stream
	})
}

// Sessions that never complete the handshake lock out no client.
func TestManyInitializeRequestsLockOutNoClient(t *testing.T) {
	attempts := 1000
	if testing.Short() {
		attempts = 250 // more than MaxSessions
	}
	for _, addr := range []string{"127.0.0.1", "203.0.113.1", "attackers"} {
		inCrowd(t, func(c *legacy.Config) { c.MaxSessions, c.MaxPerClient = 200, 100 }, func(t *testing.T, c crowd) {
			honest := c.open("192.0.2.1")
			for i := range attempts {
				from := addr
				if addr == "attackers" {
					from = fmt.Sprintf("203.0.113.%d", i%250)
				}
				if c.initialize(from) == "" {
					t.Fatalf("%s: the initialize %d is refused", addr, i)
				}
			}
			if !c.lives(honest) {
				t.Errorf("%s: a session that was ready was ended", addr)
			}
			if other := c.open("192.0.2.2"); other == "" || !c.lives(other) {
				t.Errorf("%s: another client has no session", addr)
			}
		})
	}
}

func TestTheSessionIdleForLongestIsEnded(t *testing.T) {
	inCrowd(t, func(c *legacy.Config) { c.MaxSessions = 3 }, func(t *testing.T, c crowd) {
		first, second, third := c.open("192.0.2.1"), c.open("192.0.2.2"), c.open("192.0.2.3")
		c.lives(first) // it has been used now
		after(time.Millisecond)
		fourth := c.open("192.0.2.4")
		if !c.lives(first) || c.lives(second) || !c.lives(third) || !c.lives(fourth) {
			t.Error("another session than the one idle for longest was ended")
		}
	})
}

func TestSessionsOfTheClientWithMostAreEnded(t *testing.T) {
	inCrowd(t, func(c *legacy.Config) { c.MaxSessions, c.MaxPerClient = 40, 30 }, func(t *testing.T, c crowd) {
		honest := []string{c.open("192.0.2.1"), c.open("192.0.2.2"), c.open("192.0.2.3")}
		for range 200 {
			c.open("203.0.113.1")
			c.open("203.0.113.2")
		}
		for _, session := range honest {
			if !c.lives(session) {
				t.Error("a client of one session lost it to those of many")
			}
		}
	})
}

func TestSessionsOfOneClientAreBounded(t *testing.T) {
	inCrowd(t, func(c *legacy.Config) { c.MaxPerClient = 2 }, func(t *testing.T, c crowd) {
		first := c.open("192.0.2.1")
		second, third := c.open("192.0.2.1"), c.open("192.0.2.1")
		if c.lives(first) || !c.lives(second) || !c.lives(third) {
			t.Error("the client's own longest idle session was not ended")
		}
		var local []string
		for range 5 {
			local = append(local, c.open("127.0.0.1"))
		}
		for _, session := range local {
			if !c.lives(session) {
				t.Error("clients on loopback are bounded")
			}
		}
		for range 3 { // a session that ends counts no more
			session := c.open("198.51.100.1")
			r := httptest.NewRequest(http.MethodDelete, "/", nil)
			r.Header.Set("Mcp-Session-Id", session)
			c.front.ServeHTTP(httptest.NewRecorder(), r)
			synctest.Wait()
		}
		kept, newer := c.open("198.51.100.1"), c.open("198.51.100.1")
		if !c.lives(kept) || !c.lives(newer) {
			t.Error("sessions that ended count among the client's")
		}
	})
}

// A gate is a log that calls open when a session is ended by the server.
type gate struct {
	slog.Handler
	open func()
}

func (g gate) Enabled(context.Context, slog.Level) bool { return true }

func (g gate) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "http session ended" {
		g.open()
	}
	return nil
}

// A session that expires refuses requests before it cancels those under way. So a request that comes then is refused, and
// not cancelled.
func TestAnExpiringSessionRefusesRequests(t *testing.T) {
	for name, expire := range map[string]func(c crowd){
		"idle":    func(crowd) { after(2 * time.Minute) },
		"evicted": func(c crowd) { c.open("192.0.2.2") },
	} {
		t.Run(name, func(t *testing.T) {
			var arrive atomic.Value // a func() bool, which sends a request and reports whether it is admitted
			var refused, admitted atomic.Int64
			log := gate{slog.DiscardHandler, func() {
				if arrive.Load().(func() bool)() {
					admitted.Add(1)
				} else {
					refused.Add(1)
				}
			}}
			inCrowd(t, func(c *legacy.Config) {
				c.Idle, c.MaxSessions, c.Logger = time.Minute, 1, slog.New(log)
			}, func(t *testing.T, c crowd) {
				session := c.open("192.0.2.1")
				ctx := deadline.NewCancelable(t.Context())
				arrive.Store(func() bool {
					m := &mcp.Message{ID: json.RawMessage("7"), Method: "resources/list"}
					_, ok := c.front.Begin(ctx, session, "", m)
					return ok
				})
				expire(c)
				if refused.Load() != 1 || admitted.Load() != 0 {
					t.Errorf("%d requests were refused and %d admitted, want 1 refused", refused.Load(), admitted.Load())
				}
				if ctx.Err() != nil {
					t.Errorf("the request is cut off: %v", context.Cause(ctx))
				}
				ctx.Cancel(nil)
			})
		})
	}
}

// A request that is accepted at the moment its session expires keeps the session alive. A later one is refused. None is
// cancelled.
func TestAnExpiringSessionCancelsNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sessions, requests = 100, 20
		front := newFront(t, newFake(), func(c *legacy.Config) { c.Idle = time.Minute })
		c := crowd{front}
		var admitted, refused, cut atomic.Int64
		var clients sync.WaitGroup
		start := time.Now()
		for range sessions {
			session := c.initialize("127.0.0.1")
			c.post("127.0.0.1", session, initializedLine)
			for id := range requests {
				clients.Go(func() {
					time.Sleep(time.Minute - time.Since(start)) // as long as the session may be idle
					ctx := deadline.NewCancelable(t.Context())
					m := &mcp.Message{ID: json.RawMessage(strconv.Itoa(id)), Method: "resources/list"}
					finish, ok := front.Begin(ctx, session, "", m)
					if !ok {
						refused.Add(1)
						return
					}
					admitted.Add(1)
					time.Sleep(time.Second)
					if ctx.Err() != nil {
						cut.Add(1)
					}
					finish()
				})
			}
		}
		clients.Wait()
		if cut.Load() > 0 {
			t.Errorf("of %d admitted requests %d were cut off (%d were refused)", admitted.Load(), cut.Load(), refused.Load())
		}
		front.Close()
	})
}
