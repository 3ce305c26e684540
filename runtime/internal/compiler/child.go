package compiler

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/process"
)

const (
	// childName is the zeroth argument of a child, and its only one.
	childName = "wasmres-compile"
	// maxRequest bounds the line of the request in bytes.
	maxRequest = 1 << 10
	// maxOutput bounds each file that a child writes, in bytes.
	maxOutput = 256 << 20
	// maxFiles bounds the open descriptors of a child.
	maxFiles = 32
)

// A request is the first line of a child's standard input. The module follows. The child's working directory is the
// directory to fill.
type request struct {
	Size   int           `json:"size"`   // bytes of the module
	CPU    time.Duration `json:"cpu"`    // processor time
	Memory uint64        `json:"memory"` // bytes
	Procs  int           `json:"procs"`  // processors to use
	Engine engines.Kind  `json:"engine"`
}

// Main acts as a child and exits, if this process was started as one; otherwise it returns at once. Call it first in
// main, and in TestMain of tests that compile.
func Main() {
	process.Main()
	if !isChild() {
		return
	}
	process.Tie()
	line, err := json.Marshal(work(bufio.NewReaderSize(os.Stdin, maxRequest)))
	if err != nil {
		panic(err) // every answer can be marshalled
	}
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// isChild reports whether this process was started to compile.
func isChild() bool { return len(os.Args) == 1 && os.Args[0] == childName }

// work runs the request. It sets the limits before it reads any byte of the module.
func work(in *bufio.Reader) answer {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return failed(failedSetup, fmt.Errorf("read request: %w", err))
	}
	var o request
	if err := json.Unmarshal(line, &o); err != nil {
		return failed(failedSetup, fmt.Errorf("request: %w", err))
	}
	if err := confineSelf(o); err != nil {
		return failed(failedSetup, err)
	}
	if _, err := io.WriteString(os.Stdout, ready); err != nil {
		return failed(failedSetup, err)
	}
	binary := make([]byte, o.Size)
	if _, err := io.ReadFull(in, binary); err != nil {
		return failed(failedSetup, fmt.Errorf("read module: %w", err))
	}
	return classify(o.Engine.Precompile(context.Background(), ".", binary))
}

// confineSelf restricts the child to filling its directory. On systems other than Linux it sets only the limit of Go's
// heap.
func confineSelf(o request) error {
	goruntime.GOMAXPROCS(o.Procs)
	debug.SetMemoryLimit(int64(o.Memory / 4 * 3))
	_, err := confine.Enter(confine.Profile{
		Memory:   o.Memory,
		CPU:      o.CPU,
		Files:    maxFiles,
		FileSize: maxOutput,
		Write:    []string{"."},
	})
	if goruntime.GOOS != "linux" {
		return nil
	}
	return err
}

func classify(err error) answer {
	var refused *abi.Error
	switch {
	case err == nil:
		return answer{}
	case errors.Is(err, syscall.ENOMEM):
		return failed(failedMemory, err)
	case errors.Is(err, syscall.EFBIG):
		return failed(failedOutput, err)
	case errors.As(err, &refused):
		return failed(failedModule, refused.Cause)
	}
	return failed(failedStorage, err)
}

func failed(f failure, err error) answer {
	detail := fmt.Sprint(err)
	if len(detail) > maxDetail {
		detail = detail[:maxDetail]
	}
	return answer{Failed: f, Detail: strings.ToValidUTF8(detail, "?")}
}
