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
	maxQuestions = 16 // about one provider
	maxTries     = 3  // to answer one question
)

// A person answers questions at a terminal, one after the other.
type person struct {
	ctx   context.Context
	out   io.Writer
	in    *bufio.Reader
	width int
	asked int
	ended bool // the input has ended
}

// ask returns the answer to a question: a line, without spaces around it. The answer is empty when the input has ended,
// also within a line.
func (p *person) ask(question string) (string, error) {
	if p.ended {
		return "", nil
	}
	if _, err := io.WriteString(p.out, question); err != nil {
		return "", err
	}
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		line, err := p.in.ReadSlice('\n')
		answers <- answer{string(line), err}
	}()
	select {
	case <-p.ctx.Done():
		return "", p.ctx.Err()
	case a := <-answers:
		if a.err != nil {
			p.ended = true
			fmt.Fprintln(p.out)
			return "", nil
		}
		return strings.TrimSpace(a.line), nil
	}
}

// fill asks for a value until add accepts it, the answer is empty, or there were maxTries.
func (p *person) fill(add func(value string) error, format string, args ...any) error {
	if p.asked++; p.asked > maxQuestions {
		return errTooMuch
	}
	question := "\n" + strings.Join(hangingIndent(fmt.Sprintf(format, args...), p.width), "\n") + "\n> "
	for range maxTries {
		value, err := p.ask(question)
		if err != nil || value == "" {
			return err
		}
		if err = add(value); err == nil {
			return nil
		}
		fmt.Fprintln(p.out, strings.Join(wrap(escape(err.Error(), maxText), "  ", p.width), "\n"))
	}
	return nil
}

// askForValues returns the requested policy with values that the user enters. It leaves out entries without a value.
func (d *Decision) askForValues(p *person) (*policy.Policy, error) {
	asked := policyOf(d.Requests)
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

// addFlag returns a function that adds a flag to granted, with an answer in format as its value.
func addFlag(granted *policy.Policy, flag, format string) func(string) error {
	return func(answer string) error { return policy.Add(granted, flag, fmt.Sprintf(format, answer)) }
}

func folders(p *person, granted, asked *policy.Policy) error {
	for _, s := range asked.Storage {
		add := func(spec string) error {
			spec, err := resolveHost(spec)
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
			err = p.fill(add, "Which folder may it %s, and at which path does it expect it? For example .:/data; empty for none.", s.Access)
		} else {
			err = p.fill(func(folder string) error { return add(folder + ":" + s.Guest) },
				"Which folder may it %s at %s? Empty for none.", s.Access, escape(s.Guest, maxText))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// resolveHost returns spec, which is HOST:GUEST, with ~ expanded, since no shell does. The host folder must exist.
func resolveHost(spec string) (string, error) {
	at := strings.LastIndex(spec, ":/")
	if at < 0 {
		return spec, nil // policy.Add refuses it
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
		err = fmt.Errorf("%s is not a folder", folder)
	}
	return folder + guest, err
}

func servers(p *person, granted, asked *policy.Policy) error {
	for _, n := range asked.Network {
		if n.Host != "" {
			granted.Network = append(granted.Network, n)
			continue
		}
		err := p.fill(addFlag(granted, "net", "%s"),
			"To which server may it send requests? For example https://api.example.org; empty for none.")
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
		err := p.fill(addFlag(granted, "env", "%s"), "Which environment variable may it read? Empty for none.")
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
		err := p.fill(addFlag(granted, "sql", name+"=%s"),
			"Where is the database %s? Enter env:VARIABLE or file:PATH, which contains its address, or sqlite:PATH; empty for none.",
			name)
		if err != nil {
			return err
		}
	}
	return nil
}

// secrets asks for the source of each secret. Rules then lose the secrets without one.
func secrets(p *person, granted, asked *policy.Policy) error {
	for _, s := range asked.Secrets {
		if s.Name == "" {
			continue // an open request: a secret needs a name
		}
		err := p.fill(addFlag(granted, "secret", s.Name+"=%s"),
			"Where is the secret %s? Enter env:VARIABLE, file:PATH or keyring:SERVICE/USER; empty for none.", s.Name)
		if err != nil {
			return err
		}
	}
	assignSecrets(granted)
	return nil
}
