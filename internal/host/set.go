package host

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A set is some open providers of a tenant, which are served as one.
type set struct {
	members  []*sharedMember
	combined *runtime.Combined // nil for one provider by itself, and for none
	source   resource.Source
}

type (
	sharedMember = shared[*spec, *member]
	sharedSet    = shared[[]*sharedMember, *set]
)

// isSameMembers reports whether two sets are of the same providers in the same order, so that one set does for both.
func isSameMembers(a, b []*sharedMember) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// openSet opens those providers that are not open yet, and returns the set of all. The caller releases it.
func (r *route) openSet(ctx context.Context, specs []*spec) (_ *sharedSet, err error) {
	var members []*sharedMember
	for _, s := range specs {
		m, err := r.members.acquire(s, func() (*member, error) { return r.openMember(ctx, s) })
		if err != nil {
			return nil, errors.Join(err, releaseAll(members))
		}
		members = append(members, m)
	}
	if s := r.sets.find(members); s != nil {
		return s, releaseAll(members) // s has its own use of each, so that this closes none
	}
	s, err := r.sets.acquire(members, func() (*set, error) { return r.combine(members) })
	if err != nil {
		return nil, errors.Join(err, releaseAll(members))
	}
	return s, nil
}

func releaseAll(members []*sharedMember) error {
	var errs []error
	for _, m := range members {
		errs = append(errs, m.release())
	}
	return errors.Join(errs...)
}

// combine makes a set, which releases the members in the end.
func (r *route) combine(members []*sharedMember) (*set, error) {
	s := &set{members: members, source: nothing{}}
	switch {
	case len(members) == 0:
		return s, nil
	case len(members) == 1 && len(members[0].key.provider.Prefixes) == 0:
		s.source = members[0].value.Source()
		return s, nil
	}
	var providers []*runtime.Provider
	for _, m := range members {
		providers = append(providers, m.value.Provider())
	}
	combined, err := runtime.CombineWithKey(r.cursors, providers...)
	if err != nil {
		return nil, err
	}
	s.combined, s.source = combined, combined.Source()
	return s, nil
}

// Close releases the members.
func (s *set) Close() error {
	var err error
	if s.combined != nil {
		err = s.combined.Close()
	}
	return errors.Join(err, releaseAll(s.members))
}

// mark returns what answers for a URI, or what makes the list if it is zero; nil if no provider has it.
func (s *set) mark(uri abi.URI) any {
	if uri.IsZero() {
		return s
	}
	name, ok := resource.OwnerOf(s.source, uri)
	if !ok {
		return nil
	}
	for _, m := range s.members {
		if m.value.Provider().Name() == name {
			return m
		}
	}
	return nil
}
