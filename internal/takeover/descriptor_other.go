//go:build !unix

package takeover

import "net"

const (
	maxRights = 0
	truncated = 0
)

func duplicate(net.Listener) (int, error)  { return 0, errUnsupported }
func listenerOf(int) (net.Listener, error) { return nil, errUnsupported }
func closeAll([]int)                       {}
func rightsOf([]int) []byte                { return nil }
func descriptorsOf([]byte) ([]int, error)  { return nil, errUnsupported }
