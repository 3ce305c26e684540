package tenant

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/strict"
)

// Bounds of the folder of tenants. Beyond them it is not read.
const (
	MaxFiles = 20_000    // files and folders in it
	MaxTotal = 256 << 20 // bytes of all files of tenants
)

// A Reader reads the files of tenants. It remembers what it has read, and reads again what has changed. Its zero value is
// ready. It is safe for concurrent use.
type Reader struct {
	mu       sync.Mutex        // guards the fields below, while files are read
	folder   string            // whose files these are
	entries  map[string]*entry // by the names of files
	sorted   []*entry          // the same, by ID and name
	policies policyFiles
	plans    map[string]*Plan // by which tenants were checked; equal ones keep their pointer

	// by which entries were settled in the last pass
	previous *Snapshot // nil for none
	reserved []string  // hosts that no tenant may have
}

// A Reading is what the files of tenants have become.
type Reading struct {
	// Change makes the snapshot before it equal to the files. It has only what differs.
	Change Change
	// Problems are those of each tenant whose file is wrong, by ID; of files whose name is no ID, by that name. Such a tenant
	// is not in Change.
	Problems map[string]strict.Problems
	// Policies are the absolute paths of the policy files that tenants name, sorted.
	Policies []string
	// Tenants counts the files that are right, and Read those that were read again.
	Tenants, Read int
}

// An entry is what is known of one file of a tenant. Its first fields are those that each pass looks at.
type entry struct {
	file     string // name in the folder
	stamp    stamp
	readAt   time.Time
	policies []*policyFile // as they were used
	missing  []string      // absolute paths of files that the tenant lacks
	pass     uint64        // in which the file was there last
	same     bool          // in this pass: the files are as they were
	settled  bool          // in this pass: the files are right, and all that they say is served already
	read     bool          // in this pass
	right    bool          // in this pass, other tenants included

	id  string  // of the tenant; empty if the name of the file is wrong
	old *Tenant // in the snapshot before; nil for none
	sum [sha256.Size]byte

	tenant   *Tenant         // nil if there are problems
	problems strict.Problems // of the file and its policies
	root     *strict.Node    // of the file, for the places of further problems; nil until there is one

	plan         *Plan // by which planProblems were found
	planProblems strict.Problems
}

// ReadTenants reads the files NAME.yaml in Settings.Tenants, each of which is the tenant of that name. A nil previous is an
// empty snapshot. A tenant with a problem is not in the change, so that it stays as it was; a file that is gone removes its
// tenant. The error is about the folder itself: then nothing is to be changed.
func (r *Reader) ReadTenants(s *Settings, previous *Snapshot) (*Reading, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.folder != s.Tenants {
		r.folder, r.entries, r.sorted = s.Tenants, map[string]*entry{}, nil
	}
	if previous == nil {
		previous = &Snapshot{}
	}
	root, err := os.OpenRoot(s.Tenants)
	if err != nil {
		return nil, fmt.Errorf("read the folder of tenants: %w: make the folder, or set tenants in serve.yaml", err)
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("read the folder of tenants: %w", err)
	}
	defer dir.Close()
	p := &pass{Reader: r, root: root, dir: dir, fd: dir.Fd(), settings: s, previous: previous}
	r.policies.begin()
	r.unsettle(previous, r.setPlans(s.Plans, previous.Plans), reservedHosts(s))
	if err := p.readAll(); err != nil {
		return nil, err
	}
	return p.reading(), nil
}

// unsettle begins a pass with a snapshot and reserved hosts: entries stay settled of which nothing of that has changed since the last one.
func (r *Reader) unsettle(previous *Snapshot, isSamePlans bool, reserved []string) {
	before := r.previous
	isSame := before != nil && isSamePlans && slices.Equal(reserved, r.reserved)
	r.previous, r.reserved = previous, reserved
	if isSame && previous == before {
		return
	}
	var changed []string
	if isSame {
		changed = previous.ChangedSince(before)
	}
	if !isSame || len(changed) >= len(r.sorted) {
		for _, e := range r.sorted {
			e.settled = false
		}
		return
	}
	for _, id := range changed {
		if e := r.of(id); e != nil {
			e.settled = false
		}
	}
}

// setPlans takes the plans of settings, and those of the API, and reports whether all are those of the last pass. A plan that is as it
// was stays the same one, so that tenants need no check.
func (r *Reader) setPlans(plans, before map[string]*Plan) (isSame bool) {
	next := make(map[string]*Plan, len(plans))
	for name, plan := range before {
		if plan.Owner == OwnerAPI {
			next[name] = plan
		}
	}
	for name, plan := range plans {
		if old := r.plans[name]; reflect.DeepEqual(old, plan) {
			plan = old
		}
		next[name] = plan
	}
	isSame = maps.Equal(r.plans, next)
	r.plans = next
	return isSame
}

// list returns the names of the files that may be those of tenants, about so many, in no order. One may be in it twice.
func list(dir *os.File, folder string, about int) (names []string, err error) {
	names = make([]string, 0, about)
	for seen := 0; ; {
		some, err := dir.Readdirnames(1024)
		if seen += len(some); seen > MaxFiles {
			return nil, fmt.Errorf("the folder of tenants, %s, has more than %d files: move away what is no tenant, or use several servers", folder, MaxFiles)
		}
		for _, name := range some {
			if !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")) {
				names = append(names, name)
			}
		}
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the folder of tenants: %w", err)
		}
	}
}

// A pass reads all files once.
type pass struct {
	*Reader
	root     *os.Root
	dir      *os.File // the folder
	fd       uintptr  // of dir
	settings *Settings
	previous *Snapshot
	open     []*entry     // those of sorted that are not settled
	total    atomic.Int64 // bytes of the files
	hasAll   bool         // all tenants of previous have a file, as reading finds
}

// each calls do for each of some entries, on all processors.
func each(entries []*entry, do func(*entry)) {
	const some = 32 // that one goroutine takes at a time
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(entries)+some-1)/some) {
		all.Go(func() {
			for to := int(next.Add(some)); to-some < len(entries); to = int(next.Add(some)) {
				for _, e := range entries[to-some : min(to, len(entries))] {
					do(e)
				}
			}
		})
	}
	all.Wait()
}

// readAll makes the entries those of the files. The files that are known are looked at while the folder is read: both take long.
func (p *pass) readAll() error {
	var names []string
	var err error
	var listing sync.WaitGroup
	listing.Go(func() { names, err = list(p.dir, p.folder, len(p.sorted)+10) })
	each(p.sorted, p.begin)
	listing.Wait()
	if err != nil {
		return err
	}
	p.setEntries(names)
	var others []*entry
	for _, e := range p.sorted {
		if !e.settled {
			p.open = append(p.open, e)
		}
		if !e.same {
			others = append(others, e)
		}
	}
	var mu sync.Mutex
	infos := map[*entry]fs.FileInfo{} // guarded by mu
	each(others, func(e *entry) {
		e.read, e.old, e.settled = false, p.previous.Tenants[e.id], false
		if info := p.stat(e); info != nil {
			mu.Lock()
			defer mu.Unlock()
			infos[e] = info
		}
	})
	if total := p.total.Load(); total > MaxTotal {
		return fmt.Errorf("the files of tenants in %s have more than %d bytes in all: use several servers", p.folder, MaxTotal)
	}
	each(slices.Collect(maps.Keys(infos)), func(e *entry) { p.look(e, infos[e]) })
	return nil
}

// begin notes of an entry what can be known without the others. Thousands of entries are not in the caches of a processor, so that
// touching each once more takes longer than what is done with it: of one that is settled, and as it was, begin touches the first fields.
func (p *pass) begin(e *entry) {
	e.same = p.isSame(e)
	if e.same && e.settled {
		return
	}
	e.read, e.settled = false, false
	if !e.same {
		return
	}
	e.old = p.previous.Tenants[e.id]
	e.settled = e.tenant != nil && e.tenant == e.old && e.plan != nil && e.plan == p.planOf(e.tenant) && len(e.planProblems) == 0 &&
		!slices.ContainsFunc(e.tenant.Hosts, p.isReserved)
	e.right = e.settled
}

func (p *pass) planOf(t *Tenant) *Plan { return p.plans[cmp.Or(t.Plan, DefaultPlan)] }

// setEntries makes the entries those of the names of files. Nearly always they are already.
func (p *pass) setEntries(names []string) {
	now := p.policies.pass
	there, isNew := 0, false
	for _, name := range names {
		e := p.entries[name]
		if e == nil {
			e = newEntry(name)
			p.entries[name], isNew = e, true
		}
		if e.pass != now {
			e.pass = now
			there++
		}
	}
	if !isNew && there == len(p.sorted) {
		return
	}
	maps.DeleteFunc(p.entries, func(_ string, e *entry) bool { return e.pass != now })
	p.sorted = slices.SortedFunc(maps.Values(p.entries), func(a, b *entry) int {
		return cmp.Or(strings.Compare(a.id, b.id), strings.Compare(a.file, b.file))
	})
}

// newEntry makes the entry of a file that was not read yet.
func newEntry(file string) *entry {
	e := &entry{file: file}
	if id, found := strings.CutSuffix(file, ".yaml"); found && IsID(id) {
		e.id = id
	}
	return e
}

// of returns the entry of a tenant; nil if it has no file.
func (r *Reader) of(id string) *entry { return r.entries[id+".yaml"] }

// isRight reports whether a tenant has a file that is right.
func (r *Reader) isRight(id string) bool {
	e := r.of(id)
	return e != nil && e.right
}

// path returns the absolute path of a file in the folder.
func (p *pass) path(e *entry) string { return filepath.Join(p.folder, e.file) }

// isSame reports whether the files that an entry was made of are as they were. It is quick for a regular file, of which it
// counts the bytes then.
func (p *pass) isSame(e *entry) bool {
	s, ok := quickStamp(p.fd, e.file)
	if !ok || s != e.stamp || !s.holds(e.readAt) || !p.isCurrent(e) {
		return false
	}
	p.total.Add(min(s.size, strict.MaxSize))
	return true
}

// stat returns what the file of an entry is. It returns nil if the entry has to say that there is no file.
func (p *pass) stat(e *entry) fs.FileInfo {
	if e.id == "" {
		p.failName(e)
		return nil
	}
	info, err := p.follow(e.file)
	if err != nil {
		p.failFile(e, err)
		return nil
	}
	p.total.Add(min(info.Size(), strict.MaxSize))
	return info
}

// follow follows a link within the folder.
func (p *pass) follow(name string) (fs.FileInfo, error) {
	info, err := p.root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return p.root.Stat(name)
	}
	return info, err
}

// look reads the file of an entry, unless it is as it was.
func (p *pass) look(e *entry, info fs.FileInfo) {
	if e.stamp != stampOf(info) || !e.stamp.holds(e.readAt) || !p.isCurrent(e) {
		p.readEntry(e, info, false)
	}
}

// isCurrent reports whether the other files that an entry was made of are as they were.
func (p *pass) isCurrent(e *entry) bool {
	return !slices.ContainsFunc(e.policies, func(f *policyFile) bool { return !p.policies.isCurrent(f) }) &&
		!slices.ContainsFunc(e.missing, func(name string) bool { return isFile(name) == nil })
}

// readEntry reads the file of an entry. It parses it, for its places, if parse is set, or if the content or another file has changed.
func (p *pass) readEntry(e *entry, info fs.FileInfo, parse bool) {
	at := time.Now()
	text, info, err := readFile(info, func() (*os.File, error) { return p.root.OpenFile(e.file, openFlags, 0) })
	if err != nil {
		p.failFile(e, err)
		return
	}
	sum := sha256.Sum256(text)
	same := !parse && sum == e.sum && (e.tenant != nil || e.problems != nil) && p.isCurrent(e)
	e.stamp, e.readAt, e.sum = stampOf(info), at, sum
	if same {
		return
	}
	e.read, e.plan, e.planProblems = true, nil, nil
	if !parse && p.reuse(e) {
		return
	}
	p.parse(e, text, parse)
}

// reuse takes the tenant of the previous snapshot, if it was made of these very files, perhaps by another process.
func (p *pass) reuse(e *entry) bool {
	old := p.previous.Tenants[e.id]
	if old == nil || old.Owner != OwnerFiles || len(old.Files) == 0 || old.Files[0] != p.path(e) {
		return false
	}
	var used []*policyFile
	for _, name := range old.Files[1:] {
		used = append(used, p.policies.get(name))
	}
	if _, digest := p.digest(e, used); digest != old.Digest {
		return false
	}
	for i := range old.Providers {
		if name := old.Providers[i].Module; filepath.IsAbs(name) && isFile(name) != nil {
			return false
		}
	}
	e.tenant, e.problems, e.policies, e.missing, e.root = old, nil, used, nil, nil
	return true
}

func (p *pass) digest(e *entry, used []*policyFile) (names []string, digest string) {
	parts := make([]part, len(used))
	for i, f := range used {
		parts[i] = part{f.name, f.sum}
	}
	return combine(part{p.path(e), e.sum}, parts)
}

// parse makes the tenant of a text. It keeps the places of all values, which take more memory than the tenant, if keep is set.
func (p *pass) parse(e *entry, text []byte, keep bool) {
	r := &tenantReader{document: document{name: p.path(e)}, folder: p.folder, policies: p.policies.get, hasFile: isFile, url: p.settings.ServerURL()}
	t := r.read(e.id, text)
	e.policies, e.missing, e.problems, e.root = r.used, r.missing, r.problems, nil
	if len(e.problems) > 0 {
		e.tenant = nil
		return
	}
	if keep {
		e.root = &r.root
	}
	t.Files, t.Digest = p.digest(e, e.policies)
	if old := p.previous.Tenants[e.id]; old != nil && old.Owner == OwnerFiles && old.Digest == t.Digest {
		t = old
	}
	e.tenant = t
}

// failFile makes an entry one that has to be read again.
func (p *pass) failFile(e *entry, err error) {
	text := reason(err).Error()
	if strings.Contains(text, "path escapes") {
		text = "the link leads out of the folder of tenants: copy the file there"
	}
	e.setProblem(strict.Problem{File: p.path(e), Text: "the file cannot be read: " + text})
}

func (p *pass) failName(e *entry) {
	text := "a tenant's file has a name of lower-case letters, digits and dashes, at most 63, and ends in .yaml: rename it"
	if base, isYML := strings.CutSuffix(e.file, ".yml"); isYML && IsID(base) {
		text = "the name ends in .yml: rename it to " + base + ".yaml"
	}
	e.setProblem(strict.Problem{File: filepath.Join(p.folder, shown(e.file)), Text: text})
}

// setProblem makes an entry one with a problem, of which nothing else is known.
func (e *entry) setProblem(why strict.Problem) {
	*e = entry{file: e.file, id: e.id, pass: e.pass, old: e.old, problems: strict.Problems{why}}
}

// shown returns the name of a file as a person may see it.
func shown(name string) string { return printable.Line(strict.Clip(name)) }

// reading compares the entries with the previous snapshot.
func (p *pass) reading() *Reading {
	r := &Reading{}
	before, known := p.previous, len(p.sorted)-len(p.open)
	for _, e := range p.open {
		if e.read {
			r.Read++
		}
		if e.old != nil {
			known++
		}
	}
	p.hasAll = known == len(before.Tenants)
	right, problems, lost := p.divide()
	for n := 0; lost && n < right; { // a tenant without its host gets one that another tenant leaves now
		n = right
		p.previous = p.with(before, problems)
		right, problems, lost = p.divide()
	}
	p.previous = before
	r.Tenants, r.Problems, r.Policies = right, problems, slices.Sorted(maps.Keys(p.policies.names))
	r.Change = p.change(problems)
	return r
}

// divide finds the right entries. It returns how many there are, and the problems of the others, as [Reading.Problems] has
// them, and reports whether some are wrong only since others have their hosts.
func (p *pass) divide() (right int, problems map[string]strict.Problems, lost bool) {
	problems, right = map[string]strict.Problems{}, len(p.sorted)-len(p.open)
	for _, e := range p.open {
		if e.id == "" {
			problems[shown(e.file)] = e.problems
			continue
		}
		found := p.problems(e)
		if e.right = len(found) == 0; e.right {
			right++
		} else {
			problems[e.id] = found
		}
	}
	p.checkGiven(problems)
	losers := p.settleHosts(problems)
	return right - losers, problems, losers > 0
}

// checkGiven finds the tenants of the API that the plans of settings no longer allow. They are served as they are.
func (p *pass) checkGiven(problems map[string]strict.Problems) {
	if p.hasAll {
		return // those of the API have a file, and with that a problem
	}
	for id, t := range p.previous.Tenants {
		if t.Owner != OwnerAPI || problems[id] != nil {
			continue
		}
		plan := p.planOf(t)
		if plan == nil {
			problems[id] = strict.Problems{{File: "tenant " + id, Text: fmt.Sprintf("there is no plan %s in serve.yaml any more: add it, or give the tenant another one", t.Plan)}}
			continue
		}
		for i := range t.Providers {
			if err := plan.Permits(&t.Providers[i].Policy); err != nil {
				problems[id] = append(problems[id], strict.Problem{File: "tenant " + id, Text: fmt.Sprintf("provider %s: %v", t.Providers[i].Name, err)})
			}
		}
	}
}

// with returns what a snapshot becomes by the right entries, as far as hosts are concerned. Tenants with problems stay.
func (p *pass) with(s *Snapshot, problems map[string]strict.Problems) *Snapshot {
	next := *s
	next.Tenants, next.Hosts = map[string]*Tenant{}, map[string]*Tenant{}
	for id, t := range s.Tenants {
		if t.Owner != OwnerFiles || problems[id] != nil {
			next.Tenants[id] = t
		}
	}
	for _, e := range p.sorted {
		if e.right {
			next.Tenants[e.id] = e.tenant
		}
	}
	for _, t := range next.Tenants {
		for _, host := range t.Hosts {
			next.Hosts[host] = t
		}
	}
	return &next
}

// problems returns those of an entry, other tenants aside.
func (p *pass) problems(e *entry) strict.Problems {
	if len(e.problems) > 0 {
		return e.problems
	}
	id := e.id
	if e.old != nil && e.old.Owner != OwnerFiles {
		return strict.Problems{{File: p.path(e), Text: fmt.Sprintf("the tenant %s was made by the API, which owns it: "+
			"remove the file, or give it to files with 'wasmres tenant adopt %s --owner files'", id, id)}}
	}
	if at, isGone := p.previous.Gone[id]; isGone && p.previous.GoneOwners[id] != OwnerFiles {
		return strict.Problems{{File: p.path(e), Text: fmt.Sprintf("a tenant %s was made by the API and removed on %s, "+
			"which keeps the ID for 30 days: rename the file", id, at.Format(time.DateOnly))}}
	}
	plan := p.planOf(e.tenant)
	if plan == nil {
		_, err := strict.Word("plan", e.tenant.Plan, slices.Sorted(maps.Keys(p.plans)))
		return p.fail(e, func(*Tenant) []string { return []string{"plan"} }, "%v", err)
	}
	if e.plan != plan {
		found := p.checkPlan(e, plan)
		e.plan, e.planProblems = plan, found
	}
	return e.planProblems
}

// checkPlan returns the problems of a tenant with its plan.
func (p *pass) checkPlan(e *entry, plan *Plan) (found strict.Problems) {
	providers := e.tenant.Providers
	for i := range providers {
		if key, err := checkEngines(providers[i].Engine, providers[i].Shadow); err != nil {
			at := []string{"providers", providers[i].Name, key}
			found = append(found, p.fail(e, func(*Tenant) []string { return at }, "%v", err)...)
		}
		if err := plan.Permits(&providers[i].Policy); err != nil {
			at := []string{"providers", providers[i].Name, "policy"}
			found = append(found, p.fail(e, func(*Tenant) []string { return at }, "%v", err)...)
		}
	}
	return found
}

// fail returns a problem of a right file, at the end of the path of keys that at gives. It parses the file for its place.
func (p *pass) fail(e *entry, at func(*Tenant) []string, text string, args ...any) strict.Problems {
	if e.root == nil {
		if info, err := p.follow(e.file); err == nil {
			p.readEntry(e, info, true)
		}
	}
	if len(e.problems) > 0 {
		return e.problems // the file has just changed
	}
	var n strict.Node
	if e.root != nil {
		n = e.root.At(at(e.tenant)...)
	}
	return strict.Problems{{File: p.path(e), Line: n.Line, Column: n.Column, Text: fmt.Sprintf(text, args...)}}
}

// change returns what makes the previous snapshot equal to the right entries.
func (p *pass) change(problems map[string]strict.Problems) Change {
	c := Change{Base: p.previous.Generation, Actor: string(OwnerFiles), Owner: OwnerFiles}
	for _, e := range p.open {
		if e.right && e.tenant != e.old && (e.old == nil || e.old.Digest != e.tenant.Digest) {
			c.SetTenants = append(c.SetTenants, e.tenant)
		}
	}
	if !p.hasAll {
		for id, old := range p.previous.Tenants {
			if old.Owner == OwnerFiles && p.of(id) == nil && problems[id] == nil {
				c.RemoveTenants = append(c.RemoveTenants, id)
			}
		}
		slices.Sort(c.RemoveTenants)
	}
	texts := map[string]string{}
	for id, found := range problems {
		texts[id] = found.Error()
	}
	if !maps.Equal(texts, p.previous.Problems) {
		c.SetProblems = texts
	}
	ofFiles := maps.Clone(p.previous.Plans)
	maps.DeleteFunc(ofFiles, func(_ string, plan *Plan) bool { return plan.Owner == OwnerAPI })
	if !reflect.DeepEqual(p.settings.Plans, ofFiles) {
		for _, name := range slices.Sorted(maps.Keys(p.settings.Plans)) {
			c.SetPlans = append(c.SetPlans, p.settings.Plans[name])
		}
	}
	return c
}

// Empty reports whether c changes nothing.
func (c *Change) Empty() bool {
	return len(c.SetTenants)+len(c.RemoveTenants)+len(c.SetKeys)+len(c.RemoveKeys)+len(c.SetAdminKeys)+len(c.RemoveAdminKeys)+
		len(c.SetSecrets)+len(c.RemoveSecrets) == 0 && c.SetProblems == nil && c.SetPlans == nil && len(c.PutPlans)+len(c.RemovePlans) == 0
}
