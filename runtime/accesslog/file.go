package accesslog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// FileConfig says how a file is rotated. The zero value keeps five files of 100 MiB beside the current one.
type FileConfig struct {
	MaxBytes int64 // size from which a new file is begun; 0 means 100 MiB
	Keep     int   // older files that are kept, as FILE.1, the newest, to FILE.5; 0 means 5
}

// A File is a file that grows to a size, and is then renamed. When another program has renamed or removed it, as logrotate
// does, the next write begins a new file. A File belongs to one goroutine.
type File struct {
	cfg  FileConfig
	name string
	f    *os.File
	info fs.FileInfo // of f, when it was opened
	size int64
}

// OpenFile opens a file for lines that are appended. It refuses what is not a regular file, symbolic links included: a
// person who may write to the folder must not direct the lines to another file.
func OpenFile(name string, cfg FileConfig) (*File, error) {
	if cfg.MaxBytes < 0 || cfg.Keep < 0 {
		return nil, errors.New("open access log: MaxBytes or Keep is negative")
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 100 << 20
	}
	if cfg.Keep == 0 {
		cfg.Keep = 5
	}
	f := &File{cfg: cfg, name: name}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("open access log: %w", err)
	}
	return f, nil
}

// Write implements [io.Writer]: it appends lines, to a new file if they do not fit. After an error nothing of p is in the
// file, as far as that can be undone.
func (f *File) Write(p []byte) (int, error) {
	if err := f.prepare(int64(len(p))); err != nil {
		return 0, err
	}
	n, err := f.f.Write(p)
	if err != nil {
		_ = f.f.Truncate(f.size) // a part of a line would spoil the next
		return 0, err
	}
	f.size += int64(n)
	return n, nil
}

// Close implements [io.Closer].
func (f *File) Close() error {
	if f.f == nil {
		return nil
	}
	return f.f.Close()
}

// prepare gets the file ready for n bytes.
func (f *File) prepare(n int64) error {
	if f.f != nil && !f.isInPlace() {
		_ = f.f.Close() // what was written is not lost
		f.f = nil
	}
	if f.f == nil {
		return f.open()
	}
	if f.size == 0 || f.size+n <= f.cfg.MaxBytes {
		return nil
	}
	return f.rotate()
}

// isInPlace reports whether the file still has its name.
func (f *File) isInPlace() bool {
	info, err := os.Lstat(f.name)
	return err == nil && os.SameFile(info, f.info)
}

func (f *File) open() error {
	info, err := os.Lstat(f.name)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", f.name)
	}
	opened, err := os.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return err
	}
	if f.info, err = opened.Stat(); err == nil && !f.isInPlace() {
		err = fmt.Errorf("%s is not the file that was opened", f.name)
	}
	if err != nil {
		return errors.Join(err, opened.Close())
	}
	f.f, f.size = opened, f.info.Size()
	return nil
}

// rotate renames the files, and opens a new one. When a file cannot be renamed, it is an error to write more: together the
// files take no more space than they may.
func (f *File) rotate() error {
	err := f.f.Close()
	f.f = nil
	for i := f.cfg.Keep - 1; i >= 0 && err == nil; i-- {
		if err = os.Rename(f.older(i), f.older(i+1)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		err = fmt.Errorf("the file is full, and could not be rotated: %w", err)
	}
	return errors.Join(err, f.open())
}

// older names the file that was rotated i times.
func (f *File) older(i int) string {
	if i == 0 {
		return f.name
	}
	return f.name + "." + strconv.Itoa(i)
}
