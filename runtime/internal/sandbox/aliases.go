package sandbox

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"
)

// What a provider may use, and what a call used.
type (
	Limits = limits.Limits
	Usage  = limits.Usage
	Start  = limits.Start
)

// The host's side of a guest.
type (
	Host        = guest.Host
	HostConfig  = guest.HostConfig
	Runner      = guest.Runner
	Order       = guest.Config
	Guests      = guest.Guests
	Call        = guest.Call
	Waiter      = guest.Waiter
	Determinism = guest.Determinism
	Lane        = guest.Lane
	InProcess   = pool.InProcess
)

// How each request gets an instance like the image, the quickest first.
const (
	LaneReset   = guest.LaneReset
	LaneReplace = guest.LaneReplace
	LaneBoot    = guest.LaneBoot
)

// Look is what a look at a clock takes, under [Determinism].
const Look = guest.Look

// NewHost makes a host without a manifest.
func NewHost(cfg HostConfig) *Host { return guest.NewHost(cfg) }

// PublicError makes an error of what a guest, or its runner, says of a failure.
func PublicError(code abi.Code, said *abi.GuestError) error { return guest.PublicError(code, said) }
