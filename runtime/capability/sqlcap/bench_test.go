package sqlcap_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/mysql"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/postgres"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

// BenchmarkCapability queries one row.
func BenchmarkCapability(b *testing.B) {
	for _, s := range systems {
		b.Run(s.name, func(b *testing.B) {
			s.need(b)
			service := s.open(b, "reader", sqlcap.Limits{}, nil).Services()[abi.ServiceSQL]
			request := (&abi.SQLRequest{Connection: "main", Query: "select * from users where id = " + s.mark,
				Args: []abi.SQLValue{number(2)}}).Append(nil)
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

// BenchmarkSession does the same by sessions alone; the difference is the overhead of the capability.
func BenchmarkSession(b *testing.B) {
	for _, s := range systems {
		b.Run(s.name, func(b *testing.B) {
			s.need(b)
			session, err := s.session()
			if err != nil {
				b.Fatal(err)
			}
			defer session.Close()
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			statement := &database.Statement{Query: "select * from users where id = " + s.mark,
				Args: []abi.SQLValue{number(2)}, Timeout: time.Second}
			row := make([]abi.SQLValue, 3)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := session.Query(ctx, statement); err != nil {
					b.Fatal(err)
				}
				if err := errors.Join(session.Next(row), session.Reset(ctx)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// session opens a session of a reader, without the capability.
func (s *system) session() (database.Session, error) {
	cfg := database.Config{Limits: database.Limits{Cell: 1 << 20, Columns: 100, Query: 1 << 16, Args: 100},
		Logger: slog.New(slog.DiscardHandler)}
	var driver database.Driver
	var err error
	switch s.name {
	case "sqlite":
		driver, err = sqlite.New(strings.TrimPrefix(s.urls["reader"], "sqlite:"), cfg)
	case "postgres":
		driver, err = postgres.New(s.urls["reader"], cfg)
	case "mariadb":
		driver, err = mysql.New(s.urls["reader"], cfg)
	}
	if err != nil {
		return nil, err
	}
	return driver.Connect(context.Background())
}

// BenchmarkDriver does the same by drivers alone, as a program without the capability would.
func BenchmarkDriver(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		db, err := sql.Open("sqlite", "file:"+systems[2].urls["reader"][len("sqlite:"):]+"?mode=ro&_pragma=query_only(1)")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		b.ReportAllocs()
		for b.Loop() {
			var id int
			var name, born string
			if err := db.QueryRowContext(ctx, "select * from users where id = ?1", 2).Scan(&id, &name, &born); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("postgres", func(b *testing.B) {
		systems[0].need(b)
		conn, err := pgconn.Connect(b.Context(), systems[0].urls["reader"])
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close(b.Context())
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		b.ReportAllocs()
		for b.Loop() { // as the capability does: the transaction, the statement, and the reset
			for _, step := range []func() error{
				func() error {
					_, err := conn.Exec(ctx, "begin read only; select set_config('statement_timeout', '1000', true)").ReadAll()
					return err
				},
				func() error { _, err := conn.Prepare(ctx, "x", "select * from users where id = $1", nil); return err },
				func() error { return conn.ExecPrepared(ctx, "x", [][]byte{[]byte("2")}, nil, nil).Read().Err },
				func() error { _, err := conn.Exec(ctx, "rollback").ReadAll(); return err },
				func() error { _, err := conn.Exec(ctx, "discard all").ReadAll(); return err },
			} {
				if err := step(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
