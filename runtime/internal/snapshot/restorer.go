//go:build linux

package snapshot

// A restorer puts private pages back as they are found, from the lowest, and leaves those of a part that has too many to
// be dropped.
type restorer struct {
	mem   []byte // all that the guest could write to
	image []byte // what its beginning must become; the rest must become zero

	own *extents // gets where private pages are found in the image

	inImage, inTail uint64 // bytes of private pages found
}

// An extent is some bytes of a memory, from offset to offset.
type extent struct{ start, end uint64 }

// extents are where pages are private, as far as there is room for them.
type extents struct {
	list     []extent
	over     bool // there are more
	complete bool
}

// newExtents has room for what most guests write, with the method that asks for it, and for nothing with others.
func newExtents(method Method) (e extents) {
	if method == Watch {
		e.list = make([]extent, 0, 64)
	}
	return e
}

func (e *extents) clear() { e.list, e.over, e.complete = e.list[:0], false, false }

func (e *extents) add(start, end uint64) {
	if e.over = e.over || len(e.list) == cap(e.list); !e.over {
		e.list = append(e.list, extent{start, end})
	}
}

// run restores the private pages from start to end, offsets in mem. zero says that they are known to read as zero.
func (r *restorer) run(start, end uint64, zero bool) {
	length := uint64(len(r.image))
	if start < length {
		stop := min(end, length)
		r.own.add(start, stop)
		if r.inImage += stop - start; r.inImage <= keepImage {
			copy(r.mem[start:stop], r.image[start:stop])
		}
		start = stop
	}
	if start < end && !zero {
		if r.inTail += end - start; r.inTail <= keepTail {
			clear(r.mem[start:end])
		}
	}
}

// next is where to go on looking from at: behind a part that will be dropped anyway.
func (r *restorer) next(at uint64) uint64 {
	if length := uint64(len(r.image)); at < length && r.inImage > keepImage {
		at = length
	}
	if at >= uint64(len(r.image)) && r.inTail > keepTail {
		at = uint64(len(r.mem))
	}
	return at
}

// densestRun is what has too many private pages, from offset to offset: the image, the tail, both or nothing. They are no
// longer counted then.
func (r *restorer) densestRun() (from, to uint64) {
	from, to = uint64(len(r.image)), uint64(len(r.image))
	if r.inImage > keepImage {
		from, r.inImage = 0, 0
	}
	if r.inTail > keepTail {
		to, r.inTail = uint64(len(r.mem)), 0
	}
	return from, to
}
