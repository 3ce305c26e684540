package protocol

// privateSize is how many bytes of a window are copied at once.
const privateSize = 64 << 10

// maxCredits is the most credits that an honest worker has not read: each is for a quarter of the window.
const maxCredits = 4

// A Receiver is the parent's end of a window. It belongs to one goroutine at a time.
type Receiver struct {
	conn     *Conn
	window   *Window
	private  []byte
	at       int // where the next chunk begins
	owed     int // bytes read and not credited yet
	credited Credit
}

// NewReceiver makes the parent's end of a window. The window must stay open while it is in use.
func NewReceiver(c *Conn, w *Window) *Receiver {
	return &Receiver{conn: c, window: w}
}

// Chunk reads the bytes that a KindChunk message announces. It calls take with private copies, each of at most 64 KiB
// and valid until take returns. It returns the first error of take after it has skipped the rest of the chunk, so that
// the connection remains usable; a nil take skips all. A chunk that is not the next one, or exceeds 64 KiB, is a
// violation.
//
// It need not check credit: a worker that announces a chunk without credit has overwritten its own bytes, since the
// parent stores nothing in the window.
func (r *Receiver) Chunk(payload []byte, take func(p []byte) error) error {
	var c Chunk
	if err := c.Decode(payload); err != nil {
		return r.conn.fail(err)
	}
	if err := r.check(c); err != nil {
		return r.conn.fail(err)
	}
	start, n := r.at, int(c.Length)
	r.at = (r.at + n) % r.window.Size()
	taken := r.copyOut(start, n, take)
	if err := r.credit(n); err != nil {
		return err
	}
	return taken
}

func (r *Receiver) check(c Chunk) error {
	offset, length := uint64(c.Offset), uint64(c.Length)
	switch {
	case offset != uint64(r.at):
		return Errorf("chunk at %d, where %d is next", offset, r.at)
	case length == 0 || length > maxChunk || offset+length > uint64(r.window.Size()):
		return Errorf("chunk of %d bytes at %d of a window of %d", length, offset, r.window.Size())
	}
	return nil
}

func (r *Receiver) copyOut(start, n int, take func([]byte) error) error {
	if take == nil {
		return nil
	}
	if r.private == nil {
		r.private = make([]byte, privateSize)
	}
	for end := start + n; start < end; {
		p := r.private[:min(end-start, privateSize)]
		if err := r.window.read(p, start); err != nil {
			return r.conn.fail(err)
		}
		if err := take(p); err != nil {
			return err
		}
		start += len(p)
	}
	return nil
}

// credit returns n bytes to the worker, many at a time.
func (r *Receiver) credit(n int) error {
	if r.owed += n; r.owed < r.window.Size()/maxCredits {
		return nil
	}
	r.credited.Bytes = uint32(r.owed)
	r.conn.PutMessage(&r.credited)
	r.owed = 0
	return r.conn.Flush()
}

// Trim releases the memory of the window and of the receiver until the next call. The link must be idle.
func (r *Receiver) Trim() error {
	r.private = nil
	return r.window.Trim()
}
