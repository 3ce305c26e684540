//go:build linux

package snapshot

// A repair puts private pages back as they are found, from the lowest, and leaves those of a part that has too many to
// be dropped.
type repair struct {
	mem   []byte // all that the guest could write to
	image []byte // what its beginning must become; the rest must become zero

	inImage, inTail uint64 // bytes of private pages found
}

// run puts back the private pages from start to end, offsets in mem. zero says that they are known to read as zero.
func (r *repair) run(start, end uint64, zero bool) {
	length := uint64(len(r.image))
	if start < length {
		stop := min(end, length)
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
func (r *repair) next(at uint64) uint64 {
	if length := uint64(len(r.image)); at < length && r.inImage > keepImage {
		at = length
	}
	if at >= uint64(len(r.image)) && r.inTail > keepTail {
		at = uint64(len(r.mem))
	}
	return at
}

// crowded is what has too many private pages, from offset to offset: the image, the tail, both or nothing. They are no
// longer counted then.
func (r *repair) crowded() (from, to uint64) {
	from, to = uint64(len(r.image)), uint64(len(r.image))
	if r.inImage > keepImage {
		from, r.inImage = 0, 0
	}
	if r.inTail > keepTail {
		to, r.inTail = uint64(len(r.mem)), 0
	}
	return from, to
}
