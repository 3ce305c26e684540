//go:build !linux

package process

import "os"

func setAffinity(*os.Process, bool) {}
