package mcp

// A Revision is a protocol revision, as in "2026-07-28". Revisions order as strings.
type Revision string

// The revisions that differ for resources.
const (
	Revision20251125 Revision = "2025-11-25" // newest with a handshake
	Revision20260728 Revision = "2026-07-28" // first without sessions
)

// Modern reports whether requests of this revision stand alone, with their revision in _meta.
func (r Revision) Modern() bool { return r >= Revision20260728 }

// structured reports whether results of tools may have structured content and links to resources in this revision.
func (r Revision) structured() bool { return r >= "2025-06-18" }

// audio reports whether results of tools may have audio content in this revision.
func (r Revision) audio() bool { return r >= "2025-03-26" }

// Legacy reports whether r is one of the revisions that open with a handshake.
func (r Revision) Legacy() bool {
	switch r {
	case "2024-11-05", "2025-03-26", "2025-06-18", Revision20251125:
		return true
	}
	return false
}

// The revisions a server offers, as a JSON array, newest first.
const (
	modernRevisions = `["2026-07-28"]`
	allRevisions    = `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`
)
