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

// A Config says which store to open.
type Config struct {
	Dir       string // where stores are kept; made when it is not there. Nobody else may have access to it.
	Namespace kvcap.Namespace
	Quota     kvcap.Quota
	Now       func() time.Time // tells the time; nil stands for [time.Now]
}

// Open opens the store of a namespace, and makes it when it is not there. A file that is damaged, or is of something
// else, is left as it is; the error names it. ctx bounds the opening alone.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := c.Namespace.Check(); err != nil {
		return nil, err
	}
	quota, err := c.Quota.Fill()
	if err != nil {
		return nil, err
	}
	file, err := secure(c.Dir, fileName(c.Namespace))
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
	if err := s.begin(ctx, c.Namespace); err != nil {
		return nil, errors.Join(fmt.Errorf("key-value store %s: %w", file, worded(err)), db.Close())
	}
	return s, nil
}

// begin sees to the tables, prepares the statements and removes what has expired.
func (s *Store) begin(ctx context.Context, n kvcap.Namespace) error {
	if err := s.transact(ctx, func(tx *sql.Tx) error { return prepare(ctx, tx, n) }); err != nil {
		return err
	}
	for text, stmt := range map[string]**sql.Stmt{
		sqlGet: &s.getStmt, sqlLook: &s.lookStmt, sqlPut: &s.putStmt, sqlDelete: &s.deleteStmt,
		sqlList: &s.listStmt, sqlExpire: &s.expireStmt, sqlUsage: &s.usageStmt,
	} {
		err := s.patiently(ctx, func() (err error) {
			*stmt, err = s.db.PrepareContext(ctx, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.transact(ctx, func(tx *sql.Tx) error { return s.expire(ctx, tx, s.now(), -1) })
}

// fileName is that of the store of a namespace: something a person may recognize, and a hash, which tells them apart.
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

// source names a file and how to use it, for the driver. A lock is waited for in short turns: see Store.patiently.
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

// creating is held while a file is made: to close a descriptor of it ends all locks this process has on it.
var creating sync.Mutex

// secure makes the directory and the file of a store, if they are not there, so that nobody else can read them.
func secure(dir, name string) (file string, err error) {
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
		return "", fmt.Errorf("others have access to %s: run chmod 700 on it, or choose another directory", dir)
	}
	file = filepath.Join(dir, name)
	creating.Lock()
	defer creating.Unlock()
	if info, err = os.Lstat(file); err == nil {
		return file, private(file, info)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist): // another process was quicker
		return file, nil
	case err != nil:
		return "", err
	}
	return file, f.Close()
}

// private refuses what is there in place of a file that only we can read.
func private(file string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file: move it away", file)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others have access to %s: run chmod 600 on it", file)
	}
	return nil
}
