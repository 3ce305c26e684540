package protocol

import "time"

// answerPart is the size of the messages of a body: one fits the buffer of its reader.
const answerPart = inBuffer - headerSize

// SendAnswer sends an answer and its body, of at most [MaxAnswerBody] bytes. It sets a.BodySize.
func (c *Conn) SendAnswer(a *Answer, body []byte) error {
	if len(body) > MaxAnswerBody {
		return c.fail(encodeError(tooLong("body", len(body), MaxAnswerBody)))
	}
	a.BodySize = uint32(len(body))
	c.PutMessage(a)
	for len(body) > 0 {
		piece := body[:min(len(body), answerPart)]
		if c.Queued()+len(piece) > inBuffer {
			if err := c.Flush(); err != nil {
				return err
			}
		}
		c.Put(KindBody, piece)
		body = body[len(piece):]
	}
	return c.Flush()
}

// NextAnswer reads an answer and its body into message and body, and returns both. They grow with the bytes that have
// come, whatever the answer declares. a.Message is the message.
func (s *Sender) NextAnswer(a *Answer, message, body []byte) (_, _ []byte, err error) {
	kind, p, err := s.next()
	if err != nil {
		return message, body, err
	}
	if kind != KindAnswer {
		return message, body, s.conn.Unexpected(kind)
	}
	if err := a.Decode(p); err != nil {
		return message, body, s.conn.fail(err)
	}
	s.waited.Store(max(s.waited.Load(), int64(a.Blocked)*int64(time.Millisecond)))
	message = append(message[:0], a.Message...)
	a.Message = message
	body, err = s.answerBody(body[:0], int(a.BodySize))
	return message, body, err
}

func (s *Sender) answerBody(body []byte, size int) ([]byte, error) {
	for len(body) < size {
		kind, p, err := s.next()
		switch {
		case err != nil:
			return body, err
		case kind != KindBody:
			return body, s.conn.Unexpected(kind)
		case len(p) > size-len(body):
			return body, s.conn.fail(tooLong("body", len(body)+len(p), size))
		}
		body = append(body, p...)
	}
	return body, nil
}
