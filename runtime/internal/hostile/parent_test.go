//go:build linux

package hostile_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
)

const mostResident = 3 << 30 // bytes at which a child is killed

// A verdict is the report of a child, or how the child ended without one.
type verdict struct {
	report
	died  string        // empty if it did not
	noise time.Duration // for which the parent, which had nothing to do, did not run either
}

// survey runs cases one after the other in one child, and in another one from the next case on when a child dies.
func survey(t *testing.T, cases []hostile.Case) map[string]verdict {
	t.Helper()
	verdicts := map[string]verdict{}
	for len(cases) > 0 {
		reports, died := spawn(t, cases)
		for _, v := range reports {
			verdicts[v.Case] = v
		}
		cases = cases[len(reports):]
		if len(cases) > 0 {
			verdicts[cases[0].Name] = verdict{died: died}
			cases = cases[1:]
		}
	}
	return verdicts
}

// spawn runs a child until it is through, dies, or has to be killed, and gives the reports it made until then.
func spawn(t *testing.T, cases []hostile.Case) (reports []verdict, died string) {
	t.Helper()
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(names, ","), "GOTRACEBACK=single")
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = []*os.File{w}, &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe() // open, and silent, like that of a client
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	reports, killed := listen(cmd.Process, r, cases)
	err = cmd.Wait()
	if stdout.Len() > 0 {
		t.Errorf("guests wrote to the standard output of the host: %.200q", stdout.String())
	}
	return reports, epitaph(killed, err, stderr.String())
}

// epitaph says how a child ended.
func epitaph(killed string, err error, stderr string) string {
	switch {
	case killed != "":
		return "killed: " + killed
	case err != nil:
		return fmt.Sprintf("%v: %.300s", err, firstLines(stderr))
	}
	return "it ended without a word"
}

// firstLines returns the lines of a crash that say what it was.
func firstLines(stderr string) string {
	if i := strings.Index(stderr, "fatal error:"); i >= 0 {
		stderr = stderr[i:]
	} else if i := strings.Index(stderr, "panic:"); i >= 0 {
		stderr = stderr[i:]
	}
	return strings.TrimSpace(stderr)
}

// listen reads reports until the last. It kills the child when a case takes longer than it may, or too much memory.
func listen(p *os.Process, r *os.File, cases []hostile.Case) (reports []verdict, killed string) {
	lines := make(chan report)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			var got report
			if json.Unmarshal(s.Bytes(), &got) == nil {
				lines <- got
			}
		}
	}()
	kill := func(why string) {
		if killed == "" {
			killed = why
			_ = p.Kill()
		}
	}
	limit := time.NewTimer(startUp)
	defer limit.Stop()
	idle := attack.WatchClock()
	defer func() { idle.Stop() }()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case got, ok := <-lines:
			switch {
			case !ok:
				return reports, killed
			case got.Begun:
				limit.Reset(patience(cases[len(reports)]))
			default:
				noise := idle.Stop()
				idle = attack.WatchClock()
				reports = append(reports, verdict{report: got, noise: noise})
				limit.Reset(startUp)
			}
		case <-limit.C:
			kill("it took too long")
		case <-look.C:
			if rss := status(strconv.Itoa(p.Pid), "VmRSS:"); rss > mostResident {
				kill(fmt.Sprintf("it took %d MiB", rss>>20))
			}
		}
	}
}
