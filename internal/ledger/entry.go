package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// An Entry is something that happened. Texts that are longer than the bounds of this package are cut, and invalid UTF-8 is
// replaced. It must not have secrets.
type Entry struct {
	Actor  string `json:"actor,omitempty"`  // who did it, as in "files", "uid 1000" or "key k7q2mzm5x3fd"
	Via    string `json:"via,omitempty"`    // how the actor reached the server, as in "socket", "https" or "signal"
	Tenant string `json:"tenant,omitempty"` // ID of the tenant that it concerns; empty for the server
	Action string `json:"action"`           // what was done, as in "key.create"; required
	Object string `json:"object,omitempty"` // with what, as in the ID of a key
	// Before and After say what the object was and what it has become.
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Outcome string `json:"outcome,omitempty"` // empty for success
	// Generation is that of the configuration after the entry. In the files, an entry without one has that of the entry
	// before it.
	Generation uint64 `json:"generation,omitempty"`
}

// A Line is an entry as it stands in a ledger.
type Line struct {
	Seq  uint64    // from 1
	Time time.Time // in UTC, to the millisecond
	Node string    // ID of the server's key
	// Batch is the number of the first entry that was written to the disk together with this one, in entries behind that; else zero.
	Batch uint64
	Entry
	Prev, Hash Hash // of the line before, zero for the first; of this line
}

// A Hash is the SHA-256 of the hash of the line before and of the line without its own hash.
type Hash [sha256.Size]byte

// String returns the form "sha256:9f86…".
func (h Hash) String() string { return "sha256:" + hex.EncodeToString(h[:]) }

// ParseHash reads what String returns.
func ParseHash(s string) (h Hash, err error) {
	digits, ok := strings.CutPrefix(s, "sha256:")
	if n, err := hex.Decode(h[:], []byte(digits[:min(len(digits), 2*len(h))])); !ok || err != nil || n != len(h) || len(digits) != 2*len(h) {
		return Hash{}, errors.New(`it is not a hash: write it like sha256:9f86…, with 64 digits`)
	}
	return h, nil
}

// Bounds of texts, in bytes.
const (
	maxName  = 256  // of each text of an entry but Object, Before and After
	maxState = 2048 // of each of these
	maxLine  = 64 << 10
)

const timeFormat = "2006-01-02T15:04:05.000Z"

// row is a line in JSON, without its hash.
type row struct {
	Seq   uint64 `json:"seq"`
	Time  string `json:"time"`
	Node  string `json:"node"`
	Batch uint64 `json:"batch,omitempty"`
	Entry
	Prev string `json:"prev"`
}

const (
	hashKey  = `,"hash":"`
	lineTail = len(hashKey) + 2*sha256.Size + len(`"}`)
	prevKey  = `,"prev":"`
	prevTail = len(prevKey) + 2*sha256.Size + len(`"`)
)

// appendLine appends a line, sets its Hash, and ends it by "\n".
func appendLine(to []byte, l *Line) []byte {
	text, err := json.Marshal(row{l.Seq, l.Time.UTC().Format(timeFormat), l.Node, l.Batch, l.Entry, hex.EncodeToString(l.Prev[:])})
	if err != nil {
		panic(err) // a row has nothing that could fail
	}
	l.Hash = hashOf(l.Prev, text)
	to = append(to, text[:len(text)-1]...)
	to = append(to, hashKey...)
	to = hex.AppendEncode(to, l.Hash[:])
	return append(to, "\"}\n"...)
}

// Append appends the line as it stands in the file of a ledger, with its end.
func (l *Line) Append(to []byte) []byte {
	same := *l
	return appendLine(to, &same)
}

// Fits reports whether the line has the hash that a server would give it.
func (l *Line) Fits() bool {
	same := *l
	appendLine(nil, &same)
	return same.Hash == l.Hash
}

func hashOf(prev Hash, text []byte) (h Hash) {
	d := sha256.New()
	d.Write(prev[:])
	d.Write(text)
	d.Sum(h[:0])
	return h
}

// parseLine reads a line, without its "\n", and checks its hash. A line that this package would write in another way is
// refused.
func parseLine(text []byte) (*Line, error) {
	prev, hash, err := checkHash(text)
	if err != nil {
		return nil, err
	}
	var r row
	d := json.NewDecoder(io.MultiReader(bytes.NewReader(text[:len(text)-lineTail]), strings.NewReader("}")))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("it is not an entry: %w", err)
	}
	at, err := time.Parse(timeFormat, r.Time)
	if err != nil {
		return nil, fmt.Errorf("it is not an entry: time: %w", err)
	}
	l := &Line{Seq: r.Seq, Time: at, Node: r.Node, Batch: r.Batch, Entry: r.Entry, Prev: prev, Hash: hash}
	again := *l
	if !bytes.Equal(bytes.TrimSuffix(appendLine(nil, &again), []byte("\n")), text) {
		return nil, errors.New("no server writes an entry in this form")
	}
	return l, nil
}

// checkHash reads the hashes of a line, and checks that its own fits.
func checkHash(text []byte) (prev, hash Hash, err error) {
	end := len(text) - lineTail
	if end < prevTail+2 || !bytes.HasPrefix(text[end:], []byte(hashKey)) || !bytes.HasSuffix(text, []byte(`"}`)) ||
		!bytes.HasPrefix(text[end-prevTail:], []byte(prevKey)) || text[end-1] != '"' {
		return prev, hash, errors.New("it is not an entry")
	}
	given := text[end-prevTail+len(prevKey) : end-1]
	if _, err := hex.Decode(prev[:], given); err != nil || !bytes.Equal(hex.AppendEncode(nil, prev[:]), given) {
		return prev, hash, errors.New("it is not an entry: prev is not a hash")
	}
	d := sha256.New()
	d.Write(prev[:])
	d.Write(text[:end])
	d.Write([]byte("}"))
	d.Sum(hash[:0])
	if !bytes.Equal(hex.AppendEncode(nil, hash[:]), text[end+len(hashKey):len(text)-2]) {
		return prev, hash, errors.New("it was changed: its hash does not fit")
	}
	return prev, hash, nil
}

// bounded returns an entry within the bounds of this package.
func bounded(e Entry) Entry {
	for _, text := range []*string{&e.Actor, &e.Via, &e.Tenant, &e.Action, &e.Outcome} {
		*text = clip(*text, maxName)
	}
	e.Object, e.Before, e.After = clip(e.Object, maxState), clip(e.Before, maxState), clip(e.After, maxState)
	return e
}

// clip cuts a text to so many bytes, whole characters, and marks the cut.
func clip(s string, most int) string {
	const mark = "…"
	if len(s) > most {
		end := most - len(mark)
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + mark
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
