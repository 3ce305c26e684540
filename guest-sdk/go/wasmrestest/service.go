package wasmrestest

import (
	"errors"
	"io"
	"io/fs"
	"sort"
	"strings"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// listMax is how many entries one answer holds.
const listMax = 256

// A serviceRequest is what any of the services may be asked.
type serviceRequest struct {
	name           string // key, URI or path
	number         uint64 // of a stream
	offset, length uint64
	after          string
}

func decodeService(s string) (q serviceRequest, ok bool) {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return q, false
		}
		switch f.Num {
		case 1:
			q.name, q.number = f.Text, f.Bits
		case 2:
			q.offset = f.Bits
		case 3:
			q.length = f.Bits
		case 4:
			q.after = f.Text
		}
		s = rest
	}
	return q, true
}

// Call implements host.Host.
func (c *call) Call(service uint32, request []byte) (code, size uint32) {
	c.response, c.bytes = nil, nil
	switch service {
	case serviceKVGet, serviceKVPut, serviceKVDelete, serviceKVList:
		return c.answer(c.kv(service, string(request)))
	case serviceSQL, serviceSQLRows:
		return c.answer(c.sql(service, string(request)))
	case serviceHTTP:
		return c.answer(c.fetch(string(request)))
	}
	q, ok := decodeService(string(request))
	if !ok {
		return codeInvalidParams, 0
	}
	switch service {
	case serviceConfig:
		value, ok := c.p.Config[q.name]
		if name, isEnv := strings.CutPrefix(q.name, "env:"); isEnv {
			value, ok = c.p.Env[name]
		}
		if !ok {
			return codeNotFound, 0
		}
		c.response = wire.AppendString(nil, 1, value)
	case serviceNotifyUpdated:
		c.p.Notices = append(c.p.Notices, q.name)
	case serviceNotifyList:
		c.p.Notices = append(c.p.Notices, "")
	case serviceFileStat, serviceFileRead, serviceFileList:
		if err := c.file(service, q); err != nil {
			return fileCode(err), 0
		}
	case serviceStream:
		return c.answer(c.stream(q.number))
	default:
		return codeUnsupported, 0
	}
	return c.answer(codeOK)
}

// answer gives what the provider gets with a code: nothing, unless that is ok.
func (c *call) answer(code uint32) (_, size uint32) {
	if code != codeOK {
		c.response, c.bytes = nil, nil
	}
	return code, uint32(len(c.response))
}

func fileCode(err error) uint32 {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return codeNotFound
	case errors.Is(err, fs.ErrPermission):
		return codeDenied
	case errors.Is(err, fs.ErrInvalid):
		return codeInvalidParams
	}
	return codeInternal
}

// mount finds the file system that holds a guest path: the one mounted deepest. Other paths are not granted.
func (p *Provider) mount(path string) (fsys fs.FS, name string, err error) {
	err = fs.ErrPermission
	deepest := -1
	for at, candidate := range p.Mounts {
		rest, ok := strings.CutPrefix(path, strings.TrimSuffix(at, "/"))
		if !ok || rest != "" && rest[0] != '/' || len(at) <= deepest {
			continue
		}
		fsys, name, err, deepest = candidate, strings.TrimPrefix(rest, "/"), nil, len(at)
	}
	if name == "" {
		name = "."
	}
	if err == nil && !fs.ValidPath(name) {
		err = fs.ErrInvalid
	}
	return fsys, name, err
}

// file answers one of the file services.
func (c *call) file(service uint32, q serviceRequest) error {
	fsys, name, err := c.p.mount(q.name)
	if err != nil {
		return err
	}
	if service == serviceFileList {
		return c.list(fsys, name, q)
	}
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return err
	}
	c.response = appendFile(nil, info)
	if service == serviceFileStat {
		return nil
	}
	if info.IsDir() {
		return fs.ErrInvalid
	}
	c.bytes, err = readRange(fsys, name, q.offset, q.length)
	return err
}

// list answers with the entries after q.after. What cannot be described, as a file that just went, is left out.
func (c *call) list(fsys fs.FS, name string, q serviceRequest) error {
	if info, err := fs.Stat(fsys, name); err != nil {
		return err
	} else if !info.IsDir() {
		return fs.ErrInvalid
	}
	entries, err := fs.ReadDir(fsys, name)
	if err != nil {
		return err
	}
	entries = entries[sort.Search(len(entries), func(i int) bool { return entries[i].Name() > q.after }):]
	limit := listMax
	if q.length > 0 {
		limit = int(min(q.length, listMax))
	}
	for i, e := range entries {
		if i == limit {
			c.response = wire.AppendBool(c.response, 2, true)
			break
		}
		info, err := fs.Stat(fsys, strings.TrimPrefix(name+"/"+e.Name(), "./"))
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			c.response = appendFile(c.response, info)
		}
	}
	return nil
}

func readRange(fsys fs.FS, name string, offset, length uint64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := skip(f, int64(offset)); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, int64(length)))
}

func skip(f fs.File, n int64) error {
	if seeker, ok := f.(io.Seeker); ok {
		_, err := seeker.Seek(n, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, f, n)
	return err
}

func appendFile(b []byte, info fs.FileInfo) []byte {
	b, at := wire.Begin(b, 1)
	b = wire.AppendString(b, 1, info.Name())
	if !info.IsDir() {
		b = wire.AppendUint(b, 2, uint64(info.Size()))
	}
	b = wire.AppendUint(b, 3, uint64(info.ModTime().UnixMilli()))
	b = wire.AppendBool(b, 4, info.IsDir())
	return wire.End(b, at)
}
