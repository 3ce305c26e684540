package main

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const (
	logDefault = 30  // commits of a page
	logMax     = 100 // commits of a page
)

// A commitJSON describes a commit without what it changes.
type commitJSON struct {
	Hash    string     `json:"hash"`
	Parents []string   `json:"parents"`
	Author  personJSON `json:"author"`
	Date    string     `json:"date"` // when it was committed
	Subject string     `json:"subject"`
	URI     string     `json:"uri"`
}

type personJSON struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Date  string `json:"date"`
}

// A logJSON is a page of the log. Next is the URI of the following one.
type logJSON struct {
	Ref     string       `json:"ref"`
	Commits []commitJSON `json:"commits"`
	Next    string       `json:"next,omitempty"`
}

func log(r *wasmres.Request) (wasmres.Content, error) {
	limit, err := number(r, "limit", logDefault, 1, logMax)
	if err != nil {
		return wasmres.Content{}, err
	}
	skip, err := number(r, "skip", 0, 0, 1<<30)
	if err != nil {
		return wasmres.Content{}, err
	}
	g, tip, err := openAt(r)
	if err != nil {
		return wasmres.Content{}, err
	}
	commits, more, err := g.page(r, tip, skip, limit)
	if err != nil {
		return wasmres.Content{}, err
	}
	page := logJSON{Ref: orElse(r.Var("ref"), headName), Commits: commits}
	tail := "&limit=" + strconv.Itoa(limit) + "&skip="
	if more { // the hash holds the pages together when the ref moves on
		page.Next = "git://log?ref=" + tip.Hash.String() + tail + strconv.Itoa(skip+limit)
	}
	return asJSON(page, page.Ref+" "+tip.Hash.String()+tail+strconv.Itoa(skip))
}

// page gives a commit and those before it, at most limit after skip, and whether there are more.
func (g *repository) page(
	r *wasmres.Request, tip *object.Commit, skip, limit int,
) (page []commitJSON, more bool, err error) {
	page = []commitJSON{}
	commits, err := g.history(tip)
	for n := 0; err == nil && r.Err() == nil; n++ {
		c, err := commits.Next()
		switch {
		case err == io.EOF:
			return page, false, nil
		case err != nil:
			return nil, false, err
		case n == skip+limit:
			return page, true, nil
		case n >= skip:
			page = append(page, describe(c))
		}
	}
	return nil, false, errors.Join(err, r.Err())
}

// history gives a commit and all before it, the newest first.
func (g *repository) history(tip *object.Commit) (object.CommitIter, error) {
	absent := map[plumbing.Hash]bool{} // what a shallow clone leaves out
	for hash := range g.shallow {
		o, err := g.EncodedObject(plumbing.CommitObject, hash)
		if err != nil {
			continue // listed, but not had any longer
		}
		c, err := object.DecodeCommit(g, o)
		if err != nil {
			return nil, err
		}
		for _, parent := range c.ParentHashes {
			absent[parent] = true
		}
	}
	return object.NewCommitIterCTime(tip, absent, nil), nil
}

// number gives a variable as a number between two bounds.
func number(r *wasmres.Request, name string, absent, least, most int) (int, error) {
	if r.Var(name) == "" {
		return absent, nil
	}
	n, err := r.Int(name)
	if err == nil && (n < least || n > most) {
		err = wasmres.Invalid(name + " is a number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most))
	}
	return n, err
}

func describe(c *object.Commit) commitJSON {
	j := commitJSON{
		Hash:    c.Hash.String(),
		Parents: []string{},
		Author:  personJSON{c.Author.Name, c.Author.Email, c.Author.When.Format(time.RFC3339)},
		Date:    c.Committer.When.Format(time.RFC3339),
		Subject: subject(c.Message),
		URI:     "git://commit/" + c.Hash.String(),
	}
	for _, parent := range c.ParentHashes {
		j.Parents = append(j.Parents, parent.String())
	}
	return j
}

// subject gives the first paragraph of a message, as one line.
func subject(message string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
