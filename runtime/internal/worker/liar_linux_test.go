package worker_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol/protocoltest"
)

// A liar is a worker that sends what it likes. It is none of package child: it has no guest and no isolation.
type liar struct {
	control, link *protocol.Conn
	call          protocol.Call // the last that came
	number        uint64        // of messages from now on
	talked        bool
}

// The descriptors of a worker.
const (
	fdControl = 3
	fdReports = 4
	fdLink    = 5
)

// lie does what a role is about, after a proper beginning unless that is what it is about.
func lie(role string) (err error) {
	l := &liar{}
	if l.control, err = protocol.Open(os.NewFile(fdControl, "control"), protocol.MaxFiles); err != nil {
		return err
	}
	if l.link, err = protocol.Open(os.NewFile(fdLink, "link"), 0); err != nil {
		return err
	}
	if start, ok := bornLiars()[role]; ok {
		return start(l)
	}
	if start, ok := imageLiars()[role]; ok {
		return start(l)
	}
	answer, ok := lies()[role]
	if !ok {
		return fmt.Errorf("there is no role %q", role)
	}
	if err := errors.Join(l.begin(), l.ready(`{"reset":"reset"}`)); err != nil {
		return err
	}
	for l.next() == nil {
		if err := answer(l); err != nil {
			return err
		}
	}
	return nil
}

// begin receives the start request.
func (l *liar) begin() error {
	files, err := l.beginWith()
	for _, f := range files {
		f.Close()
	}
	return err
}

// beginWith is begin, and returns the files.
func (l *liar) beginWith() ([]*os.File, error) {
	_, text, err := l.control.Next()
	if err != nil {
		return nil, err
	}
	var request protocol.StartRequest
	if err := json.Unmarshal(text, &request); err != nil {
		return nil, err
	}
	return l.control.TakeFiles(request.Files())
}

func (l *liar) ready(news string) error { return l.say(protocol.KindReady, []byte(news)) }

// next waits for the next call.
func (l *liar) next() error {
	for {
		kind, p, err := l.link.Next()
		if err != nil {
			return err
		}
		if kind == protocol.KindCall {
			l.number = l.link.Number()
			l.link.Begin(l.number)
			return l.call.Decode(p)
		}
	}
}

// say writes a message, whatever is in it.
func (l *liar) say(kind protocol.Kind, payload []byte) error {
	return l.write(append(protocoltest.Header(len(payload), kind, l.number), payload...))
}

func (l *liar) write(p []byte) error { return writeAll(fdLink, p) }

func writeAll(fd int, p []byte) error {
	for len(p) > 0 {
		n, err := syscall.Write(fd, p)
		if err != nil && err != syscall.EINTR {
			return err
		}
		p = p[max(n, 0):]
	}
	return nil
}

func (l *liar) send(messages ...protocol.Message) error {
	for _, m := range messages {
		if err := l.say(m.Kind(), m.Append(nil)); err != nil {
			return err
		}
	}
	return nil
}

// begun begins a content.
func (l *liar) begun() error {
	return l.say(protocol.KindFrame, (&abi.Content{URI: "x:o", Kind: abi.KindBlob}).Append(nil))
}

// text answers a call with a text, as it should be done.
func (l *liar) text(s string) error {
	content := &abi.Content{URI: "x:o", Kind: abi.KindText, Inline: []byte(s)}
	return errors.Join(l.say(protocol.KindFrame, content.Append(nil)), l.send(&protocol.Done{}))
}

// forever sends the same again and again, until the parent has closed the connection.
func (l *liar) forever(kind protocol.Kind, payload []byte) error {
	for {
		if err := l.say(kind, payload); err != nil {
			return err
		}
	}
}

// asleep never comes back.
func asleep() error {
	for {
		_ = unix.Pause()
	}
}

// lies are the ways to answer a call.
func lies() map[string]func(l *liar) error {
	say := func(kind protocol.Kind, payload []byte) func(*liar) error {
		return func(l *liar) error { return errors.Join(l.begun(), l.say(kind, payload), asleep()) }
	}
	chunk := func(chunks ...protocol.Chunk) func(*liar) error {
		return func(l *liar) error {
			if err := l.begun(); err != nil {
				return err
			}
			for _, c := range chunks {
				if err := l.send(&c); err != nil {
					return err
				}
			}
			return asleep()
		}
	}
	fault := func(code abi.Code) func(*liar) error {
		return func(l *liar) error { return l.send(&protocol.Done{Code: code}) }
	}
	ask := func(id abi.Service, request []byte) func(*liar) error {
		return func(l *liar) error {
			if err := l.send(&protocol.Ask{Service: id, Request: request}); err != nil {
				return err
			}
			kind, p, err := l.link.Next()
			var a protocol.Answer
			if err := errors.Join(err, a.Decode(p)); err != nil {
				return err
			}
			return l.text(kind.String() + " " + a.Code.String())
		}
	}
	return map[string]func(*liar) error{
		"ends": func(*liar) error { return errors.New("so it goes") }, "ends-well": func(*liar) error { os.Exit(0); return nil },
		"ends-in-a-header": func(l *liar) error { return errors.Join(l.write([]byte{1, 2, 3}), errors.New("gone")) },
		"ends-in-a-frame": func(l *liar) error {
			return errors.Join(l.write(append(protocoltest.Header(100, protocol.KindFrame, l.number), 1, 2)), errors.New("gone"))
		},
		"ends-in-a-content": func(l *liar) error {
			return errors.Join(l.begun(), l.say(protocol.KindBody, make([]byte, 1000)), errors.New("gone"))
		},
		"is-silent":         func(*liar) error { return asleep() },
		"waits-in-a-header": func(l *liar) error { return errors.Join(l.write([]byte{1, 2, 3}), asleep()) },
		"waits-in-a-frame": func(l *liar) error {
			return errors.Join(l.write(append(protocoltest.Header(100, protocol.KindFrame, l.number), 1)), asleep())
		},
		"announces-4-GiB": func(l *liar) error {
			return errors.Join(l.write(protocoltest.Header(-1, protocol.KindFrame, l.number)), asleep())
		},
		"frames-too-much": say(protocol.KindFrame, make([]byte, abi.MaxFrame+1)),
		"uses-reserved-bytes": func(l *liar) error {
			return errors.Join(l.write([]byte{0, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), asleep())
		},
		"says-nothing-known":   say(99, nil),
		"says-kind-zero":       say(0, nil),
		"calls-the-parent":     say(protocol.KindCall, (&protocol.Call{}).Append(nil)),
		"answers-the-parent":   say(protocol.KindAnswer, (&protocol.Answer{}).Append(nil)),
		"gives-credit":         say(protocol.KindCredit, (&protocol.Credit{Bytes: 1 << 20}).Append(nil)),
		"is-ready-again":       say(protocol.KindReady, []byte(`{"reset":"reset"}`)),
		"starts-the-parent":    say(protocol.KindStart, []byte(`{}`)),
		"fails-late":           say(protocol.KindFailed, (&protocol.Done{Code: abi.CodeModule}).Append(nil)),
		"opens-links":          say(protocol.KindNewLink, (&protocol.NewLink{}).Append(nil)),
		"chunks-outside":       chunk(protocol.Chunk{Offset: 1 << 30, Length: 1}),
		"chunks-the-next":      chunk(protocol.Chunk{Offset: 64 << 10, Length: 1}),
		"chunks-too-much":      chunk(protocol.Chunk{Length: 64<<10 + 1}),
		"chunks-nothing":       chunk(protocol.Chunk{}),
		"chunks-4-GiB":         chunk(protocol.Chunk{Length: 1<<32 - 1}),
		"sends-files":          sendsFiles,
		"garbles-done":         say(protocol.KindDone, make([]byte, 38)),
		"garbles-log":          say(protocol.KindLog, []byte{0, 1, 0, 0}),
		"logs-no-text":         say(protocol.KindLog, append([]byte{0, 0, 2, 0}, 0xff, 0xfe)),
		"ends-with-no-text":    say(protocol.KindDone, append((&protocol.Done{Code: abi.CodeTrap, Message: "xx"}).Append(nil)[:32], 0xff, 0xff, 0xff, 0xff)),
		"answers-with-999":     fault(999),
		"answers-with-20":      fault(20),
		"answers-with-exit":    fault(abi.CodeExit),
		"answers-with-nothing": fault(abi.CodeOK),
		"asks-for-files":       ask(abi.ServiceFileStat, []byte("/etc/passwd")),
		"asks-for-the-unknown": ask(1<<31, nil),
		"asks-nonsense":        ask(abi.ServiceConfig, []byte("not what a puppet asks")),
		"asks-and-never-reads": func(l *liar) error { return l.forever(protocol.KindAsk, (&protocol.Ask{Service: 63}).Append(nil)) },
		"is-done-twice":        func(l *liar) error { return errors.Join(l.text("fine"), l.send(&protocol.Done{})) },
		"goes-on-when-done": func(l *liar) error {
			return errors.Join(l.text("fine"), l.begun(), l.say(protocol.KindBody, make([]byte, 100)))
		},
		"reads-another's": func(l *liar) error {
			return errors.Join(l.say(protocol.KindFrame, (&abi.Content{URI: "y:o", Kind: abi.KindText}).Append(nil)), l.send(&protocol.Done{}))
		},
		"floods-bodies": func(l *liar) error { return errors.Join(l.begun(), l.forever(protocol.KindBody, make([]byte, 64<<10))) },
		"floods-frames": func(l *liar) error {
			return l.forever(protocol.KindFrame, bytes.Repeat((&abi.Progress{Done: 1}).Append(nil), 1000))
		},
		"floods-entries": func(l *liar) error {
			return l.forever(protocol.KindFrame, (&abi.Reply{Resources: []abi.Resource{{URI: "x:o", Name: "o"}}}).Append(nil))
		},
		"floods-logs":           floods(fdLink, protocol.KindLog, logLine()),
		"floods-reports":        floods(fdReports, protocol.KindLog, logLine()),
		"floods-notices":        floods(fdLink, protocol.KindChanged, []byte("x:changed")),
		"notices-what-is-wrong": floods(fdLink, protocol.KindChanged, []byte("y:\xff")),
		"reports-nonsense":      floods(fdReports, protocol.KindDone, make([]byte, 26)),
		"drips": func(l *liar) error {
			return errors.Join(l.begun(), l.forever(protocol.KindBody, make([]byte, 1)))
		},
		"hangs-after-a-body": func(l *liar) error {
			return errors.Join(l.begun(), l.say(protocol.KindBody, make([]byte, 1000)), asleep())
		},
		"replies-to-moved": repliesToMoved,
		"answers-again":    func(l *liar) error { return errors.Join(l.text("fine"), l.text("stale")) },
		"answers-the-next": func(l *liar) error {
			err := l.text("fine")
			l.number += 1 << 20 // but for the bits that cannot be known
			return errors.Join(err, l.text("stale"))
		},
		"never-obeys": func(l *liar) error { return errors.Join(l.text("fine"), asleep()) },
	}
}

// logLine is a message that the parent logs, within its budget.
func logLine() []byte {
	return (&protocol.Log{Level: slog.LevelError, Message: "guest log", Attrs: []protocol.Attr{{Key: "text", Value: strings.Repeat("flood ", 200)}}}).Append(nil)
}

// floods says something many times, and then answers as it should.
func floods(fd int, kind protocol.Kind, payload []byte) func(*liar) error {
	return func(l *liar) error {
		number := l.number
		if fd == fdReports {
			number = 0
		}
		message := append(protocoltest.Header(len(payload), kind, number), payload...)
		for range 20_000 {
			if err := writeAll(fd, message); err != nil {
				break
			}
		}
		return l.text("fine")
	}
}

// sendsFiles sends descriptors along, which the protocol does not allow.
func sendsFiles(l *liar) error {
	message := append(protocoltest.Header(0, protocol.KindFrame, l.number), protocoltest.Header(0, protocol.KindFrame, l.number)...)
	if err := unix.Sendmsg(fdLink, message, unix.UnixRights(0, 1, 2, fdLink), nil, 0); err != nil {
		return err
	}
	return asleep()
}

// hasCall is what repliesToMoved logs when it has the first call. The parent logs no message that it does not know.
const hasCall = "the first call has come"

// repliesToMoved lets a call wait behind another until it is told that it waits no more, and then has much to say of it.
func repliesToMoved(l *liar) error {
	if l.talked {
		return l.text("fine")
	}
	l.talked = true
	first := l.number
	if err := errors.Join(l.send(&protocol.Log{Message: "guest log", Attrs: []protocol.Attr{{Key: "text", Value: hasCall}}}), l.next()); err != nil {
		return err
	}
	if err := l.awaitCancel(); err != nil {
		return err
	}
	waiting := l.number
	l.number = first
	err := l.text("fine")
	l.number = waiting
	err = errors.Join(err, l.begun(), l.say(protocol.KindBody, make([]byte, 1000)),
		l.send(&protocol.Chunk{Length: 10}), l.say(protocol.KindLog, logLine()), l.say(protocol.KindChanged, []byte("x:changed")),
		l.send(&protocol.Ask{Service: abi.ServiceConfig}))
	if err != nil {
		return err
	}
	var a protocol.Answer
	_, p, err := l.link.Next()
	if err := errors.Join(err, a.Decode(p)); err != nil || a.Code != abi.CodeUnavailable {
		return fmt.Errorf("it was answered %v: %w", a.Code, err)
	}
	return l.send(&protocol.Done{})
}

// awaitCancel waits until a call is cancelled, and answers well on every other link that is made until the end.
func (l *liar) awaitCancel() error {
	cancelled := make(chan error, 1)
	go func() {
		for {
			kind, _, err := l.control.Next()
			if err == nil && kind == protocol.KindNewLink {
				err = l.serveAnother()
			}
			if err != nil || kind == protocol.KindCancel {
				select {
				case cancelled <- err:
				default:
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return <-cancelled
}

// serveAnother answers well on the link that has been made.
func (l *liar) serveAnother() error {
	files, err := l.control.TakeFiles(2)
	if err != nil {
		return err
	}
	conn, err := protocol.Open(files[0], 0)
	if err != nil {
		return err
	}
	go func() {
		e := end{Conn: conn}
		for {
			if _, err := e.next(); err != nil {
				return
			}
			e.text("fine")
		}
	}()
	return nil
}

// bornLiars are wrong from the beginning.
func bornLiars() map[string]func(l *liar) error {
	after := func(f func(l *liar) error) func(*liar) error {
		return func(l *liar) error { return errors.Join(l.begin(), f(l), asleep()) }
	}
	ready := func(news string) func(*liar) error { return after(func(l *liar) error { return l.ready(news) }) }
	failed := func(p []byte) func(*liar) error {
		return after(func(l *liar) error { return l.say(protocol.KindFailed, p) })
	}
	return map[string]func(*liar) error{
		"begins-with-its-end":        func(*liar) error { return errors.New("so it goes") },
		"ends-on-start-request":      func(l *liar) error { return errors.Join(l.begin(), errors.New("so it goes")) },
		"never-begins":               func(*liar) error { return asleep() },
		"never-gets-ready":           after(func(*liar) error { return nil }),
		"gets-half-ready":            after(func(l *liar) error { return l.write(append(protocoltest.Header(100, protocol.KindReady, 0), '{')) }),
		"is-ready-for-nonsense":      ready("nonsense"),
		"is-ready-for-no-reset-mode": ready(`{"reset":"left"}`),
		"is-ready-without-json":      ready("\xff\x00"),
		"fails-with-success":         failed((&protocol.Done{}).Append(nil)),
		"fails-with-999":             failed((&protocol.Done{Code: 999}).Append(nil)),
		"fails-with-words":           failed((&protocol.Done{Code: abi.CodeTrap, Message: "\x1b[2Jforged\nline"}).Append(nil)),
		"fails-in-garbage":           failed(make([]byte, 38)),
		"is-done-before-it-begins":   after(func(l *liar) error { return l.send(&protocol.Done{}) }),
		"chunks-before-it-begins":    after(func(l *liar) error { return l.send(&protocol.Chunk{Offset: 7, Length: 7}) }),
		"manifests-without-end":      after(func(l *liar) error { return l.forever(protocol.KindFrame, make([]byte, abi.MaxFrame)) }),
		"logs-without-end":           after(func(l *liar) error { return l.forever(protocol.KindLog, logLine()) }),
		"boasts": func(l *liar) error {
			layer := `{"name":"` + strings.Repeat("n", 4000) + `","on":true,"detail":"` + strings.Repeat("d", 4000) + `"}`
			news := `{"reset":"reset","why":"` + strings.Repeat("w", 100_000) + `","layers":[` + strings.Repeat(layer+",", 100) + layer + `]}`
			return errors.Join(l.begin(), l.ready(news), l.next(), l.text("fine"), asleep())
		},
		"answers-unread":               answersUnread,
		"is-another-each-time":         anotherEachTime,
		"answers-what-it-has-not-read": answersUnread,
		"never-confirms":               neverConfirms,
		"stops-obeying":                stopsObeying,
	}
}

// anotherEachTime describes itself as one that is called after the files beside its program, of which it makes another.
func anotherEachTime(l *liar) error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	beside, err := filepath.Glob(filepath.Join(filepath.Dir(program), "*"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(fmt.Sprintf("%s-%d", program, time.Now().UnixNano()), nil, 0o600); err != nil {
		return err
	}
	manifest := &abi.Manifest{Name: fmt.Sprintf("number-%d", len(beside)), Ops: 1 << abi.OpRead}
	if err := errors.Join(l.begin(), l.say(protocol.KindFrame, manifest.Append(nil)), l.ready(`{"reset":"reset"}`)); err != nil {
		return err
	}
	for l.next() == nil {
		if err := l.text("fine"); err != nil {
			return err
		}
	}
	return nil
}
