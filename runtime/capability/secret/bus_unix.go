//go:build unix && !darwin

package secret

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// checkBus fails in a session without a D-Bus: a request to its keyring would start a bus that never ends.
func checkBus() error {
	const variable = "DBUS_SESSION_BUS_ADDRESS"
	if address := os.Getenv(variable); address != "" && address != "autolaunch:" {
		return nil
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), name)); err == nil {
			return nil
		}
	}
	return errors.New("this session has no D-Bus (" + variable + " is not set)")
}
