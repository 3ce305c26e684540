//go:build !linux

package load

import "errors"

// errPlatform is what everything fails with where there is no epoll.
var errPlatform = errors.New("load runs on Linux only")

// Run fails: see errPlatform.
func (HTTP) Run(Load) (*Result, error) { return nil, errPlatform }

// Run fails: see errPlatform.
func (Stdio) Run(Load) (*Result, error) { return nil, errPlatform }

// An Exchange is one HTTP connection.
type Exchange struct{}

// OpenExchange fails: see errPlatform.
func OpenExchange(string, Revision) (*Exchange, error) { return nil, errPlatform }

// Call fails.
func (*Exchange) Call(Call, []byte) ([]byte, error) { return nil, errPlatform }

// Close does nothing.
func (*Exchange) Close() {}

// A Pipe is both ends of a server's stdio.
type Pipe struct{}

// OpenPipe fails: see errPlatform.
func OpenPipe(int, int, Revision) (*Pipe, error) { return nil, errPlatform }

// Call fails.
func (*Pipe) Call(Call, []byte) ([]byte, error) { return nil, errPlatform }
