package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

// A server is a process that was started, and the way to it. Stop it.
type server struct {
	cmd      *exec.Cmd
	revision load.Revision
	addr     string     // over HTTP
	pipe     *load.Pipe // on stdio
	files    []*os.File // our ends
	errors   *tail
	reading  sync.WaitGroup
	began    time.Time
}

// startServer starts it and waits until it can be asked.
func startServer(argv, env []string, l lane, r load.Revision) (*server, error) {
	s := &server{cmd: exec.Command(argv[0], argv[1:]...), revision: r, errors: new(tail)}
	s.cmd.Env = env
	s.cmd.SysProcAttr = dieWithParent()
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if l == stdio {
		err = s.startStdio(stderr)
	} else {
		err = s.startHTTP(stderr)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, s.errors)
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) startStdio(stderr io.Reader) error {
	in, w, err := os.Pipe()
	if err != nil {
		return err
	}
	r, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, in.Close(), w.Close())
	}
	s.files = []*os.File{w, r}
	s.cmd.Stdin, s.cmd.Stdout = in, out
	s.began = time.Now()
	err = s.cmd.Start()
	if err := errors.Join(err, in.Close(), out.Close()); err != nil {
		return err
	}
	s.reading.Go(func() { _, _ = io.Copy(s.errors, stderr) })
	s.pipe, err = load.OpenPipe(int(w.Fd()), int(r.Fd()), s.revision)
	return err
}

func (s *server) startHTTP(stderr io.Reader) error {
	s.began = time.Now()
	if err := s.cmd.Start(); err != nil {
		return err
	}
	said := bufio.NewReader(stderr)
	address := regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)
	for s.addr == "" {
		line, err := said.ReadString('\n')
		if err != nil {
			return errors.New("it has ended without saying where it listens")
		}
		_, _ = s.errors.Write([]byte(line))
		s.addr = address.FindString(line)
	}
	s.reading.Go(func() { _, _ = io.Copy(s.errors, said) })
	return nil
}

// A caller asks one thing after the other and gives the messages.
type caller interface {
	Call(c load.Call, buf []byte) ([]byte, error)
}

// caller gives a way to ask, and what ends it.
func (s *server) caller() (caller, func(), error) {
	if s.pipe != nil {
		return s.pipe, func() {}, nil
	}
	x, err := load.OpenExchange(s.addr, s.revision)
	if err != nil {
		return nil, nil, err
	}
	return x, x.Close, nil
}

// load puts a load on the server: so many requests at a time.
func (s *server) load(c load.Call, at int, l load.Load) (*load.Result, error) {
	if s.pipe != nil {
		return load.Stdio{Pipe: s.pipe, Call: c, Depth: at}.Run(l)
	}
	return load.HTTP{Addr: s.addr, Revision: s.revision, Call: c, Connections: at}.Run(l)
}

// stop ends the process, and with it those it has started.
func (s *server) stop() {
	for _, f := range s.files {
		_ = f.Close()
	}
	if s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
		s.reading.Wait()
		_ = s.cmd.Wait()
	}
}

// A tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailMax = 2 << 10

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailMax):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
