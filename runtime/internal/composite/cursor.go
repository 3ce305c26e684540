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

	macSize         = 16
	maxMemberCursor = 5 << 10                                       // bytes of a member's own cursor
	maxPayload      = 2 + 2*binary.MaxVarintLen64 + maxMemberCursor // without the MAC
	maxSkip         = 1<<31 - 1                                     // entries
)

// A place is where a list continues.
type place struct {
	kind   kind
	member int
	skip   int    // entries of the member's page that are listed already
	own    string // the member's cursor of that page; empty for its first
}

// A cursorCodec writes and reads cursors, which it authenticates.
type cursorCodec struct {
	// fixed at creation
	key     []byte // of these members in this order
	members int
}

func newCursorCodec(key []byte, members []Member) *cursorCodec {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("wasmres composite cursor\x00"))
	for _, m := range members {
		mac.Write(binary.AppendUvarint(nil, uint64(len(m.Name))))
		mac.Write([]byte(m.Name))
	}
	return &cursorCodec{key: mac.Sum(nil), members: len(members)}
}

// coding is strict, so that each cursor has one spelling.
func coding() *base64.Encoding { return base64.RawURLEncoding.Strict() }

func (s *cursorCodec) mac(payload []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(payload)
	return mac.Sum(nil)[:macSize]
}

// write returns the cursor of p. The member's cursor in it has at most maxMemberCursor bytes.
func (s *cursorCodec) write(p place) string {
	b := append(make([]byte, 0, maxPayload-maxMemberCursor+len(p.own)+macSize), cursorVersion, byte(p.kind))
	b = binary.AppendUvarint(b, uint64(p.member))
	b = binary.AppendUvarint(b, uint64(p.skip))
	b = append(b, p.own...)
	return coding().EncodeToString(append(b, s.mac(b)...))
}

// read returns the place of a cursor of this kind of list. The empty cursor is the start.
func (s *cursorCodec) read(k kind, cursor string) (place, error) {
	if cursor == "" {
		return place{kind: k}, nil
	}
	payload, ok := s.open(cursor)
	if !ok || len(payload) < 2 || payload[0] != cursorVersion || kind(payload[1]) != k {
		return place{}, invalidCursor()
	}
	p, ok := s.parse(k, payload[2:])
	if !ok {
		return place{}, invalidCursor()
	}
	return p, nil
}

func invalidCursor() error { return abi.Errorf(abi.CodeInvalidParams, "invalid cursor") }

// open returns the payload of a cursor, if its MAC is right.
func (s *cursorCodec) open(cursor string) (payload []byte, ok bool) {
	if len(cursor) > coding().EncodedLen(maxPayload+macSize) || strings.ContainsAny(cursor, "\r\n") { // which decoders skip
		return nil, false
	}
	b, err := coding().DecodeString(cursor)
	if err != nil || len(b) < macSize {
		return nil, false
	}
	payload, mac := b[:len(b)-macSize], b[len(b)-macSize:]
	return payload, hmac.Equal(mac, s.mac(payload))
}

// parse reads the payload after the version and the kind.
func (s *cursorCodec) parse(k kind, b []byte) (p place, ok bool) {
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
