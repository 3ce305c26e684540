package sqlitekv

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

// Config names the store to open.
type Config struct {
	Dir       string // of the files; Open makes it. Other users of the machine must not have access to it.
	Namespace kvcap.Namespace
	Quota     kvcap.Quota
	Now       func() time.Time // gives the time; nil is for [time.Now]
}

// Open opens the store of a namespace, and makes it if it does not exist. It does not change a file that is damaged or is
// not a store; the error names the file. ctx bounds only the opening.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := c.Namespace.Check(); err != nil {
		return nil, err
	}
	quota, err := c.Quota.WithDefaults()
	if err != nil {
		return nil, err
	}
	file, err := createFile(c.Dir, fileName(c.Namespace))
	if err != nil {
		return nil, fmt.Errorf("key-value store: %w", err)
	}
	db, err := sql.Open("sqlite", source(file))
	if err != nil {
		return nil, fmt.Errorf("key-value store %s: %w", file, err)
	}
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	s := &Store{file: file, quota: quota, now: c.Now, db: db, writing: make(chan struct{}, 1)}
	if s.now == nil {
		s.now = time.Now
	}
	if err := s.prepare(ctx, c.Namespace); err != nil {
		return nil, errors.Join(fmt.Errorf("key-value store %s: %w", file, withAdvice(err)), db.Close())
	}
	return s, nil
}

// prepare makes or checks the tables, prepares the statements and removes expired values.
func (s *Store) prepare(ctx context.Context, n kvcap.Namespace) error {
	if err := s.transact(ctx, func(tx *sql.Tx) error { return prepareTables(ctx, tx, n) }); err != nil {
		return err
	}
	for text, stmt := range map[string]**sql.Stmt{
		sqlGet: &s.getStmt, sqlLook: &s.lookStmt, sqlPut: &s.putStmt, sqlDelete: &s.deleteStmt,
		sqlList: &s.listStmt, sqlExpire: &s.expireStmt, sqlUsage: &s.usageStmt,
	} {
		err := s.retryLocked(ctx, func() (err error) {
			*stmt, err = s.db.PrepareContext(ctx, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.transact(ctx, func(tx *sql.Tx) error { return s.expire(ctx, tx, s.now(), -1) })
}

// fileName returns the file name of a namespace: the readable part of the provider's name, and a hash of both names.
func fileName(n kvcap.Namespace) string {
	const readable = 40
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, n.Provider)
	text := binary.AppendUvarint(nil, uint64(len(n.Tenant)))
	hash := sha256.Sum256(append(append(text, n.Tenant...), n.Provider...))
	return fmt.Sprintf("%s-%x.sqlite", name[:min(len(name), readable)], hash[:16])
}

// source returns the data source name of a file. The driver waits only briefly for a lock: see Store.retryLocked.
func source(file string) string {
	settings := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			"busy_timeout(20)", "journal_mode(wal)", "synchronous(normal)", "journal_size_limit(4194304)",
			"trusted_schema(off)", "cell_size_check(on)",
		},
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(file), RawQuery: settings.Encode()}).String()
}

// creating is held while a file is made: closing any descriptor of a file ends all locks of this process on it.
var creating sync.Mutex

// createFile makes the directory and the file of a store, if they are not there, so that only this user can read them.
func createFile(dir, name string) (file string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("other users have access to %s: run chmod 700 on it, or choose another directory", dir)
	}
	file = filepath.Join(dir, name)
	creating.Lock()
	defer creating.Unlock()
	if info, err = os.Lstat(file); err == nil {
		return file, checkPrivate(file, info)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist): // another process made it first
		return file, nil
	case err != nil:
		return "", err
	}
	return file, f.Close()
}

// checkPrivate fails unless the file is a regular one that only this user can read.
func checkPrivate(file string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: move it away", file)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("other users have access to %s: run chmod 600 on it", file)
	}
	return nil
}
