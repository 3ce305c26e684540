package protocol

import "os"

// SendFiles sends the queued messages and m, with the files. The caller closes the files.
func (c *Conn) SendFiles(m Message, files ...*os.File) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.PutMessage(m)
	return c.flush(files)
}

// TakeFiles returns the n files that came with the message read last, in the order they were sent. They belong to the
// caller. It closes them and returns an error if there are not n.
func (c *Conn) TakeFiles(n int) ([]*os.File, error) {
	if err := c.failure(); err != nil {
		return nil, err
	}
	files := c.sock.takeFiles()
	if len(files) == n {
		return files, nil
	}
	closeAll(files)
	return nil, c.fail(Errorf("%d files came, not %d", len(files), n))
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
