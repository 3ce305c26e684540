// Git serves a git repository, read-only: the files and folders of any revision, commits with their diffs, the log,
// branches and tags.
package main

import (
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// root is where the operator mounts the repository: a working copy with its folder .git, or a bare repository.
const root = "/repo"

// watchEvery is how often what somebody follows is looked at.
const watchEvery = 2 * time.Second

func init() {
	wasmres.Provider("git", "1.0.0").
		Title("Git repository").
		Describe("A git repository, read-only. A ref is a branch, a tag, a commit's hash, or one of these with ~N or ^N; " +
			"without one it is HEAD.").
		Prefixes("git://")
	wasmres.Ask("fs", "reads the git repository, mounted at "+root).Params(`{"paths":["` + root + `"]}`)
	wasmres.Warm(warmJSON)

	wasmres.Resource("git://head", head).
		Name("head").Title("HEAD").Describe("The branch and the commit that are checked out.").
		MIME("application/json").Priority(1).Watch(watchEvery, watchHead)
	wasmres.Resource("git://branches", branches).
		Name("branches").Title("Branches").Describe("Branches, also those of remotes, with their commits.").
		MIME("application/json").Watch(watchEvery, watchRefs)
	wasmres.Resource("git://tags", tags).
		Name("tags").Title("Tags").Describe("Tags with their commits.").
		MIME("application/json").Watch(watchEvery, watchRefs)

	wasmres.Template("git://log{?ref,limit,skip}", log).
		Name("log").Describe("Commits, the newest first: limit of them (30, at most 100) after skip. next leads on.").
		MIME("application/json").Complete("ref", completeRef)
	wasmres.Template("git://commit/{+ref}", showCommit).
		Name("commit").Describe("A commit: author, message, and what it changes as a diff from its first parent.").
		MIME("text/plain").Complete("ref", completeCommit)
	wasmres.Template("git://tree{?ref}", folder).
		Name("root").Describe("What is in the topmost folder.").
		MIME("application/json").Complete("ref", completeRef)
	wasmres.Template("git://tree/{+path}{?ref}", folder).
		Name("tree").Describe("What is in a folder.").
		MIME("application/json").Complete("ref", completeRef).Complete("path", completeFolder)
	wasmres.Template("git://file/{+path}{?ref}", file).
		Name("file").Describe("A file as it is in a commit.").
		Ranges().Complete("ref", completeRef).Complete("path", completePath).Watch(watchEvery, watchFile)

	wasmres.List(list)
}

func main() {}
