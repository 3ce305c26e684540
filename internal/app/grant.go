package app

import "fmt"

const capabilityFS = "fs" // as manifests call it

// WarnUngranted logs what the provider says it cannot do without and was not granted.
func (a *App) WarnUngranted() {
	if len(a.cfg.Dirs) > 0 {
		return
	}
	for _, c := range a.provider.Module().Manifest().Capabilities {
		if c.Name != capabilityFS || c.Optional {
			continue
		}
		asked := c.Name
		if c.Reason != "" {
			asked = fmt.Sprintf("%s (%s)", c.Name, c.Reason)
		}
		a.cfg.Logger.Warn("the provider asks for " + asked + " and nothing is granted: add --dir FOLDER:/path")
		return
	}
}
