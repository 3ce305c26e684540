// Github serves the files of a repository as a server with the API of GitHub has them: github://repo/ada/main/README.md
// is README.md on the branch main of ada's repository.
package main

import (
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// watchEvery is how often a file that a client follows is looked at.
const watchEvery = time.Minute

const files = "github://repo/{owner}/{branch}/{+path}"

func init() {
	wasmres.Provider("github", "1.0.0").
		Title("GitHub").
		Describe("The files of a repository on GitHub, of any branch and of any owner's fork.").
		Prefixes("github://repo/")
	wasmres.Ask("http", "fetches files from the server that is configured as api").
		Params(`{"hosts":["api.github.com"],"methods":["GET"],"paths":["/repos"]}`)

	wasmres.Template(files, read).
		Name("file").Title("File").Describe("A file, or what is in a folder, as JSON.").
		Complete("branch", completeBranch).Complete("path", completePath).Watch(watchEvery, version)
	wasmres.List(list)
}

func main() {}
