package abitest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

const (
	manyDirectory  = "kit://many"
	emptyDirectory = "kit://many/none"
)

// manyChildren returns the children of manyDirectory.
func manyChildren() (all []string) {
	for i := range manyEntries {
		all = append(all, fmt.Sprintf("kit://many/%d", i+1))
	}
	return append(all, emptyDirectory)
}

// testDirectory lists directories, in pages of several sizes, and what is no directory.
func (k *kit) testDirectory(t *testing.T) {
	for _, limit := range []uint32{0, 1, 7, 25, 26, 27, 1000} {
		t.Run(fmt.Sprintf("limit %d", limit), func(t *testing.T) { k.testPages(t, limit) })
	}
	if o := k.succeed(t, abi.OpListDir, &abi.Request{URI: emptyDirectory}); len(o.Reply.Resources) > 0 || o.Reply.NextCursor != "" {
		t.Errorf("an empty directory: got %d entries and the cursor %q", len(o.Reply.Resources), o.Reply.NextCursor)
	}
	for _, uri := range []string{"kit://text", "kit://missing", "kit://many/1", ""} {
		o := k.ask(t, abi.OpListDir, &abi.Request{URI: uri})
		if wantCode(t, o, abi.CodeNotFound); o.Reply.Error == nil || o.Reply.Error.Message != "nothing here" {
			t.Errorf("%q is no directory: got the error %+v", uri, o.Reply.Error)
		}
	}
	for _, cursor := range []string{"no cursor of yours", "27", "-1", "4294967297", "18446744073709551617"} {
		wantCode(t, k.ask(t, abi.OpListDir, &abi.Request{URI: manyDirectory, Cursor: cursor}), abi.CodeInvalidParams)
	}
	t.Run("folder", k.testFolderDirectory)
	t.Run("malformed request", func(t *testing.T) { k.refuseMalformed(t, abi.OpListDir) })
}

// testPages lists manyDirectory, and checks each page as the host does.
func (k *kit) testPages(t *testing.T, limit uint32) {
	var got []string
	cursor := ""
	for page := 1; page == 1 || cursor != ""; page++ {
		if page > manyEntries+2 {
			t.Fatal("the pages do not end")
		}
		req := &abi.Request{URI: manyDirectory, Cursor: cursor, Limit: limit}
		o := k.do(t, abi.OpListDir, &Exchange{Request: req.Append(nil), Limit: limit})
		wantCode(t, o, abi.CodeOK)
		if limit > 0 && len(o.Reply.Resources) > int(limit) {
			t.Errorf("page %d has %d entries", page, len(o.Reply.Resources))
		}
		if err := abi.CheckChildren(manyDirectory, o.Reply.Resources); err != nil {
			t.Error(err)
		}
		for _, r := range o.Reply.Resources {
			if isDirectory := r.MIMEType == abi.DirectoryType; isDirectory != (r.URI == emptyDirectory) {
				t.Errorf("%s has the type %q", r.URI, r.MIMEType)
			}
			got = append(got, r.URI)
		}
		cursor = o.Reply.NextCursor
	}
	if want := manyChildren(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// testFolderDirectory lists a directory that is a folder of the host, with good and with invalid answers of the host.
func (k *kit) testFolderDirectory(t *testing.T) {
	for code := abi.CodeNotFound; code <= abi.CodeUnavailable; code++ {
		x := k.folderExchange(t, nil)
		x.Services = refusing(code)
		wantCode(t, k.do(t, abi.OpListDir, x), code)
	}
	files := []abi.File{{Name: "a", Size: 5, ModifiedMillis: folderTime}, {Name: "b", Dir: true}}
	good := folderAct(false, files...)
	want := []string{"kit://folder/dir/a", "kit://folder/dir/b " + abi.DirectoryType}
	code, got, err := k.listFolder(t, good.message)
	if err != nil || code != abi.CodeOK || !slices.Equal(got, want) {
		t.Fatalf("got %v, %q, %v, want %q", code, got, err, want)
	}
	if code, got, err := k.listFolder(t, good.schema.extended(good.message)); err != nil || !slices.Equal(got, want) {
		t.Errorf("with unknown fields: got %v, %q, %v, want %q", code, got, err, want)
	}
	for _, message := range good.schema.broken(good.message) {
		if code, got, err := k.listFolder(t, message); err != nil || code == abi.CodeOK && !slices.Equal(got, want) {
			t.Errorf("the answer is %x: got %v, %q, %v, want an error or %q", message, code, got, err, want)
		}
	}
	if code, got, err := k.listFolder(t, folderAct(true).message); err != nil || code == abi.CodeOK {
		t.Errorf("more after nothing, without an end: got %v, %q, %v, want an error", code, got, err)
	}
}

// folderExchange makes the request for the directory kit://folder/dir. The host answers each list of its files with message.
func (k *kit) folderExchange(t testing.TB, message []byte) *Exchange {
	t.Helper()
	services := map[abi.Service]Service{abi.ServiceFileList: func([]byte) ([]byte, []byte, error) { return message, nil, nil }}
	req := k.routed(t, folderTemplate, "kit://folder/dir", "name", "dir")
	return &Exchange{Request: req.Append(nil), Services: services}
}

// listFolder lists kit://folder/dir, and returns the URI of each entry, with a type that is not empty.
func (k *kit) listFolder(t testing.TB, message []byte) (code abi.Code, entries []string, err error) {
	t.Helper()
	x := k.folderExchange(t, message)
	o, err := x.Outcome(k.guest(t, abi.OpListDir, x))
	for _, r := range o.Reply.Resources {
		entry := r.URI
		if r.MIMEType != "" {
			entry += " " + r.MIMEType
		}
		entries = append(entries, entry)
	}
	return o.Code, entries, err
}
