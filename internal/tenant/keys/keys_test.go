package keys_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/internal/tenant/store"
	"github.com/wasmres/wasmres/runtime/auth"
)

func rule(actions, uri string) tenant.Rule {
	return tenant.Rule{Actions: strings.Split(actions, ","), URIs: []string{uri}}
}

func acme() *tenant.Tenant {
	return &tenant.Tenant{ID: "acme", Owner: tenant.OwnerFiles, Roles: []tenant.Role{
		{Name: "editor", Rules: []tenant.Rule{rule("list,read", "notes://**"), rule("watch", "notes://drafts/**")}},
		{Name: "reader", Rules: []tenant.Rule{rule("list,read", "notes://public/**")}},
	}}
}

func zoo() *tenant.Tenant {
	t := acme()
	t.ID = "zoo"
	return t
}

// snapshot makes a snapshot.
func snapshot(tenants []*tenant.Tenant, list ...*tenant.Key) *tenant.Snapshot {
	s := &tenant.Snapshot{Tenants: map[string]*tenant.Tenant{}, Keys: map[string]*tenant.Key{}}
	for _, t := range tenants {
		s.Tenants[t.ID] = t
	}
	for _, k := range list {
		s.Keys[k.ID] = k
	}
	return s
}

func newKey(t testing.TB, of *tenant.Tenant, name, role string, o keys.Options) (text string, k *tenant.Key) {
	t.Helper()
	text, k, err := keys.New(of, name, []string{role}, o)
	if err != nil {
		t.Fatal(err)
	}
	return text, k
}

func newSet(t testing.TB, s *tenant.Snapshot) *keys.Set {
	t.Helper()
	set := keys.NewSet(keys.Config{})
	t.Cleanup(func() { set.Close() })
	set.Update(s)
	return set
}

var home = netip.MustParseAddr("192.0.2.1")

// ask authenticates a client of a tenant.
func ask(set *keys.Set, of, text string) (*auth.Identity, error) {
	c := auth.Credential{Address: home}
	if text != "" {
		c.Authorization = "Bearer " + text
	}
	return set.Authenticator(of).Authenticate(c)
}

// must authenticates a client that has a valid key.
func must(t *testing.T, set *keys.Set, of, text string) *auth.Identity {
	t.Helper()
	i, err := ask(set, of, text)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// refuses fails unless a key is refused as an unknown one is.
func refuses(t *testing.T, set *keys.Set, of, text string) {
	t.Helper()
	if i, err := ask(set, of, text); i != nil || err != auth.ErrInvalid {
		t.Errorf("got %v, %v", i, err)
	}
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	bad := netip.Prefix{}
	for want, c := range map[string]struct {
		name  string
		roles []string
		o     keys.Options
	}{
		"is not a name":     {"a b", []string{"reader"}, keys.Options{}},
		"without a key":     {"anonymous", []string{"reader"}, keys.Options{}},
		"did you mean":      {"ci", []string{"raeder"}, keys.Options{}},
		"at least one role": {"ci", nil, keys.Options{}},
		"pattern":           {"ci", []string{"reader"}, keys.Options{URIs: []string{""}}},
		"network":           {"ci", []string{"reader"}, keys.Options{Networks: []netip.Prefix{bad}}},
		"not positive":      {"ci", []string{"reader"}, keys.Options{Life: -1}},
		"never expires":     {"ci", []string{"reader"}, keys.Options{Life: 1, Never: true}},
	} {
		if _, _, err := keys.New(acme(), c.name, c.roles, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	text, k := newKey(t, acme(), "ci", "reader", keys.Options{
		Creator: "uid 0", Networks: []netip.Prefix{netip.MustParsePrefix("10.1.2.3/8")},
	})
	if life := k.Expires.Sub(k.Created); life != 90*24*time.Hour || k.SHA256 != sha256.Sum256([]byte(text)) || k.Networks[0].String() != "10.0.0.0/8" ||
		!strings.HasPrefix(text, "wr_"+k.ID+"_") || k.Creator != "uid 0" || k.Tenant != "acme" {
		t.Errorf("got %+v", k)
	}
	if _, k := newKey(t, acme(), "ci", "reader", keys.Options{Never: true}); !k.Expires.IsZero() {
		t.Errorf("it never expires: %v", k.Expires)
	}
}

func TestAKeyPermitsWhatItsRolesDo(t *testing.T) {
	of := acme()
	editor, ek := newKey(t, of, "ed", "editor", keys.Options{})
	narrow, nk := newKey(t, of, "ned", "editor", keys.Options{URIs: []string{"notes://drafts/**", "mail://**"}})
	gone, gk := newKey(t, of, "gone", "reader", keys.Options{})
	gk.Roles = []string{"removed"}
	set := newSet(t, snapshot([]*tenant.Tenant{of}, ek, nk, gk))
	for _, c := range []struct {
		text   string
		action auth.Action
		uri    string
		want   bool
	}{
		{editor, auth.Read, "notes://a", true},
		{editor, auth.Watch, "notes://a", false},
		{editor, auth.Watch, "notes://drafts/a", true},
		{editor, auth.Download, "notes://a", false},
		{narrow, auth.Read, "notes://a", false},
		{narrow, auth.Read, "notes://drafts/a", true},
		{narrow, auth.Read, "mail://a", false},
		{gone, auth.Read, "notes://a", false},
	} {
		if got := must(t, set, "acme", c.text).Permits(c.action, c.uri); got != c.want {
			t.Errorf("%s of %s: %t", c.action, c.uri, got)
		}
	}
	if i := must(t, set, "acme", editor); i.Principal().Subject != "ed" || i.PermitsNothing() || i != must(t, set, "acme", editor) {
		t.Errorf("got %+v", i)
	}
	if !must(t, set, "acme", gone).PermitsNothing() {
		t.Error("a role that was removed permits something")
	}
}

// forged makes a text with the ID of one key, the secret of another, and the checksum of both.
func forged(id, secret string) string {
	const head = len("wr_k7q2mzm5x3fd_")
	body := id[:head] + secret[head:len(secret)-8]
	return body + fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body)))
}

// The key of one tenant is to another one as a text that is no key.
func TestKeysAreOfOneTenant(t *testing.T) {
	a, ak := newKey(t, acme(), "ci", "reader", keys.Options{})
	b, bk := newKey(t, zoo(), "ci", "reader", keys.Options{})
	set := newSet(t, snapshot([]*tenant.Tenant{acme(), zoo()}, ak, bk))
	must(t, set, "acme", a)
	must(t, set, "zoo", b)
	unknown, _ := newKey(t, acme(), "ci", "reader", keys.Options{})
	for _, c := range [][2]string{
		{"zoo", a}, {"acme", b}, {"none", a}, {"", a}, {"acme", unknown}, {"acme", a[:len(a)-1]}, {"acme", "x"},
		{"acme", a[:20] + b[20:]}, {"acme", forged(a, b)},
	} {
		refuses(t, set, c[0], c[1])
	}
	if forged(a, a) != a {
		t.Error("a forged key is none at all")
	}
	disabled := zoo()
	disabled.Disabled = true
	identity := must(t, set, "zoo", b)
	set.Update(snapshot([]*tenant.Tenant{acme(), disabled}, ak, bk))
	refuses(t, set, "zoo", b)
	if identity.Valid() {
		t.Error("a disabled tenant has clients")
	}
}

func TestAKeyIsBoundToNetworks(t *testing.T) {
	text, k := newKey(t, acme(), "ci", "reader", keys.Options{
		Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")},
	})
	a := newSet(t, snapshot([]*tenant.Tenant{acme()}, k)).Authenticator("acme")
	for address, want := range map[string]bool{
		"10.1.2.3:5": true, "11.1.2.3:5": false, "[2001:db8::1]:5": true, "[2001:db9::1]:5": false,
		"[::ffff:10.1.2.3]:5": true, "": false, "pipe": false,
	} {
		_, err := a.Authenticate(auth.Credential{Authorization: "Bearer " + text, Address: auth.AddressOf(address)})
		if (err == nil) != want || !want && err != auth.ErrInvalid {
			t.Errorf("from %s: %v", address, err)
		}
	}
}

func TestClientsWithoutAKey(t *testing.T) {
	open, other := acme(), zoo()
	open.Anonymous = []string{"reader"}
	other.Anonymous = []string{"removed"}
	set := newSet(t, snapshot([]*tenant.Tenant{open, other}))
	i := must(t, set, "acme", "")
	if i.Principal().Subject != "anonymous" || !i.Permits(auth.Read, "notes://public/a") || i.Permits(auth.Read, "notes://a") {
		t.Errorf("got %+v", i)
	}
	refuses(t, set, "acme", "x") // a bad credential is not none
	for _, id := range []string{"zoo", "none"} {
		if _, err := ask(set, id, ""); err != auth.ErrMissing {
			t.Errorf("%s: %v", id, err)
		}
	}
	changed := acme()
	changed.Anonymous = []string{"reader"}
	changed.Roles[0].Rules = nil // of editor
	set.Update(snapshot([]*tenant.Tenant{changed}))
	if must(t, set, "acme", "") != i || !i.Valid() {
		t.Error("another role has changed the identity")
	}
	set.Update(snapshot([]*tenant.Tenant{acme()}))
	if _, err := ask(set, "acme", ""); err != auth.ErrMissing || i.Valid() {
		t.Errorf("after the role was taken away: %v", err)
	}
}

// Whatever does not change the rights of a key leaves its streams alone; the rest ends them.
func TestUpdatesEndOnlyWhatChanged(t *testing.T) {
	text, k := newKey(t, acme(), "ci", "reader", keys.Options{})
	with := func(change func(*tenant.Key)) *tenant.Key {
		c := *k
		change(&c)
		return &c
	}
	of := func(change func(*tenant.Tenant)) []*tenant.Tenant {
		c := acme()
		change(c)
		return []*tenant.Tenant{c, zoo()}
	}
	same := of(func(*tenant.Tenant) {})
	for name, c := range map[string]struct {
		tenants []*tenant.Tenant
		key     *tenant.Key // nil for none
		goesOn  bool
	}{
		"nothing":         {same, k, true},
		"last use":        {same, with(func(k *tenant.Key) { k.LastUsed = time.Now() }), true},
		"a later end":     {same, with(func(k *tenant.Key) { k.Expires = k.Expires.Add(time.Hour) }), true},
		"another role":    {of(func(t *tenant.Tenant) { t.Roles[0].Rules = nil }), k, true},
		"another host":    {of(func(t *tenant.Tenant) { t.Hosts = []string{"a.example"} }), k, true},
		"its role":        {of(func(t *tenant.Tenant) { t.Roles[1].Rules = t.Roles[0].Rules }), k, false},
		"its role goes":   {of(func(t *tenant.Tenant) { t.Roles = t.Roles[:1] }), k, false},
		"its roles":       {same, with(func(k *tenant.Key) { k.Roles = []string{"editor"} }), false},
		"its URIs":        {same, with(func(k *tenant.Key) { k.URIs = []string{"notes://**"} }), false},
		"its networks":    {same, with(func(k *tenant.Key) { k.Networks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} }), false},
		"its name":        {same, with(func(k *tenant.Key) { k.Name = "cd" }), false},
		"revoked":         {same, nil, false},
		"tenant disabled": {of(func(t *tenant.Tenant) { t.Disabled = true }), k, false},
		"tenant gone":     {[]*tenant.Tenant{zoo()}, k, false},
	} {
		t.Run(name, func(t *testing.T) {
			set := newSet(t, snapshot([]*tenant.Tenant{acme()}, k))
			before := must(t, set, "acme", text)
			next := snapshot(c.tenants)
			if c.key != nil {
				next.Keys[c.key.ID] = c.key
			}
			set.Update(next)
			if before.Valid() != c.goesOn || (isHeld(before)) != c.goesOn {
				t.Errorf("it goes on: %t", before.Valid())
			}
			after, err := ask(set, "acme", text)
			switch isServed := next.Tenants["acme"] != nil && !next.Tenants["acme"].Disabled; {
			case c.key == nil || !isServed:
				if err != auth.ErrInvalid {
					t.Errorf("got %v", err)
				}
			case err != nil, (after == before) != c.goesOn, !after.Valid():
				t.Errorf("then it is %v, %v", after, err)
			}
		})
	}
}

func TestKeysExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, k := newKey(t, acme(), "ci", "reader", keys.Options{Life: time.Hour})
		unused, uk := newKey(t, acme(), "ci", "reader", keys.Options{Life: time.Hour})
		set := newSet(t, snapshot([]*tenant.Tenant{acme()}, k, uk))
		i := must(t, set, "acme", text)
		time.Sleep(time.Until(k.Expires) - time.Millisecond)
		if must(t, set, "acme", text) != i || !i.Valid() {
			t.Error("it ends too early")
		}
		time.Sleep(time.Millisecond)
		refuses(t, set, "acme", text)
		time.Sleep(time.Second)
		refuses(t, set, "acme", unused)
		if isHeld(i) || i.Valid() {
			t.Error("its streams go on")
		}
		longer := *k
		longer.Expires = time.Now().Add(time.Hour)
		set.Update(snapshot([]*tenant.Tenant{acme()}, &longer))
		if now := must(t, set, "acme", text); now == i || !now.Valid() {
			t.Error("a key with another end is not valid again")
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, k := newKey(t, acme(), "ci", "reader", keys.Options{Life: 2 * time.Hour, URIs: []string{"notes://**"}})
		set := newSet(t, snapshot([]*tenant.Tenant{acme()}, k))
		i := must(t, set, "acme", text)
		time.Sleep(30 * time.Minute)
		_, _, ending := keys.Rotate(k, 0, "uid 0")
		if !ending.Expires.Equal(k.Expires) {
			t.Errorf("the old key ends at %v, later than before", ending.Expires)
		}
		second, next, ending := keys.Rotate(k, time.Hour, "uid 0")
		if next.Expires.Sub(next.Created) != 2*time.Hour || next.ID == k.ID || next.Name != "ci" || next.URIs[0] != k.URIs[0] {
			t.Errorf("the next key is %+v", next)
		}
		set.Update(snapshot([]*tenant.Tenant{acme()}, next, ending))
		time.Sleep(30 * time.Minute)
		if must(t, set, "acme", text) != i || !i.Valid() {
			t.Error("the streams of the old key have ended within the grace")
		}
		later := must(t, set, "acme", second)
		time.Sleep(31 * time.Minute)
		refuses(t, set, "acme", text)
		if i.Valid() || !later.Valid() {
			t.Errorf("after the grace: the old key is valid: %t, the new one: %t", i.Valid(), later.Valid())
		}
		forever := *next
		forever.Expires = time.Time{}
		if _, next, ending := keys.Rotate(&forever, -1, ""); !next.Expires.IsZero() || ending.Expires.After(time.Now()) {
			t.Errorf("of a key that never expires: the next ends at %v, the old one at %v", next.Expires, ending.Expires)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestBadCredentialsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, k := newKey(t, acme(), "ci", "reader", keys.Options{})
		set := newSet(t, snapshot([]*tenant.Tenant{acme(), zoo()}, k))
		bad := func(of, address string, n int) error {
			_, err := set.Authenticator(of).Authenticate(auth.Credential{
				Authorization: fmt.Sprint("Bearer ", n), Address: netip.MustParseAddr(address),
			})
			return err
		}
		var tooMany *auth.TooManyError
		for n := range 10 {
			for range 3 { // the same one counts once
				if err := bad("acme", "192.0.2.1", n); err != auth.ErrInvalid {
					t.Errorf("%d: %v", n, err)
				}
			}
			_ = bad("acme", fmt.Sprintf("2001:db8::%x", n+1), n)
		}
		time.Sleep(20 * time.Second)
		if err := bad("acme", "192.0.2.1", 10); !errors.As(err, &tooMany) || tooMany.RetryAfter != 40*time.Second {
			t.Errorf("the eleventh: %v", err)
		}
		if err := bad("acme", "2001:db8::ffff", 10); !errors.As(err, &tooMany) {
			t.Errorf("of the same network: %v", err)
		}
		for _, err := range []error{bad("zoo", "192.0.2.1", 10), bad("acme", "192.0.2.2", 10), bad("acme", "2001:db8:0:1::1", 10)} {
			if err != auth.ErrInvalid {
				t.Errorf("others got %v", err)
			}
		}
		must(t, set, "acme", text) // from the same address
		if _, err := ask(set, "acme", ""); err != auth.ErrMissing {
			t.Errorf("without a credential: %v", err)
		}
		time.Sleep(40 * time.Second)
		if err := bad("acme", "192.0.2.1", 10); err != auth.ErrInvalid {
			t.Errorf("a minute later: %v", err)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestEachDecisionIsReported(t *testing.T) {
	open := acme()
	open.ID, open.Anonymous = "open", []string{"reader"}
	text, k := newKey(t, acme(), "ci", "reader", keys.Options{})
	got := map[string]int{}
	set := keys.NewSet(keys.Config{Decided: func(credential string, err error) { got[fmt.Sprint(credential, " ", err)]++ }})
	defer set.Close()
	set.Update(snapshot([]*tenant.Tenant{acme(), open}, k))
	for range 12 {
		_, _ = ask(set, "acme", text)
	}
	_, _ = ask(set, "acme", "")
	_, _ = ask(set, "acme", "wrong")
	_, _ = ask(set, "open", "")
	want := map[string]int{
		"key <nil>": 12, fmt.Sprint("none ", auth.ErrMissing): 1, fmt.Sprint("key ", auth.ErrInvalid): 1, "none <nil>": 1,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The key of a client stays valid while its roles change under it.
func TestUpdatesNeverRefuseAValidKey(t *testing.T) {
	text, k := newKey(t, acme(), "ci", "reader", keys.Options{})
	one, two := acme(), acme()
	two.Roles[1].Rules = two.Roles[0].Rules
	set := newSet(t, snapshot([]*tenant.Tenant{one}, k))
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			for range 20_000 {
				if _, err := ask(set, "acme", text); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		asking.Wait()
	}()
	for i := 0; ; i++ {
		select {
		case <-done:
			return
		default:
			set.Update(snapshot([]*tenant.Tenant{[]*tenant.Tenant{two, one}[i%2]}, k))
		}
	}
}

func TestUseIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(t.Context(), store.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		text, k := newKey(t, acme(), "ci", "reader", keys.Options{Never: true})
		_, unused := newKey(t, acme(), "ci", "reader", keys.Options{})
		c := tenant.Change{Owner: tenant.OwnerFiles, SetTenants: []*tenant.Tenant{acme()}, SetKeys: []*tenant.Key{k, unused}}
		if _, err := s.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		set := newSet(t, s.Snapshot())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			set.WriteUses(ctx, s, slog.New(slog.DiscardHandler))
		}()
		use := func() time.Time {
			must(t, set, "acme", text)
			return time.Now().UTC().Truncate(24 * time.Hour)
		}
		used := func() time.Time { return s.Snapshot().Keys[k.ID].LastUsed }
		first := use()
		if !used().IsZero() {
			t.Error("the use is written at once")
		}
		time.Sleep(2 * time.Minute)
		if !used().Equal(first) || !s.Snapshot().Keys[unused.ID].LastUsed.IsZero() {
			t.Errorf("used at %v, written is %v", first, used())
		}
		time.Sleep(time.Until(first.Add(24 * time.Hour))) // midnight
		second := use()
		cancel()
		<-done
		if !used().Equal(second) || second.Equal(first) {
			t.Errorf("used at %v, written is %v", second, used())
		}
		if err := errors.Join(set.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
}

// No header but that of the key is accepted, and none is an error that tells more than another.
func FuzzKey(f *testing.F) {
	text, k := newKey(f, acme(), "ci", "reader", keys.Options{Never: true})
	other, ok := newKey(f, zoo(), "ci", "reader", keys.Options{Never: true})
	set := newSet(f, snapshot([]*tenant.Tenant{acme(), zoo()}, k, ok))
	for _, seed := range []string{"Bearer " + text, "bearer  " + text + " ", "Bearer " + other, "Bearer", "Basic YTpi", "Bearer " + text[:30], "Bearer wr_aaaaaaaaaaaa_"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if header == "" {
			return
		}
		_, err := set.Authenticator("acme").Authenticate(auth.Credential{Authorization: header})
		is := len(header) > len("bearer ") && strings.EqualFold(header[:len("bearer ")], "bearer ") && strings.Trim(header[len("bearer "):], " ") == text
		var tooMany *auth.TooManyError
		if (err == nil) != is || err != nil && err != auth.ErrInvalid && !errors.As(err, &tooMany) {
			t.Fatalf("%q: %v", header, err)
		}
	})
}

func BenchmarkAuthenticate(b *testing.B) {
	text, k := newKey(b, acme(), "ci", "reader", keys.Options{})
	a := newSet(b, snapshot([]*tenant.Tenant{acme()}, k)).Authenticator("acme")
	c := auth.Credential{Authorization: "Bearer " + text, Address: home}
	for b.Loop() {
		if _, err := a.Authenticate(c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdate changes a tenant of 5,000 with 10,000 keys.
func BenchmarkUpdate(b *testing.B) {
	var all []*tenant.Tenant
	var list []*tenant.Key
	for i := range 5_000 {
		t := acme()
		t.ID = fmt.Sprint("t", i)
		all = append(all, t)
		for range 2 {
			_, k := newKey(b, t, "ci", "reader", keys.Options{})
			list = append(list, k)
		}
	}
	s := snapshot(all, list...)
	set := newSet(b, s)
	for b.Loop() {
		changed := *s.Tenants["t7"]
		s.Tenants["t7"] = &changed
		set.Update(s)
	}
}

// A key with the role canary may choose which version of a provider answers; one without may not.
func TestTheRoleCanaryChoosesVersions(t *testing.T) {
	of := acme()
	of.Roles = append(of.Roles, tenant.Role{Name: tenant.RoleCanary, Rules: []tenant.Rule{rule("read", "notes://**")}})
	may, mayKey := newKey(t, of, "ada", tenant.RoleCanary, keys.Options{})
	plain, plainKey := newKey(t, of, "bob", "editor", keys.Options{})
	set := newSet(t, snapshot([]*tenant.Tenant{of}, mayKey, plainKey))
	for text, want := range map[string]int{may: 7, plain: 0} {
		caller := &auth.Caller{Identity: must(t, set, "acme", text)}
		if caller.SetVersion("7"); caller.Version != want {
			t.Errorf("%s: got version %d, want %d", caller.Name(), caller.Version, want)
		}
	}
}

// isHeld reports whether what is begun for an identity may go on.
func isHeld(i *auth.Identity) bool {
	ended, release := i.Hold()
	defer release()
	return ended.Err() == nil
}
