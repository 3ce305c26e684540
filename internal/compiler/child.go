package compiler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine/wazero"
)

const (
	// childName is the zeroth argument of a child, which is all the arguments it has.
	childName = "wasmres-compile"
	// childEnv holds a child's orders.
	childEnv = "WASMRES_COMPILE"
)

// orders are what a child is told. The module comes on its standard input and its working directory is the folder to
// fill.
type orders struct {
	Size   int    `json:"size"`   // bytes of the module
	CPU    uint64 `json:"cpu"`    // seconds
	Memory uint64 `json:"memory"` // bytes
}

// maxOutput bounds each file a child writes, in bytes.
const maxOutput = 256 << 20

// Main does the work of the child when this process was started as one, and then exits; otherwise it returns at once.
// Call it first in main, and in TestMain of tests that compile.
func Main() {
	text := os.Getenv(childEnv)
	if text == "" || len(os.Args) != 1 || os.Args[0] != childName {
		return
	}
	line, err := json.Marshal(work(text))
	if err != nil {
		panic(err) // an answer has nothing that cannot be marshalled
	}
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// work carries out the orders. The limits come first: from the first byte of the module on, anything may happen.
func work(text string) answer {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return failed(failedSetup, err)
	}
	if err := confineSelf(o); err != nil {
		return failed(failedSetup, err)
	}
	if _, err := io.WriteString(os.Stdout, ready); err != nil {
		return failed(failedSetup, err)
	}
	binary := make([]byte, o.Size)
	if _, err := io.ReadFull(os.Stdin, binary); err != nil {
		return failed(failedSetup, fmt.Errorf("read module: %w", err))
	}
	return judge(wazero.Precompile(context.Background(), ".", binary))
}

func judge(err error) answer {
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
