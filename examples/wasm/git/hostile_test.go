package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-git/go-git/v5/plumbing"
)

// A packed is an object of a pack made by hand.
type packed struct {
	name plumbing.Hash
	head []byte // kind and size, and what a delta is the difference from
	data []byte // before it is compressed
}

// header gives what an object of a pack begins with.
func header(kind plumbing.ObjectType, size uint64, base ...byte) []byte {
	b := []byte{byte(kind)<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7f))
	}
	return append(b, base...)
}

// named gives a name whose bytes are all the same.
func named(b byte) (h plumbing.Hash) { return plumbing.Hash(bytes.Repeat([]byte{b}, len(h))) }

var deflater = zlib.NewWriter(nil)

func deflate(data []byte) []byte {
	var b bytes.Buffer
	deflater.Reset(&b)
	_, err := deflater.Write(data)
	if err := errors.Join(err, deflater.Close()); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// packOf makes a pack and its index of objects whose names are in order.
func packOf(all ...packed) fstest.MapFS {
	pack := []byte("PACK\x00\x00\x00\x02")
	pack = binary.BigEndian.AppendUint32(pack, uint32(len(all)))
	index := []byte("\xfftOc\x00\x00\x00\x02")
	for first := range 256 {
		n := slices.IndexFunc(all, func(o packed) bool { return int(o.name[0]) > first })
		if n < 0 {
			n = len(all)
		}
		index = binary.BigEndian.AppendUint32(index, uint32(n))
	}
	var offsets []byte
	for _, o := range all {
		index = append(index, o.name[:]...)
		offsets = binary.BigEndian.AppendUint32(offsets, uint32(len(pack)))
		pack = append(append(pack, o.head...), deflate(o.data)...)
	}
	index = append(append(index, make([]byte, 4*len(all))...), offsets...)
	sum := sha1.Sum(pack)
	index = append(append(index, sum[:]...), make([]byte, 20)...)
	return fstest.MapFS{"pack/pack-1.pack": {Data: append(pack, sum[:]...)}, "pack/pack-1.idx": {Data: index}}
}

// delta makes a delta from sizes and commands.
func delta(from, to uint64, commands ...byte) []byte {
	b := binary.AppendUvarint(nil, from)
	return append(binary.AppendUvarint(b, to), commands...)
}

func TestHostilePacks(t *testing.T) {
	blob := func(b byte, data string) packed {
		return packed{named(b), header(plumbing.BlobObject, uint64(len(data))), []byte(data)}
	}
	ref := func(b, base byte, d []byte) packed {
		name := named(base)
		return packed{named(b), header(plumbing.REFDeltaObject, uint64(len(d)), name[:]...), d}
	}
	insert := delta(4, 1, 1, 'x')
	back := func(distance ...byte) packed {
		return packed{named(1), header(plumbing.OFSDeltaObject, 4, distance...), insert}
	}
	lying := func(size uint64, data []byte) packed {
		return packed{named(1), header(plumbing.BlobObject, size), data}
	}
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string // of the object 1; or words of the error
		fails bool
	}{
		"a blob":                {packOf(blob(1, "data")), "data", false},
		"an empty blob":         {packOf(blob(1, "")), "", false},
		"a delta":               {packOf(ref(1, 2, insert), blob(2, "data")), "x", false},
		"a delta of itself":     {packOf(ref(1, 1, insert)), "no end", true},
		"a cycle":               {packOf(ref(1, 2, insert), ref(2, 3, insert), ref(3, 1, insert)), "no end", true},
		"a base that is not":    {packOf(ref(1, 2, insert)), "damaged", true},
		"a base before all":     {packOf(back(0x7f)), "damaged", true},
		"itself as base":        {packOf(back(0)), "damaged", true},
		"a distance too far":    {packOf(back(bytes.Repeat([]byte{0xff}, 40)...)), "damaged", true},
		"a kind that is none":   {packOf(packed{named(1), header(5, 4), []byte("data")}), "damaged", true},
		"less than it says":     {packOf(lying(5, []byte("data"))), "damaged", true},
		"more than it says":     {packOf(lying(3, []byte("data"))), "damaged", true},
		"a bomb":                {packOf(lying(4, make([]byte, 64<<20))), "damaged", true},
		"a large one":           {packOf(lying(1<<40, nil)), "more than", true},
		"a size without end":    {packOf(packed{named(1), bytes.Repeat([]byte{0xbf}, 100), nil}), "damaged", true},
		"a delta to a large":    {packOf(ref(1, 2, delta(4, 1<<40, 1, 'x')), blob(2, "data")), "more than", true},
		"a delta that is short": {packOf(ref(1, 2, delta(4, 9, 1, 'x')), blob(2, "data")), "damaged", true},
		"a delta of another":    {packOf(ref(1, 2, delta(5, 1, 1, 'x')), blob(2, "data")), "damaged", true},
		"a delta beyond":        {packOf(ref(1, 2, delta(4, 4, 0x91, 3, 4)), blob(2, "data")), "damaged", true},
		"no delta":              {packOf(ref(1, 2, nil), blob(2, "data")), "damaged", true},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := openObjects(c.files)
			if err != nil {
				t.Fatal(err)
			}
			e, err := o.EncodedObject(plumbing.AnyObject, named(1))
			switch {
			case c.fails && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			case !c.fails && (err != nil || string(e.(*encoded).data) != c.want || e.Type() != plumbing.BlobObject):
				t.Errorf("got %v, %v, want %q", e, err, c.want)
			}
			if _, err := o.EncodedObjectSize(named(1)); err != nil && !c.fails {
				t.Error(err)
			}
		})
	}
}

func TestLongChain(t *testing.T) {
	chain := func(length int) error {
		all := []packed{{name: at(0), head: header(plumbing.BlobObject, 4), data: []byte("data")}}
		for i := range length {
			base := at(i)
			d := delta(4, 4, 0x90, 4)
			all = append(all, packed{at(i + 1), header(plumbing.REFDeltaObject, uint64(len(d)), base[:]...), d})
		}
		o, err := openObjects(packOf(all...))
		if err != nil {
			t.Fatal(err)
		}
		_, err = o.EncodedObject(plumbing.BlobObject, at(length))
		return err
	}
	if err := chain(chainMax); err != nil {
		t.Error(err)
	}
	if err := chain(chainMax + 1); !errors.Is(err, errCorrupt) {
		t.Errorf("got %v, want %v", err, errCorrupt)
	}
}

// at gives the name of a place in a chain.
func at(i int) (h plumbing.Hash) {
	binary.BigEndian.PutUint32(h[:], uint32(i))
	return h
}

func TestHostileIndexes(t *testing.T) {
	for name, change := range map[string]func(index []byte) []byte{
		"empty":        func([]byte) []byte { return nil },
		"short":        func(b []byte) []byte { return b[:len(b)-1] },
		"version 1":    func(b []byte) []byte { return b[8:] },
		"version 3":    func(b []byte) []byte { b[7] = 3; return b },
		"not in order": func(b []byte) []byte { b[8] = 1; return b },
		"huge": func(b []byte) []byte {
			for i := 8 + 4; i < 8+4*256; i += 4 {
				binary.BigEndian.PutUint32(b[i:], 0xffffffff)
			}
			return b
		},
	} {
		files := packOf(packed{named(1), header(plumbing.BlobObject, 4), []byte("data")})
		f := files["pack/pack-1.idx"]
		f.Data = change(f.Data)
		if _, err := openObjects(files); err == nil {
			t.Errorf("%s: it was accepted", name)
		}
	}
	files := packOf(packed{named(1), header(plumbing.BlobObject, 4), []byte("data")})
	index := files["pack/pack-1.idx"].Data
	for _, offset := range []uint32{0, 1 << 30, 1<<31 + 7, 0xffffffff} {
		binary.BigEndian.PutUint32(index[namesAt+nameSize+4:], offset)
		o, err := openObjects(files)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := o.EncodedObject(plumbing.AnyObject, named(1)); err == nil {
			t.Errorf("offset %#x: got %v", offset, e)
		}
	}
}

func TestHostileLooseObjects(t *testing.T) {
	name := named(1).String()
	for content, want := range map[string]string{
		"blob 4\x00data": "data", "blob 0\x00": "", "blob 5\x00data": "error", "blob 3\x00data": "error", "blob 4": "error",
		"": "error", "blob -4\x00data": "error", "blob\x00data": "error", "thing 4\x00data": "error",
		"blob 9999999999999999999\x00data": "error", "blob 99999999999\x00data": "error",
		"ofs-delta 4\x00data": "error", strings.Repeat("b", 1<<20): "error",
	} {
		whole := deflate([]byte(content))
		for i, data := range [][]byte{whole, whole[:4], []byte(content)} {
			o, err := openObjects(fstest.MapFS{name[:2] + "/" + name[2:]: {Data: data}})
			if err != nil {
				t.Fatal(err)
			}
			e, err := o.EncodedObject(plumbing.BlobObject, named(1))
			switch {
			case i > 0 || want == "error":
				if err == nil {
					t.Errorf("%.40q: got %v, want an error", data, e)
				}
			case err != nil || string(e.(*encoded).data) != want:
				t.Errorf("%.40q: got %v, %v, want %q", data, e, err, want)
			}
		}
	}
}

// TestDamage changes bytes of a real repository: whatever comes out, it does not panic and it ends.
func TestDamage(t *testing.T) {
	dir := small(t)
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	files := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS(dir), ".git", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, ".git/hooks") {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	random := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range rounds {
		damaged := fstest.MapFS{}
		for name, f := range files {
			damaged[name] = &fstest.MapFile{Data: slices.Clone(f.Data)}
		}
		for range 40 {
			if data := damaged[names[random.IntN(len(names))]].Data; len(data) > 0 {
				data[random.IntN(len(data))] = byte(random.Uint32())
			}
		}
		p := serve(t, dir)
		p.Mounts[root] = damaged
		for _, uri := range []string{
			"git://head", "git://branches", "git://tags", "git://log", "git://tree", "git://file/src/deep/numbers.txt",
			"git://commit/HEAD", "git://commit/main~1", "git://commit/v1.0",
		} {
			if _, err := p.Read(uri); err != nil {
				failed++
			}
		}
		if _, _, err := p.Page(""); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("nothing was damaged")
	}
}
