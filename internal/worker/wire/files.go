package wire

import "os"

// SendFiles sends what is queued and m, and the files along with it. They stay the caller's.
func (c *Conn) SendFiles(m Message, files ...*os.File) error {
	c.PutMessage(m)
	if c.err != nil {
		return c.err
	}
	sent, err := c.sock.writeFiles(c.out, files)
	if err != nil {
		return c.fail(err)
	}
	c.out = append(c.out[:0], c.out[sent:]...)
	return c.Flush()
}

// TakeFiles gives the n files that came with the message last read, in the order they were sent. They belong to the
// caller. Another number of files is an error, and closes them.
func (c *Conn) TakeFiles(n int) ([]*os.File, error) {
	if c.err != nil {
		return nil, c.err
	}
	files := c.sock.takeFiles()
	if len(files) == n {
		return files, nil
	}
	closeAll(files)
	return nil, c.fail(Protocolf("%d files came, not %d", len(files), n))
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
