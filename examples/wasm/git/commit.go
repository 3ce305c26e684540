package main

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// diffMax is how many bytes the diffs of a commit have together, and what is compared for one of them.
const diffMax = 4 << 20

// showCommit answers as git show does, but for merges, which are compared with their first parent.
func showCommit(r *wasmres.Request) (wasmres.Content, error) {
	g, c, err := openAt(r)
	if err != nil {
		return wasmres.Content{}, err
	}
	var b strings.Builder
	writeCommit(&b, c)
	if err := g.writeChanges(&b, r, c); err != nil {
		return wasmres.Content{}, err
	}
	text := strings.ToValidUTF8(b.String(), "\ufffd")
	return wasmres.Text(text).ETag(c.Hash.String()).LastModified(c.Committer.When), nil
}

// writeCommit writes what a commit says of itself, in git's format fuller.
func writeCommit(b *strings.Builder, c *object.Commit) {
	const gitTime = "Mon Jan 2 15:04:05 2006 -0700"
	fmt.Fprintf(b, "commit %s\n", c.Hash)
	if len(c.ParentHashes) > 1 {
		b.WriteString("Merge:")
		for _, parent := range c.ParentHashes {
			fmt.Fprintf(b, " %s", parent)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "Author:     %s <%s>\n", c.Author.Name, c.Author.Email)
	fmt.Fprintf(b, "AuthorDate: %s\n", c.Author.When.Format(gitTime))
	fmt.Fprintf(b, "Commit:     %s <%s>\n", c.Committer.Name, c.Committer.Email)
	fmt.Fprintf(b, "CommitDate: %s\n\n", c.Committer.When.Format(gitTime))
	for line := range strings.Lines(strings.TrimRight(c.Message, "\n") + "\n") {
		b.WriteString("    " + line)
	}
}

// writeChanges writes what a commit changes.
func (g *repository) writeChanges(b *strings.Builder, r *wasmres.Request, c *object.Commit) error {
	var before plumbing.Hash
	if len(c.ParentHashes) > 0 {
		parent, err := g.commitOf(c.ParentHashes[0])
		if err != nil {
			return err
		}
		before = parent.TreeHash
	}
	changes, err := g.changes(r, before, c.TreeHash)
	if err != nil || len(changes) == 0 {
		return err
	}
	b.WriteString("\n")
	end := b.Len() + diffMax
	for i, change := range changes {
		if err := r.Err(); err != nil {
			return err
		}
		if b.Len() > end {
			fmt.Fprintf(b, "... and %d more files\n", len(changes)-i)
			break
		}
		if err := g.writePatch(b, change, diffMax); err != nil {
			return err
		}
	}
	return nil
}
