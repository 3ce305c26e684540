//go:build !unix

package takeover

import (
	"net"
	"os"
	"time"
)

const (
	maxRights = 0
	truncated = 0
)

func duplicate(any) (int, error)            { return 0, errUnsupported }
func listenerOf(int) (net.Listener, error)  { return nil, errUnsupported }
func lifeOfThis() (int, error)              { return 0, errUnsupported }
func lifeOf(int) (*os.File, error)          { return nil, errUnsupported }
func hasEnded(*os.File, time.Duration) bool { return false }
func closeAll([]int)                        {}
func rightsOf([]int) []byte                 { return nil }
func descriptorsOf([]byte) ([]int, error)   { return nil, errUnsupported }
