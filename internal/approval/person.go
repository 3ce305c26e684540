package approval

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wasmres/wasmres/internal/policy"
)

const (
	maxQuestions = 16 // to one person about one provider
	maxTries     = 3  // to answer one of them
)

// A person is asked questions, one after the other.
type person struct {
	ctx   context.Context
	out   io.Writer
	in    *bufio.Reader
	width int
	asked int
	gone  bool // nothing more is going to be said
}

// ask gives the answer to a question: a line, without spaces around it. Who is gone answers nothing, and so is a line
// that does not end.
func (p *person) ask(question string) (string, error) {
	if p.gone {
		return "", nil
	}
	if _, err := io.WriteString(p.out, question); err != nil {
		return "", err
	}
	type said struct {
		line string
		err  error
	}
	heard := make(chan said, 1)
	go func() {
		line, err := p.in.ReadSlice('\n')
		heard <- said{string(line), err}
	}()
	select {
	case <-p.ctx.Done():
		return "", p.ctx.Err()
	case answer := <-heard:
		if answer.err != nil {
			p.gone = true
			fmt.Fprintln(p.out)
			return "", nil
		}
		return strings.TrimSpace(answer.line), nil
	}
}

// fill asks for a value until add takes it, or there is none.
func (p *person) fill(add func(value string) error, format string, args ...any) error {
	if p.asked++; p.asked > maxQuestions {
		return errTooMuch
	}
	question := "\n" + strings.Join(hang(fmt.Sprintf(format, args...), p.width), "\n") + "\n> "
	for range maxTries {
		value, err := p.ask(question)
		if err != nil || value == "" {
			return err
		}
		if err = add(value); err == nil {
			return nil
		}
		fmt.Fprintln(p.out, strings.Join(wrap(shown(err.Error(), maxShown), "  ", p.width), "\n"))
	}
	return nil
}

// complete gives what is asked for, with what only the operator knows. What has no answer is not granted.
func (d *Decision) complete(p *person) (*policy.Policy, error) {
	asked := wishes(d.Asks)
	granted := &policy.Policy{KV: asked.KV}
	type question func(p *person, granted, asked *policy.Policy) error
	for _, ask := range []question{folders, servers, variables, secrets, databases} {
		if err := ask(p, granted, asked); err != nil {
			return nil, err
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return granted.Under(dir), nil
}

// adding gives what adds the value of a flag, made of an answer.
func adding(granted *policy.Policy, flag, format string) func(string) error {
	return func(answer string) error { return policy.Add(granted, flag, fmt.Sprintf(format, answer)) }
}

func folders(p *person, granted, asked *policy.Policy) error {
	for _, s := range asked.Storage {
		add := func(spec string) error {
			spec, err := existing(spec)
			if err != nil {
				return err
			}
			if err := policy.Add(granted, "dir", spec+":ro"); err != nil {
				return err
			}
			folder := &granted.Storage[len(granted.Storage)-1]
			folder.Access, folder.MaxBytes, folder.MaxFiles = s.Access, s.MaxBytes, s.MaxFiles
			return nil
		}
		var err error
		if s.Guest == "" {
			err = p.fill(add, "Which folder may it %s, and where does it expect it? As in .:/data; empty for none.", s.Access)
		} else {
			err = p.fill(func(folder string) error { return add(folder + ":" + s.Guest) },
				"Which folder may it %s at %s? Empty for none.", s.Access, shown(s.Guest, maxShown))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// existing gives HOST:GUEST with a host folder that is there. No shell has expanded what was typed here.
func existing(spec string) (string, error) {
	at := strings.LastIndex(spec, ":/")
	if at < 0 {
		return spec, nil // which is refused for what it is
	}
	folder, guest := spec[:at], spec[at:]
	if folder == "~" || strings.HasPrefix(folder, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		folder = home + folder[1:]
	}
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", folder)
	}
	return folder + guest, err
}

func servers(p *person, granted, asked *policy.Policy) error {
	for _, n := range asked.Network {
		if n.Host != "" {
			granted.Network = append(granted.Network, n)
			continue
		}
		err := p.fill(adding(granted, "net", "%s"),
			"Which server may it ask? As in https://api.example.org; empty for none.")
		if err != nil {
			return err
		}
	}
	return nil
}

func variables(p *person, granted, asked *policy.Policy) error {
	for _, key := range asked.Environment {
		if key != "" {
			granted.Environment = append(granted.Environment, key)
			continue
		}
		err := p.fill(adding(granted, "env", "%s"), "Which variable of the environment may it read? Empty for none.")
		if err != nil {
			return err
		}
	}
	return nil
}

func databases(p *person, granted, asked *policy.Policy) error {
	for _, s := range asked.SQL {
		name := s.Name
		if name == "" {
			name = "main"
		}
		err := p.fill(adding(granted, "sql", name+"=%s"),
			"Where is the database %s? As env:VARIABLE or file:PATH, which has its address, or sqlite:PATH; empty for none.",
			name)
		if err != nil {
			return err
		}
	}
	return nil
}

// secrets asks where they are. Rules keep those that there are then.
func secrets(p *person, granted, asked *policy.Policy) error {
	for _, s := range asked.Secrets {
		if s.Name == "" {
			continue // there is nothing it could be called by
		}
		err := p.fill(adding(granted, "secret", s.Name+"=%s"),
			"Where is the secret %s? As env:VARIABLE, file:PATH or keyring:SERVICE/USER; empty for none.", s.Name)
		if err != nil {
			return err
		}
	}
	carry(granted)
	return nil
}
