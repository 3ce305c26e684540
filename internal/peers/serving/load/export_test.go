package load

import "time"

// Bodies reads responses that come in parts of n bytes, and gives the bodies.
func Bodies(stream []byte, n int) (bodies []string, err error) {
	var body []byte
	r := &response{keep: &body}
	for len(stream) > 0 {
		part := stream[:min(n, len(stream))]
		stream = stream[len(part):]
		done, err := r.feed(part)
		if err != nil {
			return bodies, err
		}
		if done {
			bodies = append(bodies, string(body))
			body = body[:0]
			r.reset()
		}
	}
	return bodies, nil
}

// LineID takes a line in parts of n bytes, and gives its id and length.
func LineID(text []byte, n int) (id uint64, length int64) {
	l := newLine()
	l.add([]byte("a line before"))
	l.reset()
	for len(text) > 0 {
		part := text[:min(n, len(text))]
		l.add(part)
		text = text[len(part):]
	}
	return l.id(), l.length
}

// Quantile gives the quantile of durations.
func Quantile(q float64, all ...time.Duration) time.Duration {
	var h histogram
	for _, d := range all {
		h.add(d)
	}
	return h.quantile(q)
}
