package clientconfig

import (
	"os"
	"runtime"
	"strings"
)

// A System says where a user's files are.
type System struct {
	OS     string // as runtime.GOOS
	Home   string // the user's home folder
	Dir    string // the working folder
	Getenv func(string) string
	Exists func(path string) bool
	Glob   func(pattern string) []string // of folders, with * for the rest of a name; sorted
}

const (
	windows = "windows"
	darwin  = "darwin"
)

// ThisSystem returns the System of this process.
func ThisSystem() (System, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return System{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return System{}, err
	}
	return System{
		OS: runtime.GOOS, Home: home, Dir: dir, Getenv: os.Getenv,
		Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil },
		Glob:   glob,
	}, nil
}

// glob finds the folders of a pattern that ends in *.
func glob(pattern string) (found []string) {
	at := strings.LastIndexAny(pattern, `/\`) + 1
	entries, err := os.ReadDir(pattern[:at])
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), strings.TrimSuffix(pattern[at:], "*")) {
			found = append(found, pattern[:at]+e.Name())
		}
	}
	return found
}

func (s System) env(name string) string {
	if s.Getenv == nil {
		return ""
	}
	return s.Getenv(name)
}

func (s System) exists(path string) bool { return s.Exists != nil && s.Exists(path) }

// join joins a folder and names below it as the system writes paths.
func (s System) join(dir string, names ...string) string {
	separator := "/"
	if s.OS == windows {
		separator = `\`
	}
	return strings.Join(append([]string{strings.TrimRight(dir, separator)}, names...), separator)
}

// dir returns the folder of a file.
func (s System) dir(file string) string {
	if at := strings.LastIndexAny(file, `/\`); at > 0 {
		return file[:at]
	}
	return file
}

// settingsDir returns the folder in which programs keep settings by the custom of the system.
func (s System) settingsDir() string {
	switch s.OS {
	case windows:
		if dir := s.env("APPDATA"); dir != "" {
			return dir
		}
		return s.join(s.Home, "AppData", "Roaming")
	case darwin:
		return s.join(s.Home, "Library", "Application Support")
	}
	return s.xdgDir()
}

// xdgDir returns the folder of settings by the XDG specification.
func (s System) xdgDir() string {
	if dir := s.env("XDG_CONFIG_HOME"); strings.HasPrefix(dir, "/") {
		return dir
	}
	return s.join(s.Home, ".config")
}

// claudeDir returns the folder of Claude Desktop. On Windows, an app of the Microsoft Store has its own view of the settings.
func (s System) claudeDir() string {
	if s.OS == windows && s.Glob != nil {
		local := s.env("LOCALAPPDATA")
		if local == "" {
			local = s.join(s.Home, "AppData", "Local")
		}
		for _, app := range s.Glob(s.join(local, "Packages", "Claude_*")) {
			if dir := s.join(app, "LocalCache", "Roaming", "Claude"); s.exists(dir) {
				return dir
			}
		}
	}
	return s.join(s.settingsDir(), "Claude")
}
