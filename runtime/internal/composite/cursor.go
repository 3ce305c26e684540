package composite

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

const (
	cursorVersion = 1

	macSize   = 16
	maxOwn    = 5 << 10                              // bytes of a member's own cursor
	maxSealed = 2 + 2*binary.MaxVarintLen64 + maxOwn // without the MAC
	maxSkip   = 1<<31 - 1                            // entries
)

// A place is where a list goes on.
type place struct {
	kind   kind
	member int
	skip   int    // entries of the member's page that were listed already
	own    string // the member's cursor of that page; empty for its first
}

// A seal makes cursors and knows its own.
type seal struct {
	// fixed at creation
	key     []byte // of these members in this order
	members int
}

func newSeal(key []byte, members []Member) *seal {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("wasmres composite cursor\x00"))
	for _, m := range members {
		mac.Write(binary.AppendUvarint(nil, uint64(len(m.Name))))
		mac.Write([]byte(m.Name))
	}
	return &seal{key: mac.Sum(nil), members: len(members)}
}

// coding is strict: no cursor has two spellings.
func coding() *base64.Encoding { return base64.RawURLEncoding.Strict() }

func (s *seal) mac(sealed []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(sealed)
	return mac.Sum(nil)[:macSize]
}

// write gives the cursor of p, whose own is not too long for one.
func (s *seal) write(p place) string {
	b := append(make([]byte, 0, maxSealed-maxOwn+len(p.own)+macSize), cursorVersion, byte(p.kind))
	b = binary.AppendUvarint(b, uint64(p.member))
	b = binary.AppendUvarint(b, uint64(p.skip))
	b = append(b, p.own...)
	return coding().EncodeToString(append(b, s.mac(b)...))
}

// read gives the place a cursor of this kind of list stands for. The empty cursor is the start.
func (s *seal) read(k kind, cursor string) (place, error) {
	if cursor == "" {
		return place{kind: k}, nil
	}
	sealed, ok := s.open(cursor)
	if !ok || len(sealed) < 2 || sealed[0] != cursorVersion || kind(sealed[1]) != k {
		return place{}, invalidCursor()
	}
	p, ok := s.parse(k, sealed[2:])
	if !ok {
		return place{}, invalidCursor()
	}
	return p, nil
}

func invalidCursor() error { return abi.Errorf(abi.CodeInvalidParams, "invalid cursor") }

// open gives what was sealed, if it is ours.
func (s *seal) open(cursor string) (sealed []byte, ok bool) {
	if len(cursor) > coding().EncodedLen(maxSealed+macSize) || strings.ContainsAny(cursor, "\r\n") { // which decoders skip
		return nil, false
	}
	b, err := coding().DecodeString(cursor)
	if err != nil || len(b) < macSize {
		return nil, false
	}
	sealed, mac := b[:len(b)-macSize], b[len(b)-macSize:]
	return sealed, hmac.Equal(mac, s.mac(sealed))
}

// parse reads what stands after the version and the kind.
func (s *seal) parse(k kind, b []byte) (p place, ok bool) {
	member, n := binary.Uvarint(b)
	if n <= 0 || member >= uint64(s.members) {
		return p, false
	}
	skip, m := binary.Uvarint(b[n:])
	if m <= 0 || skip > maxSkip {
		return p, false
	}
	return place{kind: k, member: int(member), skip: int(skip), own: string(b[n+m:])}, true
}
