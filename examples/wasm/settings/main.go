// Settings serves the files with the settings of an application, by environment: config://app/production/database.yml
// is /config/production/database.yml, without its secrets.
package main

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const (
	root       = "/config"       // where the operator mounts the folder
	fileMax    = 1 << 20         // bytes of a file that is served
	watchEvery = 2 * time.Second // how often a file that a client follows is looked at, where the folder cannot be watched
	template   = "config://app/{environment}/{file}"
)

func init() {
	wasmres.Provider("settings", "1.0.0").
		Title("Settings").
		Describe("The settings of an application in each environment: YAML, TOML, JSON and INI, without secrets.").
		Prefixes("config://app/")
	wasmres.Ask("fs", "reads the settings in "+root+", a folder for each environment").
		Params(`{"paths":["` + root + `"],"access":["read"]}`)

	wasmres.Template(template, read).
		Name("settings").Title("Settings").
		Describe("A file of an environment, as in config://app/production/database.yml. Secrets in it are [redacted].").
		Complete("environment", completeEnvironment).Complete("file", completeFile).Watch(watchEvery, version)
	wasmres.List(list)
}

// read answers with a file in its own format, without comments and secrets.
func read(r *wasmres.Request) (wasmres.Content, error) {
	name, f, err := fileOf(r)
	if err != nil {
		return wasmres.Content{}, err
	}
	file, err := wasmres.Dir(root).Open(name)
	if err != nil {
		return wasmres.Content{}, explain(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.IsDir() {
		return wasmres.Content{}, wasmres.NotFound("no file " + strconv.Quote(name))
	}
	b, err := io.ReadAll(io.LimitReader(file, fileMax+1))
	if err != nil {
		return wasmres.Content{}, err
	}
	if len(b) > fileMax {
		return wasmres.Content{}, wasmres.ErrTooLarge
	}
	shown, err := f.redact(b)
	if err != nil { // its text may have a line of the file in it
		return wasmres.Content{}, wasmres.Unavailable(name+" is not valid "+f.name+": correct it", 0)
	}
	return wasmres.Text(string(shown)).MIME(f.mime).ETag(etag(info)).LastModified(info.ModTime()), nil
}

// version names the version of a file; empty if there is none.
func version(r *wasmres.Request) (string, error) {
	name, _, err := fileOf(r)
	if err != nil {
		return "", err
	}
	info, err := wasmres.Dir(root).Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", explain(name, err)
	}
	return etag(info), nil
}

func etag(info fs.FileInfo) string {
	return strconv.FormatInt(info.ModTime().UnixMilli(), 36) + "-" + strconv.FormatInt(info.Size(), 36)
}

// fileOf returns the file that a request names, and its format.
func fileOf(r *wasmres.Request) (name string, f format, err error) {
	environment, file := r.Var("environment"), r.Var("file")
	f, ok := formats[strings.ToLower(path.Ext(file))]
	if !ok || !isName(environment) || !isName(file) {
		return "", f, wasmres.NotFound("no settings " + strconv.Quote(file) + " of " + strconv.Quote(environment))
	}
	return environment + "/" + file, f, nil
}

// isName reports whether a name is one of a file or folder that is shown.
func isName(name string) bool {
	return fs.ValidPath(name) && !strings.ContainsAny(name, "/\\") && !strings.HasPrefix(name, ".")
}

// explain words for the client what went wrong with a file.
func explain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wasmres.NotFound("no file " + strconv.Quote(name))
	case errors.Is(err, fs.ErrPermission):
		return wasmres.Denied("settings may not be read: has their folder been granted, as with --dir FOLDER:" + root + "?")
	}
	return err
}

func main() {}
