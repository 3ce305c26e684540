//go:build !linux

package process

import "os"

func setAside(*os.Process, bool) {}
