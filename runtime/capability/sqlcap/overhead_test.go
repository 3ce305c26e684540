package sqlcap

import (
	"context"
	"io"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// An instant is a database whose sessions answer at once, with one row, so that only the overhead of the capability remains.
type instant struct{ read bool }

var instantColumns = []abi.SQLColumn{{Name: "id", Type: "int8"}, {Name: "name", Type: "text"}, {Name: "born", Type: "date"}}

func (*instant) Connect(context.Context) (database.Session, error) { return &instant{}, nil }

func (r *instant) Query(context.Context, *database.Statement) ([]abi.SQLColumn, error) {
	r.read = false
	return instantColumns, nil
}

func (r *instant) Next(row []abi.SQLValue) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	row[0] = abi.SQLValue{Kind: abi.SQLInt, Int: 2}
	row[1] = abi.SQLValue{Kind: abi.SQLText, Text: "Grace Hopper"}
	row[2] = abi.SQLValue{Kind: abi.SQLText, Text: "1906-12-09"}
	return nil
}

func (*instant) Reset(context.Context) error { return nil }
func (*instant) Close() error                { return nil }

// BenchmarkOverhead queries one row of a database that takes no time, as one in this process and as a server: sessions with
// servers are reset in the background.
func BenchmarkOverhead(b *testing.B) {
	for name, remote := range map[string]bool{"here": false, "server": true} {
		b.Run(name, func(b *testing.B) {
			limits := Limits{}.withDefaults()
			s := &SQL{cursors: newCursors(), connections: map[string]*connection{
				"main": {name: "main", limits: limits, pool: newPool(&instant{}, limits, remote)},
			}}
			service := s.Services()[abi.ServiceSQL]
			request := (&abi.SQLRequest{Connection: "main", Query: "select * from users where id = $1",
				Args: []abi.SQLValue{{Kind: abi.SQLInt, Int: 2}}}).Append(nil)
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := service.Call(ctx, request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
