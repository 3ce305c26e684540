package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const (
	day        = 24 * time.Hour
	daysKept   = 7  // for which a day's number is kept
	recentKept = 10 // words
)

// remember notes that a word was looked up, and tells whoever follows what has changed. Several requests may do so at
// once, in several processes: each number is right, whoever is quicker.
func remember(r *wasmres.Request, word string) error {
	now := r.Now().UTC()
	n := notes{}
	n.put("since", []byte(now.Format(time.RFC3339)+"\n"))
	n.update("lookups", increment)
	n.update("lookups/"+word, increment)
	n.update("days/"+now.Format(time.DateOnly), increment, wasmres.TTL(daysKept*day))
	n.update("recent", func(old []byte) ([]byte, error) { return first(word, old), nil }, wasmres.TTL(day))
	return n.tell()
}

// notes are changes of values.
type notes struct {
	changed []string // keys
	came    bool     // one that was not there before
	err     error    // the first one; nothing is done after it
}

// put puts a value where there is none.
func (n *notes) put(key string, value []byte) {
	if n.err != nil {
		return
	}
	switch _, err := wasmres.KV().Put(key, value, wasmres.IfAbsent()); err {
	case nil:
		n.changed, n.came = append(n.changed, key), true
	case wasmres.ErrConflict: // it is there
	default:
		n.err = err
	}
}

// update changes a value, which is nil when there is none.
func (n *notes) update(key string, change func(old []byte) ([]byte, error), options ...wasmres.PutOption) {
	if n.err != nil {
		return
	}
	isNew := false
	_, n.err = wasmres.KV().Update(key, func(old []byte) ([]byte, error) {
		isNew = old == nil
		return change(old)
	}, options...)
	if n.err == nil {
		n.changed, n.came = append(n.changed, key), n.came || isNew
	}
}

// tell sends the notices, and gives what went wrong.
func (n *notes) tell() error {
	for _, key := range n.changed {
		if err := wasmres.NotifyUpdated(contextURI + key); err != nil {
			return err
		}
	}
	if n.came {
		if err := wasmres.NotifyListChanged(); err != nil {
			return err
		}
	}
	return n.err
}

// increment adds one to a number; one that cannot be read begins anew.
func increment(old []byte) ([]byte, error) {
	n, _ := strconv.Atoi(strings.TrimSpace(string(old)))
	return []byte(strconv.Itoa(n+1) + "\n"), nil
}

// first puts a word before others, where it stands only once.
func first(word string, others []byte) []byte {
	words := slices.DeleteFunc(strings.Fields(string(others)), func(other string) bool { return other == word })
	words = slices.Insert(words, 0, word)
	return []byte(strings.Join(words[:min(len(words), recentKept)], "\n") + "\n")
}
