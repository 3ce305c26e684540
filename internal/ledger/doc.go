// Package ledger writes what a server has decided into files whose changes show, and verifies them without a server.
//
// A ledger is a folder. Its files NNNNNNNNNNNNNNNN.jsonl, named by the number of their first entry, have one entry on each line.
// Each entry has the hash of the one before it, so an entry that was changed, removed or moved no longer fits. Only the end
// could be cut off unseen. So a server signs heads, which are the hash of the newest entry: every hour and when it ends. It
// writes them to heads.jsonl and to its log.
package ledger
