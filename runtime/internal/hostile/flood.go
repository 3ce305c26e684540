package hostile

import (
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// A Flood is a provider whose reads have the parent do as much work for them as they can, or, for comparison, compute.
type Flood struct {
	Name   string
	Module []byte
}

// Floods returns the one that computes first.
func Floods() []Flood {
	long := "x:" + strings.Repeat("u", abi.MaxURI-2)
	meta := `{"k":"` + strings.Repeat(`\u00e9`, 2000) + `"}`
	flood := func(name string, code, data []byte) Flood {
		p := actor{manifest: manifest, acts: map[Phase][]byte{PhaseRead: forever(code)}}
		if data != nil {
			p.data = [][]byte{active(actorArea, data)}
		}
		return Flood{name, p.module()}
	}
	frame := func(name string, b []byte) Flood { return flood(name, emitted(b), b) }
	notice := (&abi.NotifyRequest{URI: long}).Append(nil)
	call := func(id abi.Service, request []byte) []byte {
		return ignore("call", num(int64(id)), num(actorArea), num(int64(len(request))))
	}
	head := abi.Content{URI: long, Kind: abi.KindText, Inline: []byte("t")}
	described := head
	described.Meta = meta
	return []Flood{
		flood("loop", nil, nil),
		flood("notices", call(abi.ServiceNotifyUpdated, notice), notice),
		flood("notices-list", call(abi.ServiceNotifyList, nil), nil),
		frame("contents", head.Append(nil)),
		frame("contents-meta", described.Append(nil)),
	}
}
