package tenant

import (
	"maps"
	"reflect"
	"slices"
)

// A Changed says how a [Snapshot] differs from one of an earlier generation.
type Changed struct {
	Since uint64 // the earlier generation, of the same [Store]
	// Tenants are the IDs of those that were set or removed, or of which a version, a route or a secret was. Their keys do not
	// count. Some may have become what they were.
	Tenants []string
}

// ChangedSince returns the IDs of all tenants that may differ from those of an earlier snapshot of the same [Store]: by themselves,
// or by their plan, a version, a route or a secret. Their keys do not count. It takes as long as there are such tenants where
// Changed says which, and else it returns all of both snapshots.
func (s *Snapshot) ChangedSince(before *Snapshot) []string {
	if s.Changed != nil {
		switch before.Generation {
		case s.Generation:
			return nil
		case s.Changed.Since:
			return s.Changed.Tenants
		}
	}
	all := slices.AppendSeq(make([]string, 0, len(s.Tenants)), maps.Keys(s.Tenants))
	for id := range before.Tenants {
		if s.Tenants[id] == nil {
			all = append(all, id)
		}
	}
	return all
}

// IsSameMap reports whether two values are one map, so that nothing in it differs: a [Store] leaves the maps of a snapshot as they
// are in which nothing changes.
func IsSameMap[K comparable, V any](a, b map[K]V) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}
