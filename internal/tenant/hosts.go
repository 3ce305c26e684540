package tenant

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/wasmres/wasmres/internal/strict"
)

// settleHosts moves from the right ones to problems the tenants that name a host of another one, and returns how many these
// are. A host stays with the tenant that has it, else the first by its ID gets it.
func (p *pass) settleHosts(problems map[string]strict.Problems) (losers int) {
	taken := map[string]string{}
	var lost []string
	lose := func(e *entry, host, text string) {
		e.right = false
		losers++
		lost = append(lost, e.id)
		problems[e.id] = p.fail(e, func(t *Tenant) []string { return []string{"hosts", fmt.Sprint(slices.Index(t.Hosts, host))} }, "the host %s %s", host, text)
	}
	for _, e := range p.open {
		if !e.right {
			continue
		}
		hosts := e.tenant.Hosts
		for _, host := range hosts {
			if p.isReserved(host) {
				lose(e, host, "is one by which clients reach all tenants: leave it out, or take it out of public_url and allowed_hosts in serve.yaml")
				break
			}
			if e.tenant == e.old {
				continue // it had all of its hosts before, and keeps them
			}
			if other := p.hasBefore(e.id, host, problems, taken); other != "" {
				lose(e, host, ofTenant(other))
				break
			}
		}
		if e.right && e.tenant != e.old {
			for _, host := range hosts {
				taken[host] = e.id
			}
		}
	}
	p.keepHosts(lost, taken, lose)
	return losers
}

func ofTenant(id string) string {
	return "is that of the tenant " + id + ": remove it from one of them"
}

// hasBefore returns the tenant that has a host before the tenant of an ID; empty when there is none.
func (p *pass) hasBefore(id, host string, problems map[string]strict.Problems, taken map[string]string) string {
	if other := taken[host]; other != "" {
		return other
	}
	old := p.previous.Hosts[host]
	if old == nil || old.ID == id {
		return ""
	}
	isRight := p.isRight(old.ID)
	stays := !isRight && (problems[old.ID] != nil || old.Owner != OwnerFiles)
	if stays || isRight && slices.Contains(p.of(old.ID).tenant.Hosts, host) {
		return old.ID
	}
	return ""
}

// keepHosts gives the tenants that have lost, and stay as they were, the hosts that they had. Those who took them lose.
func (p *pass) keepHosts(lost []string, taken map[string]string, lose func(e *entry, host, text string)) {
	for len(lost) > 0 {
		old := p.previous.Tenants[lost[0]]
		lost = lost[1:]
		if old == nil {
			continue
		}
		for _, host := range old.Hosts {
			if id := taken[host]; id != old.ID && p.isRight(id) {
				lose(p.of(id), host, ofTenant(old.ID))
				lost = append(lost, id)
			}
		}
	}
}

func (p *pass) isReserved(host string) bool { return slices.Contains(p.reserved, host) }

// reservedHosts returns the hosts that no tenant may have.
func reservedHosts(settings *Settings) []string {
	hosts := slices.Clone(settings.AllowedHosts)
	if u, err := url.Parse(settings.PublicURL); err == nil && u.Hostname() != "" {
		hosts = append(hosts, u.Hostname())
	}
	return hosts
}
