package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// objects are the objects of a repository, as go-git wants them. Its own storage reads the whole index of every pack
// for the first object; this one looks an object up in the files.
type objects struct {
	storer.EncodedObjectStorer // none: nothing is written, and nothing iterates over all objects

	dir   fs.FS // the folder that holds folders of objects
	packs []*pack
	read  map[plumbing.Hash]*encoded // those that were read already
	room  int64                      // for more of them, in bytes
}

// cacheMax is how many bytes of objects are kept for when they are read again.
const cacheMax = 8 << 20

func openObjects(dir fs.FS) (*objects, error) {
	o := &objects{dir: dir, read: map[plumbing.Hash]*encoded{}, room: cacheMax}
	entries, err := fs.ReadDir(dir, "pack")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".pack") {
			continue
		}
		p, err := openPack(dir, "pack/"+e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is still being written
		}
		if err != nil {
			return nil, err
		}
		o.packs = append(o.packs, p)
	}
	return o, nil
}

// EncodedObject implements [storer.EncodedObjectStorer].
func (o *objects) EncodedObject(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	e := o.read[hash]
	if e == nil {
		var err error
		if e, err = o.load(hash); err != nil {
			return nil, err
		}
		o.keep(e)
	}
	if kind != plumbing.AnyObject && kind != e.kind {
		return nil, plumbing.ErrObjectNotFound
	}
	return e, nil
}

func (o *objects) keep(e *encoded) {
	if o.room -= e.Size(); o.room < 0 {
		clear(o.read)
		o.room = cacheMax - e.Size()
	}
	o.read[e.hash] = e
}

func (o *objects) load(hash plumbing.Hash) (e *encoded, err error) {
	e = &encoded{hash: hash}
	p, offset, err := o.find(hash)
	switch {
	case err != nil:
		return nil, err
	case p != nil:
		e.kind, e.data, err = p.read(offset)
	default:
		e.kind, e.data, err = o.loose(hash)
	}
	if err != nil && err != plumbing.ErrObjectNotFound {
		err = fmt.Errorf("object %s: %w", hash, err)
	}
	return e, err
}

// find gives the pack that has an object, and where; nil when none has.
func (o *objects) find(hash plumbing.Hash) (p *pack, offset int64, err error) {
	for _, p := range o.packs {
		if offset, ok, err := p.index.find(hash); ok || err != nil {
			return p, offset, err
		}
	}
	return nil, 0, nil
}

// loose reads an object that has a file of its own.
func (o *objects) loose(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	r, kind, size, err := o.openLoose(hash)
	if err != nil {
		return 0, nil, err
	}
	if size > objectMax {
		return 0, nil, errTooLarge
	}
	data := make([]byte, size)
	return kind, data, fill(data, r)
}

// openLoose gives what an object says of itself, and a reader of the rest.
func (o *objects) openLoose(hash plumbing.Hash) (r *bufio.Reader, kind plumbing.ObjectType, size int64, err error) {
	name := hash.String()
	f, err := o.dir.Open(name[:2] + "/" + name[2:])
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, 0, plumbing.ErrObjectNotFound
	}
	if err != nil {
		return nil, 0, 0, err
	}
	content, err := inflate(f)
	if err != nil {
		return nil, 0, 0, err
	}
	r = bufio.NewReader(content)
	head, err := r.ReadSlice(0)
	if err != nil {
		return nil, 0, 0, damaged(err)
	}
	word, number, _ := bytes.Cut(head[:len(head)-1], []byte(" "))
	kind, err = plumbing.ParseObjectType(string(word))
	if err != nil || kind.IsDelta() {
		return nil, 0, 0, damaged(plumbing.ErrInvalidType)
	}
	unsigned, err := strconv.ParseUint(string(number), 10, 62)
	if err != nil {
		return nil, 0, 0, damaged(err)
	}
	return r, kind, int64(unsigned), nil
}

// HasEncodedObject implements [storer.EncodedObjectStorer].
func (o *objects) HasEncodedObject(hash plumbing.Hash) error {
	_, err := o.EncodedObjectSize(hash)
	return err
}

// EncodedObjectSize implements [storer.EncodedObjectStorer].
func (o *objects) EncodedObjectSize(hash plumbing.Hash) (size int64, err error) {
	p, offset, err := o.find(hash)
	switch {
	case err != nil:
		return 0, err
	case p != nil:
		return p.size(offset)
	}
	_, _, size, err = o.openLoose(hash)
	return size, err
}

// withPrefix gives at most two objects whose names begin with digits, at least two of them.
func (o *objects) withPrefix(digits string) ([]plumbing.Hash, error) {
	found := map[plumbing.Hash]bool{}
	entries, err := fs.ReadDir(o.dir, digits[:2])
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if name := digits[:2] + e.Name(); plumbing.IsHash(name) && strings.HasPrefix(name, digits) {
			found[plumbing.NewHash(name)] = true
		}
	}
	for _, p := range o.packs {
		names, err := p.index.withPrefix(digits)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			found[name] = true
		}
	}
	all := make([]plumbing.Hash, 0, len(found))
	for name := range found {
		all = append(all, name)
	}
	return all[:min(len(all), 2)], nil
}

// An encoded is one object, as its bytes. It implements [plumbing.EncodedObject], and is never changed.
type encoded struct {
	hash plumbing.Hash
	kind plumbing.ObjectType
	data []byte
}

func (e *encoded) Hash() plumbing.Hash             { return e.hash }
func (e *encoded) Type() plumbing.ObjectType       { return e.kind }
func (e *encoded) Size() int64                     { return int64(len(e.data)) }
func (e *encoded) Reader() (io.ReadCloser, error)  { return io.NopCloser(bytes.NewReader(e.data)), nil }
func (e *encoded) Writer() (io.WriteCloser, error) { return nil, fs.ErrPermission }
func (e *encoded) SetType(plumbing.ObjectType)     {}
func (e *encoded) SetSize(int64)                   {}
