package node

import (
	"cmp"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/tenant"
)

// Quotas returns what a tenant uses of its plan; nil for an unknown one.
func (n *Node) Quotas(id string) []admin.Quota {
	s := n.Snapshot()
	t := s.Tenants[id]
	if t == nil {
		return nil
	}
	plan := s.PlanOf(t)
	used := n.quotas.State(id, plan)
	modules := 0.0
	for _, size := range s.ModulesOf(id) {
		modules += float64(size)
	}
	processes, memory := n.Live(id)
	mostProcesses, mostMemory, _ := plan.Live()
	return []admin.Quota{
		{Limit: "requests at once", Used: float64(used.Running), Most: float64(used.Concurrent)},
		{Limit: "streams", Used: float64(used.Streams), Most: float64(used.MostStreams)},
		{Limit: "sessions", Used: float64(used.Sessions), Most: float64(used.MostSessions)},
		{Limit: "processor time today", Unit: admin.UnitSeconds, Used: used.Today.CPU.Seconds(), Most: used.MostToday.CPU.Seconds()},
		{Limit: "answers today", Unit: admin.UnitBytes, Used: float64(used.Today.Bytes), Most: float64(used.MostToday.Bytes)},
		{Limit: "live providers", Used: float64(processes), Most: float64(mostProcesses)},
		{Limit: "memory of live providers", Unit: admin.UnitBytes, Used: float64(memory), Most: float64(mostMemory)},
		{Limit: "modules", Unit: admin.UnitBytes, Used: modules, Most: float64(cmp.Or(plan.Modules, tenant.DefaultModules))},
	}
}
