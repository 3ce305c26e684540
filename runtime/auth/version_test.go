package auth_test

import (
	"context"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
)

func TestOnlyThoseWhoMayChooseAVersion(t *testing.T) {
	plain := auth.NewIdentity(context.Background(), abi.Principal{Subject: "ada"}, auth.FullAccess(auth.AnyURI()), time.Time{})
	may := plain.Narrow([]auth.Pattern{auth.AnyURI()}).ChoosingVersions()
	for _, c := range []struct {
		identity *auth.Identity
		header   string
		want     int
	}{
		{may, "7", 7}, {may, "1000000000", 1_000_000_000}, {may, "007", 7},
		{may, "", 0}, {may, "0", 0}, {may, "-1", 0}, {may, "+7", 0}, {may, " 7", 0}, {may, "7.0", 0}, {may, "7, 8", 0}, {may, "seven", 0},
		{may, "1000000001", 0}, {may, "99999999999999999999", 0},
		{plain, "7", 0}, {nil, "7", 0},
	} {
		caller := &auth.Caller{Identity: c.identity}
		if caller.SetVersion(c.header); caller.Version != c.want {
			t.Errorf("%q, may %v: got %d, want %d", c.header, c.identity == may, caller.Version, c.want)
		}
	}
}

func TestASessionKeepsItsCaller(t *testing.T) {
	with := &auth.Caller{Address: "192.0.2.1", Version: 7}
	for name, ctx := range map[string]context.Context{"a caller": auth.WithCaller(t.Context(), with), "none": t.Context()} {
		got := auth.CallerOf(auth.WithSession(ctx, "s1"))
		if got.Session != "s1" || (name == "a caller") != (got.Address == with.Address && got.Version == 7) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if with.Session != "" {
		t.Error("the caller was changed, which other requests share")
	}
}
