//go:build amd64 || arm64

package confine

import (
	"slices"

	"golang.org/x/sys/unix"
)

// A rule allows a system call when all conditions hold. If several rules are for one call, any of them may allow it.
type rule struct {
	call uint32
	all  []condition
}

// A condition holds when an argument of a system call, of 64 bits, is value in the bits of mask.
type condition struct {
	argument    uint32
	mask, value uint64
}

func always(calls ...uint32) []rule {
	rules := make([]rule, len(calls))
	for i, call := range calls {
		rules[i] = rule{call: call}
	}
	return rules
}

func when(call uint32, all ...condition) rule { return rule{call, all} }

func equal(argument uint32, value uint64) condition { return condition{argument, ^uint64(0), value} }

func with(argument uint32, bits uint64) condition { return condition{argument, bits, bits} }

func without(argument uint32, bits uint64) condition { return condition{argument, bits, 0} }

const (
	allowed = unix.SECCOMP_RET_ALLOW
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)

	// Offsets in struct seccomp_data, in bytes. The low half of an argument comes first.
	offsetCall      = 0
	offsetArch      = 4
	offsetArguments = 16

	// x32 is the bit by which amd64 marks the calls of its third architecture.
	x32 = 1 << 30
)

// program returns a filter that refuses each call that no rule allows. It reports clone3 as unknown, so that C
// libraries use clone: clone3 has its arguments in memory, where no filter sees them.
//
// The accumulator always holds the number of the call, except within the block of a call, which ends in a return.
func program(rules []rule) []unix.SockFilter {
	p := []unix.SockFilter{load(offsetArch)}
	p = append(p, unless(unix.BPF_JEQ, auditArch, answer(refused))...)
	p = append(p, load(offsetCall), jump(unix.BPF_JGE, x32, 0, 1), answer(unknown))
	p = append(p, block(unix.SYS_CLONE3, answer(unknown))...)
	// Calls with conditions come first: the kernel caches which of the others are allowed.
	for _, call := range conditional(rules) {
		p = append(p, block(call, alternatives(rules, call)...)...)
	}
	return append(p, list(unconditional(rules))...)
}

// list allows some calls and refuses all others. It takes at most 255.
func list(calls []uint32) (p []unix.SockFilter) {
	for i, call := range calls {
		p = append(p, jump(unix.BPF_JEQ, call, len(calls)-i, 0))
	}
	return append(p, answer(refused), answer(allowed))
}

// unconditional returns the calls that have no conditions.
func unconditional(rules []rule) (calls []uint32) {
	for _, r := range rules {
		if len(r.all) == 0 {
			calls = append(calls, r.call)
		}
	}
	return calls
}

// conditional returns the calls that have conditions, each once.
func conditional(rules []rule) (calls []uint32) {
	for _, r := range rules {
		if len(r.all) > 0 && !slices.Contains(calls, r.call) {
			calls = append(calls, r.call)
		}
	}
	return calls
}

// alternatives allows a call when one of its rules does, and otherwise refuses it.
func alternatives(rules []rule, call uint32) (p []unix.SockFilter) {
	for _, r := range rules {
		if r.call == call {
			p = append(p, allOf(r.all)...)
		}
	}
	return append(p, answer(refused))
}

// allOf allows the call when all conditions hold, and otherwise continues after itself. It is built from its end.
func allOf(all []condition) []unix.SockFilter {
	p := []unix.SockFilter{answer(allowed)}
	for _, c := range slices.Backward(all) {
		at := offsetArguments + 8*c.argument
		p = append(jumpIfEqual(at, uint32(c.mask), uint32(c.value), len(p)), p...)
		p = append(jumpIfEqual(at+4, uint32(c.mask>>32), uint32(c.value>>32), len(p)), p...)
	}
	return p
}

// jumpIfEqual continues when half an argument equals value in the bits of mask, and otherwise skips some instructions.
func jumpIfEqual(offset, mask, value uint32, skip int) []unix.SockFilter {
	if mask == 0 {
		return nil
	}
	return []unix.SockFilter{
		load(offset),
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask},
		jump(unix.BPF_JEQ, value, 0, skip),
	}
}

// block runs body for one call, and skips it for others.
func block(call uint32, body ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{jump(unix.BPF_JEQ, call, 0, len(body))}, body...)
}

// unless runs body when a comparison of the accumulator does not hold.
func unless(comparison uint16, with uint32, body ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{jump(comparison, with, len(body), 0)}, body...)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jump skips yes or no instructions, each at most 255. The longest block has fewer than a hundred.
func jump(comparison uint16, with uint32, yes, no int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | comparison | unix.BPF_K, Jt: uint8(yes), Jf: uint8(no), K: with}
}

func answer(what uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
}
