// Package clients runs other people's programs for OCI registries: cosign and crane, built from the Go module proxy, and
// Debian's docker-registry.
package clients

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The versions that are run.
const (
	Cosign = "github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3"
	Crane  = "github.com/google/go-containerregistry/cmd/crane@v0.22.1"
)

// Passphrase is that of the keys that [Programs] makes.
const Passphrase = "correct horse"

// Programs are the built programs in a folder, and a folder in which they run.
type Programs struct{ bin, work string }

// Build builds the programs into the folder bin of the user's cache, unless they are there. cosign takes four minutes of
// processor time.
func Build(work string) (*Programs, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	p := &Programs{filepath.Join(cache, "wasmres", "interop"), work}
	for _, program := range []string{Cosign, Crane} {
		path, version, _ := strings.Cut(program, "@")
		name := filepath.Join(p.bin, version, filepath.Base(path))
		if _, err := os.Stat(name); err == nil {
			continue
		}
		install := exec.Command("go", "install", "-trimpath", "-ldflags=-s -w", program)
		install.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOBIN="+filepath.Dir(name))
		install.Stderr = os.Stderr
		if err := install.Run(); err != nil {
			return nil, fmt.Errorf("build %s: %w", program, err)
		}
	}
	signingConfig := `{"mediaType":"application/vnd.dev.sigstore.signingconfig.v0.2+json"}`
	return p, os.WriteFile(filepath.Join(work, "offline.json"), []byte(signingConfig), 0o600)
}

// Offline are the flags by which cosign signs without a network.
var Offline = []string{"--signing-config", "offline.json"}

// Run runs a program and returns what it writes. The error has the end of what it wrote to its standard error.
func (p *Programs) Run(program string, arguments ...string) (string, error) {
	path, version, _ := strings.Cut(program, "@")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(p.bin, version, filepath.Base(path)), arguments...)
	c.Dir = p.work
	c.Env = append(os.Environ(), "COSIGN_PASSWORD="+Passphrase, "HOME="+p.work, "DOCKER_CONFIG="+p.work)
	var complaint strings.Builder
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		said := complaint.String()
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(path), strings.Join(arguments, " "), err, said[max(0, len(said)-500):])
	}
	return string(out), nil
}

// Serve starts a registry that keeps everything in folders of the operating system for temporary files, until stop is called:
// Debian's docker-registry, or for "crane" the registry of crane.
func (p *Programs) Serve(program string) (address string, stop func(), err error) {
	if address, err = freeAddress(); err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp(p.work, "registry-")
	if err != nil {
		return "", nil, err
	}
	c, err := p.server(program, address, dir)
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, fmt.Errorf("start %s: %w: install Debian's package docker-registry", program, err)
	}
	stop = func() {
		_ = c.Process.Kill()
		_ = c.Wait() // the error is that it was killed
	}
	if err := answers(address); err != nil {
		stop()
		return "", nil, err
	}
	return address, stop, nil
}

func (p *Programs) server(program, address, dir string) (*exec.Cmd, error) {
	if program == "crane" {
		_, version, _ := strings.Cut(Crane, "@")
		return exec.Command(filepath.Join(p.bin, version, "crane"), "registry", "serve", "--address", address, "--disk", dir), nil
	}
	settings := filepath.Join(dir, "config.yml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: %q}\n", dir, address)
	return exec.Command("docker-registry", "serve", settings), os.WriteFile(settings, []byte(text), 0o600)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// answers waits until a registry answers, for at most ten seconds.
func answers(address string) (err error) {
	for range 200 {
		var response *http.Response
		if response, err = http.Get("http://" + address + "/v2/"); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			return response.Body.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("the registry at %s does not answer: %w", address, err)
}
