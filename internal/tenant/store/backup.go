package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	maxBackups = 5 // of each version of the tables
	backupTime = "20060102T150405.000Z"
	unfinished = ".new-*"
)

func (s *Store) backupDir() string { return filepath.Join(s.dir, "backup") }

func backupPrefix(version int) string { return fmt.Sprintf("serve-v%d-", version) }

// backups gives the copies of files whose tables have a version, oldest first.
func (s *Store) backups(version int) []string {
	found, _ := filepath.Glob(filepath.Join(s.backupDir(), backupPrefix(version)+"*.db")) // the pattern is valid
	slices.Sort(found)                                                                    // by time
	return found
}

// newestBackup gives the newest copy that a program with some version of the tables can open.
func (s *Store) newestBackup(version int) (file string, ok bool) {
	for ; version > 0; version-- {
		if found := s.backups(version); len(found) > 0 {
			return found[len(found)-1], true
		}
	}
	return "", false
}

// backup copies the file, and removes the oldest copies of this version. The copy is whole or not there.
func (s *Store) backup(ctx context.Context, version int) error {
	dir := s.backupDir()
	if err := makePrivate(dir); err != nil {
		return err
	}
	s.removeUnfinished()
	temporary, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone, unless something has failed
	_, err = s.db.ExecContext(ctx, `VACUUM INTO ?`, temporary.Name())
	if err == nil {
		err = temporary.Sync()
	}
	if err := errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	name := backupPrefix(version) + s.now().UTC().Format(backupTime) + ".db"
	if err := errors.Join(os.Rename(temporary.Name(), filepath.Join(dir, name)), syncDir(dir)); err != nil {
		return err
	}
	return s.removeBackups(version)
}

// removeUnfinished removes what a process that was killed has left.
func (s *Store) removeUnfinished() {
	found, _ := filepath.Glob(filepath.Join(s.backupDir(), unfinished)) // the pattern is valid
	for _, file := range found {
		_ = os.Remove(file) // the next copy tries again
	}
}

func (s *Store) removeBackups(version int) error {
	found := s.backups(version)
	var problems []error
	for _, file := range found[:max(0, len(found)-maxBackups)] {
		problems = append(problems, os.Remove(file))
	}
	return errors.Join(problems...)
}

// isBackupDue reports whether the newest copy is a day old, or there is none.
func (s *Store) isBackupDue() bool {
	found := s.backups(s.version)
	if len(found) == 0 {
		return true
	}
	info, err := os.Stat(found[len(found)-1])
	return err != nil || time.Since(info.ModTime()).Abs() >= 24*time.Hour
}
