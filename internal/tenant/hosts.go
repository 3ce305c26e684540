package tenant

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/wasmres/wasmres/internal/strict"
)

// settleHosts moves from right to problems the tenants that name a host of another one. A host stays with the tenant that
// has it, else the first by its ID gets it.
func (p *pass) settleHosts(right map[string]*entry, problems map[string]strict.Problems) {
	reserved, taken := p.reserved(), map[string]string{}
	var lost []string
	lose := func(id, host, text string) {
		e := right[id]
		delete(right, id)
		lost = append(lost, id)
		problems[id] = p.fail(e, func(t *Tenant) []string { return []string{"hosts", fmt.Sprint(slices.Index(t.Hosts, host))} }, "the host %s %s", host, text)
	}
	var named []string // IDs of tenants with hosts
	for id, e := range right {
		if len(e.tenant.Hosts) > 0 {
			named = append(named, id)
		}
	}
	slices.Sort(named)
	for _, id := range named {
		hosts := right[id].tenant.Hosts
		for _, host := range hosts {
			if slices.Contains(reserved, host) {
				lose(id, host, "is one by which clients reach all tenants: leave it out, or take it out of public_url and allowed_hosts in serve.yaml")
				break
			}
			if other := p.hasBefore(id, host, right, problems, taken); other != "" {
				lose(id, host, ofTenant(other))
				break
			}
		}
		if right[id] != nil {
			for _, host := range hosts {
				taken[host] = id
			}
		}
	}
	p.keepHosts(lost, right, taken, lose)
}

func ofTenant(id string) string {
	return "is that of the tenant " + id + ": remove it from one of them"
}

// hasBefore returns the tenant that has a host before the tenant of an ID; empty when there is none.
func (p *pass) hasBefore(id, host string, right map[string]*entry, problems map[string]strict.Problems, taken map[string]string) string {
	if other := taken[host]; other != "" {
		return other
	}
	old := p.previous.Hosts[host]
	if old == nil || old.ID == id {
		return ""
	}
	e := right[old.ID]
	stays := e == nil && (problems[old.ID] != nil || old.Owner != OwnerFiles)
	if stays || e != nil && slices.Contains(e.tenant.Hosts, host) {
		return old.ID
	}
	return ""
}

// keepHosts gives the tenants that have lost, and stay as they were, the hosts that they had. Those who took them lose.
func (p *pass) keepHosts(lost []string, right map[string]*entry, taken map[string]string, lose func(id, host, text string)) {
	for len(lost) > 0 {
		old := p.previous.Tenants[lost[0]]
		lost = lost[1:]
		if old == nil {
			continue
		}
		for _, host := range old.Hosts {
			if id := taken[host]; id != old.ID && right[id] != nil {
				lose(id, host, ofTenant(old.ID))
				lost = append(lost, id)
			}
		}
	}
}

// reserved returns the hosts that no tenant may have.
func (p *pass) reserved() []string {
	hosts := slices.Clone(p.settings.AllowedHosts)
	if u, err := url.Parse(p.settings.PublicURL); err == nil && u.Hostname() != "" {
		hosts = append(hosts, u.Hostname())
	}
	return hosts
}
