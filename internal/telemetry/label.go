package telemetry

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/admission"
)

// other is the value of a label that stands for all that have none of their own.
const other = "other"

// Values of labels. The first of each list is for what is in none.
var (
	methods = newLabels(other, "resources/read", "resources/list", "resources/templates/list", "resources/subscribe",
		"resources/unsubscribe", "subscriptions/listen", "completion/complete", "tools/list", "tools/call", "download",
		"resources/directory/read", "skills/list", "skills/get")
	codes = newLabels(append([]string{other, codeOK, "limited", "exhausted", "unauthorized", "forbidden", "rpc_error", "http_error"},
		abiCodes()...)...)
	limits = newLabels(other, admission.Requests, admission.Concurrency, admission.Bytes, admission.BytesDay, admission.CPUDay, admission.Queue,
		admission.Subscriptions, admission.Sessions, admission.Audit)
	failures = newLabels(other, abi.CodeUnavailable.String(), abi.CodeDeadline.String(), abi.CodeCancelled.String())
	reasons  = newLabels(other, "idle", "evicted", "crashed", "closed")
	states   = newLabels(other, "cold", "starting", "live")

	credentials  = newLabels(other, "none", "key", "oauth", "certificate")
	outcomes     = newLabels(other, "ok", "missing", "invalid", "denied", "limited", "unavailable")
	capabilities = newLabels(other, policy.CapabilityFS, policy.CapabilityHTTP, policy.CapabilityKV, policy.CapabilitySQL)
	uses         = newLabels("failed", codeOK, abi.CodeDenied.String())
)

const codeOK = "ok"

// Eras of the protocol: since revision 2026-07-28 there are no sessions.
const (
	eraModern = iota
	eraSessions
	eras
)

var eraNames = [eras]string{"2026-07-28", "sessions"}

// labels are the values of one label.
type labels struct {
	names []string
	index map[string]uint8
}

func newLabels(names ...string) labels {
	l := labels{names, make(map[string]uint8, len(names))}
	for i, n := range names {
		l.index[n] = uint8(i)
	}
	return l
}

// of returns the index of a value; 0 if it is none.
func (l *labels) of(name string) uint8 { return l.index[name] }

// abiCodes returns the names of the codes of package abi but CodeOK.
func abiCodes() (names []string) {
	for _, c := range []abi.Code{
		abi.CodeNotFound, abi.CodeInvalidParams, abi.CodeDenied, abi.CodeUnavailable, abi.CodeCancelled, abi.CodeDeadline,
		abi.CodeTooLarge, abi.CodeUnsupported, abi.CodeInternal, abi.CodeTrap, abi.CodeProtocol, abi.CodeMemory, abi.CodeTooMany,
		abi.CodeInvalidText, abi.CodeInvalidURI, abi.CodeLogLimit, abi.CodeIncompatible, abi.CodeModule, abi.CodeExit,
		abi.CodeBusy, abi.CodeFuel, abi.CodeStack, abi.CodeHostCalls,
	} {
		names = append(names, c.String())
	}
	return names
}

// faults are the codes of calls that ended by a fault of the guest.
var faults = func() (is [256]bool) {
	for _, c := range []abi.Code{
		abi.CodeInternal, abi.CodeDeadline, abi.CodeTrap, abi.CodeProtocol, abi.CodeMemory, abi.CodeTooMany, abi.CodeInvalidText,
		abi.CodeInvalidURI, abi.CodeExit, abi.CodeFuel, abi.CodeStack, abi.CodeHostCalls,
	} {
		is[codes.of(c.String())] = true
	}
	return is
}()

// IsFault reports whether the code of an Entry says that a guest has failed.
func IsFault(code string) bool { return faults[codeOf(code)] }

// codeOf returns the index of an Entry's code. Numbers of JSON-RPC are negative or 429.
func codeOf(code string) uint8 {
	i, known := codes.index[code]
	switch {
	case known:
		return i
	case code == "":
		return 0
	case code == "429":
		return codes.of("limited")
	case code[0] == '-':
		return codes.of("rpc_error")
	case code[0] >= '1' && code[0] <= '9':
		return codes.of("http_error")
	}
	return 0
}

// A combination is a method, a code and an era. Zero is none.
type combination uint16

// combinationOf returns the combination of a request.
func combinationOf(e *accesslog.Entry) combination {
	era := eraModern
	if e.Session != "" {
		era = eraSessions
	}
	return newCombination(methods.of(e.Method), codeOf(e.Code), era)
}

func newCombination(method, code uint8, era int) combination {
	return 1 + combination(era) + eras*(combination(method)+combination(len(methods.names))*combination(code))
}

// values returns the values of the labels method, code and era.
func (c combination) values() (method, code, era string) {
	c--
	rest := c / eras
	n := combination(len(methods.names))
	return methods.names[rest%n], codes.names[rest/n], eraNames[c%eras]
}

func (c combination) code() uint8 { return uint8((c - 1) / eras / combination(len(methods.names))) }

// merged returns the combination under which those are counted for which a tenant has no room.
func (c combination) merged() combination {
	code := uint8(0)
	if c.code() == codes.of(codeOK) {
		code = c.code()
	}
	return newCombination(0, code, eraModern)
}
