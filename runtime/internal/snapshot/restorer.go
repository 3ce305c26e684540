//go:build linux

package snapshot

// A restorer restores private pages in ascending order, as they are found. If a part has too many, it leaves them to
// the caller, who drops that part.
type restorer struct {
	mem   []byte // all bytes that the guest could write to
	image []byte // the content for the beginning of mem; the rest becomes zero

	own *extents // records the private pages within the image

	inImage, inTail uint64 // bytes of private pages found
}

// extents has the private pages, as many as its capacity allows.
type extents struct {
	list     []extent
	over     bool // there are more than list has
	complete bool
}

// newExtents makes extents with capacity for the pages of most guests with Watch, and without capacity for other
// methods.
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

// run restores the private pages from start to end, offsets in mem. zero means that they contain zeros already.
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

// next returns the offset where the search continues after at: it skips a part that will be dropped.
func (r *restorer) next(at uint64) uint64 {
	if length := uint64(len(r.image)); at < length && r.inImage > keepImage {
		at = length
	}
	if at >= uint64(len(r.image)) && r.inTail > keepTail {
		at = uint64(len(r.mem))
	}
	return at
}

// densestRun returns the part with too many private pages, from offset to offset: the image, the tail, both or nothing.
// It resets their counts.
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
