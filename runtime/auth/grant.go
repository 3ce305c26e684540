package auth

import (
	"fmt"
	"slices"
	"strings"
)

// An Action is a set of things that a client does with resources. Its zero value is none.
type Action uint8

// The actions. A URI that a client may not List may still be one that it may Read.
const (
	List     Action = 1 << iota // see it in lists, and templates of it
	Read                        // get its contents by MCP
	Watch                       // subscribe to its changes
	Complete                    // see it in completions of a template
	Download                    // get its bytes by a GET
)

// AllActions are all actions.
const AllActions = List | Read | Watch | Complete | Download

// actions is how many actions there are, and actionNames are their names.
const actions = 5

var actionNames = [actions]string{"list", "read", "watch", "complete", "download"}

// ParseAction returns the action of a name: list, read, watch, complete or download.
func ParseAction(name string) (Action, error) {
	i := slices.Index(actionNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("%.64q is not an action: expected %s", name, strings.Join(actionNames[:], ", "))
	}
	return 1 << i, nil
}

// String returns the names of the actions.
func (a Action) String() string {
	var names []string
	for i, name := range actionNames {
		if a&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// A Grant permits actions on URIs. Its zero value permits nothing.
type Grant struct {
	Actions   Action
	URIs      []Pattern // of any of these; none permits nothing
	Providers []string  // only on URIs that belong to these providers, by their names; none is all
	// Scope is the scope that a token must have for it; empty for none. Only [NewScopedIdentity] regards it.
	Scope string
}

// FullAccess returns what permits all actions on the URIs of any of the patterns. Without a pattern it permits nothing.
func FullAccess(uris ...Pattern) []Grant {
	return []Grant{{Actions: AllActions, URIs: uris}}
}
