package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ReserveIn makes a Reserve of an empty file in memory that can be sealed: the image that takes the Reserve has its bytes there.
// The caller closes both.
func ReserveIn(f *os.File) (*Reserve, error) {
	fd, err := duplicate(f)
	if err != nil {
		return nil, fmt.Errorf("reserve: %w", err)
	}
	return &Reserve{fd: fd}, nil
}

func duplicate(f *os.File) (fd int, err error) {
	fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	return fd, os.NewSyscallError("fcntl", err)
}

// checkSealed returns an error unless the file is in memory, and no process can change it any more.
func checkSealed(f *os.File) error {
	const all = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	if err == nil && seals&all != all {
		err = fmt.Errorf("only sealed by %#x", seals)
	}
	return err
}

// CheckSavable returns an error unless [Save] would save the image in the file: no process can change that any more, and it is not larger
// than a saved one may be.
func CheckSavable(f *os.File) error {
	_, _, err := savable(f)
	return err
}

// savable is CheckSavable, and returns the length of the memory and what of it is not zero.
func savable(f *os.File) (length int64, parts []extent, err error) {
	if err := checkSealed(f); err != nil {
		return 0, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, nil, err
	}
	length = info.Size()
	if length <= 0 || length > maxSavedLength || length%pageSize != 0 {
		return 0, nil, fmt.Errorf("a memory of %d bytes is not saved", length)
	}
	parts, err = partsOf(f, length)
	return length, parts, err
}

// Save writes an image to a file, and about beside it, for [OpenSaved]. from is the sealed file of the image, which may have any
// bytes; to is empty. Save returns an error for an image that is larger than a saved one may be.
func Save(to, from *os.File, about []byte) error {
	if len(about) > maxAbout {
		return fmt.Errorf("save image: %d bytes beside the memory are not saved", len(about))
	}
	length, parts, err := savable(from)
	if err != nil {
		return fmt.Errorf("save image: %w", err)
	}
	sum, err := copyParts(to, from, parts)
	if err != nil {
		return fmt.Errorf("save image: %w", err)
	}
	if _, err := to.WriteAt(appendTail(appendHead(nil, parts, about), sum), length); err != nil {
		return fmt.Errorf("save image: %w", err)
	}
	return nil
}

// partsOf returns the parts of a file that are not holes.
func partsOf(f *os.File, length int64) (parts []extent, err error) {
	total := uint64(0)
	for at := uint64(0); ; {
		p, err := nextPart(f, at, uint64(length))
		if err != nil || p.start == p.end {
			return parts, err
		}
		total, at = total+p.end-p.start, p.end
		if total > maxSavedBytes || len(parts) == maxSavedParts {
			return nil, fmt.Errorf("%d bytes in %d parts are not saved", total, len(parts)+1)
		}
		parts = append(parts, p)
	}
}

// nextPart returns the first part of a file between two offsets that is no hole; an empty one if there is none.
func nextPart(f *os.File, from, to uint64) (extent, error) {
	if from >= to {
		return extent{}, nil
	}
	start, err := unix.Seek(int(f.Fd()), int64(from), unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return extent{}, nil
	case err != nil:
		return extent{}, os.NewSyscallError("lseek", err)
	case uint64(start) >= to:
		return extent{}, nil
	}
	end, err := unix.Seek(int(f.Fd()), start, unix.SEEK_HOLE)
	if err == nil && (uint64(start) < from || end <= start) {
		err = unix.EIO
	}
	return extent{uint64(start), min(uint64(end), to)}, os.NewSyscallError("lseek", err)
}

// copyParts copies the parts of a file to the same places in another, and returns their checksum.
func copyParts(to io.WriterAt, from io.ReaderAt, parts []extent) (sum uint32, err error) {
	buffer := make([]byte, 256<<10)
	for _, p := range parts {
		for at := p.start; at < p.end; {
			b := buffer[:min(uint64(len(buffer)), p.end-at)]
			if _, err := from.ReadAt(b, int64(at)); err != nil {
				return 0, err
			}
			if _, err := to.WriteAt(b, int64(at)); err != nil {
				return 0, err
			}
			sum = crc32.Update(sum, savedSums, b)
			at += uint64(len(b))
		}
	}
	return sum, nil
}

// OpenSaved opens an image that [Save] has written, and returns what is stored beside it. It checks all bytes, and maps them: the
// file must not change while the image is open. The caller may close it. cfg.Reserve is not used.
func OpenSaved(f *os.File, cfg Config) (_ *Image, about []byte, err error) {
	method, err := choose(cfg.Method)
	if err != nil {
		return nil, nil, fmt.Errorf("saved image: %w", err)
	}
	if method == Copy {
		return nil, nil, errors.New("saved image: memories are copied on this machine, and not mapped")
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("saved image: %w", err)
	}
	head, err := readHead(f, info.Size())
	if err != nil {
		return nil, nil, err
	}
	if err := cfg.checkLength(head.length); err != nil {
		return nil, nil, fmt.Errorf("saved image: %w", err)
	}
	b, err := mapSaved(f, head)
	if err != nil {
		return nil, nil, fmt.Errorf("saved image: %w", err)
	}
	return imageOf(b, cfg, method), head.about, nil
}

// mapSaved maps the memory in a file, and checks it.
func mapSaved(f *os.File, head *savedHead) (*backing, error) {
	fd, err := duplicate(f)
	if err != nil {
		return nil, err
	}
	view, err := unix.Mmap(fd, 0, int(head.length), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("mmap", err), unix.Close(fd))
	}
	b := &backing{bytes: view, fd: fd}
	if err := errors.Join(head.check(view), head.checkHoles(f, view)); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// checkHoles checks that all bytes beside the parts are zero. It reads only those that the disk has, as after copying the file.
func (h *savedHead) checkHoles(f *os.File, view []byte) error {
	before := uint64(0)
	for _, p := range append(h.parts, extent{h.length, h.length}) {
		for at := before; ; {
			data, err := nextPart(f, at, p.start)
			if err != nil {
				return err
			}
			if data.start == data.end {
				break
			}
			if !isZero(view[data.start:data.end]) {
				return errors.New("the saved image is damaged: it has more than it should")
			}
			at = data.end
		}
		before = p.end
	}
	return nil
}

func isZero(b []byte) bool {
	zero := make([]byte, 64<<10)
	for len(b) > 0 {
		n := min(len(b), len(zero))
		if !bytes.Equal(b[:n], zero[:n]) {
			return false
		}
		b = b[n:]
	}
	return true
}
