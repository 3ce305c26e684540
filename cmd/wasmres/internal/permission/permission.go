package permission

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/printable"
)

func Command() *cli.Command {
	const category = "Granting"
	chosen := "Names them by a file, by a digest or the beginning of one, or by what the provider calls itself."
	return cli.Group(&cli.Command{
		Name: "permission", Usage: "say which provider may touch what, and have it remembered",
		Description: `What is granted counts for one module, known by its digest, until it is revoked or reset. A new
version in the same place gets the same, when it asks for no more.`,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list what was granted",
				Flags:        []cli.Flag{providers.ApprovalsFlag(), cli.FormatFlag(cli.ReportFormats)},
				OnUsageError: cli.OnUsageError, Action: listPermissions,
			},
			{
				Name: "grant", Usage: "grant capabilities to a provider", ArgsUsage: providers.ArgUsage,
				Description: `Grants what the flags and the policy say, in place of what was granted before. Without any, on a
terminal, shows what the provider asks for, and asks.

   wasmres permission grant notes.wasm --dir ~/notes:/notes --kv
   wasmres permission grant notes.wasm --policy policy.yaml`,
				Flags: providers.Flags(providers.ApprovalsFlag(),
					&cli.BoolFlag{Name: "pin", Category: category, Usage: "grant it to this very module, and to no new version"}),
				OnUsageError: cli.OnUsageError, Action: grantPermission,
			},
			{
				Name: "revoke", Usage: "refuse a provider from now on", ArgsUsage: "PROVIDER|DIGEST",
				Description: chosen + `
It does not run then, even if earlier versions of it do, unless the command line grants it
something.`,
				Flags:        []cli.Flag{providers.ApprovalsFlag()},
				OnUsageError: cli.OnUsageError, Action: revokePermission,
			},
			{
				Name: "reset", Usage: "forget what was decided", ArgsUsage: "PROVIDER|DIGEST",
				Description: chosen + "\nWho runs the provider is asked again.",
				Flags: []cli.Flag{
					providers.ApprovalsFlag(), &cli.BoolFlag{Name: "all", Usage: "forget all of it"},
				},
				OnUsageError: cli.OnUsageError, Action: resetPermission,
			},
		},
	})
}

// A permission is a record, for machines.
type permission struct {
	Digest  string    `json:"digest"`
	Name    string    `json:"name"`
	Version string    `json:"version"`
	File    string    `json:"file"`
	State   string    `json:"state"`
	When    time.Time `json:"when"`
	By      string    `json:"by"`
	Permits []string  `json:"permits"`
}

func permissionOf(r approval.Record) permission {
	state := "granted"
	switch {
	case r.Revoked:
		state = "revoked"
	case r.Inherited:
		state = "inherited"
	case r.Pinned:
		state = "pinned"
	}
	return permission{
		Digest: r.Digest, Name: r.Name, Version: r.Version, File: r.Origin, State: state, When: r.When, By: r.By,
		Permits: append([]string{}, r.Policy.Lines()...),
	}
}

func listPermissions(c *cli.Context) error {
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	store, err := providers.OpenApprovals(c)
	if err != nil {
		return err
	}
	records, wrong := store.List()
	all := []permission{}
	for _, r := range records {
		all = append(all, permissionOf(r))
	}
	if format != cli.FormatTable {
		return errors.Join(cli.PrintValue(c.App.Writer, format, all), wrong)
	}
	for _, p := range all {
		p.print(c.App.Writer)
	}
	if len(all) == 0 && wrong == nil {
		fmt.Fprintln(c.App.ErrWriter, "Nothing was granted yet.")
	}
	return wrong
}

const digestShown = len("sha256:") + 12

func (p permission) print(w io.Writer) {
	fmt.Fprintf(w, "%s  %s %s  %s on %s by %s\n", p.Digest[:digestShown], printable.Line(p.Name), printable.Line(p.Version), p.State,
		p.When.Local().Format(time.DateOnly), printable.Line(p.By))
	fmt.Fprintf(w, "  file  %s\n", printable.Line(p.File))
	for _, line := range p.Permits {
		fmt.Fprintf(w, "  may   %s\n", printable.Line(line))
	}
}

func grantPermission(c *cli.Context) error {
	file, _, err := providers.Arguments(c)
	if err != nil {
		return err
	}
	given, err := providers.Policy(c)
	if err != nil {
		return err
	}
	store, err := providers.OpenApprovals(c)
	if err != nil {
		return err
	}
	request, err := askedBy(c, file)
	if err != nil {
		return err
	}
	request.Store = store
	if given.Empty() {
		return grantByAsking(c, request, given)
	}
	if err := checkFolders(given); err != nil {
		return err
	}
	decision := approval.Decide(request)
	record := decision.Record(given, time.Now(), providers.UserName())
	record.Pinned = c.Bool("pin")
	if err := store.Grant(record); err != nil {
		return err
	}
	providers.PrintPermitted(c.App.Writer, fmt.Sprintf("%s %s may", printable.Line(record.Name), record.Digest[:digestShown]), given)
	for _, a := range decision.Missing(given) {
		fmt.Fprintf(c.App.ErrWriter, "It also asks for %s, which this does not grant.\n", printable.Line(a.Capability))
	}
	return nil
}

// checkFolders refuses to remember a grant of a folder that is not there: a provider could not run with it.
func checkFolders(p *policy.Policy) error {
	for _, s := range p.Storage {
		info, err := os.Stat(s.Host)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no folder", s.Host)
		}
		if err != nil {
			return fmt.Errorf("nothing was granted: the folder for %s: %w", s.Guest, err)
		}
	}
	return nil
}

// askedBy opens a provider, with nothing granted, and gives what it asks for.
func askedBy(c *cli.Context, file string) (approval.Request, error) {
	cfg, err := providers.CommonConfig(c, cli.PlainLog)
	if err != nil {
		return approval.Request{}, err
	}
	cfg.File = file
	m, digest, err := providers.DescribeUngranted(c, cfg)
	return approval.Request{Manifest: m, Digest: digest, File: file}, err
}

// grantByAsking grants what the person says yes to, with the configuration that is given.
func grantByAsking(c *cli.Context, request approval.Request, given *policy.Policy) error {
	decision := approval.Decide(approval.Request{Manifest: request.Manifest, Digest: request.Digest, File: request.File})
	if decision.Outcome == approval.Granted {
		return fmt.Errorf("%s asks for nothing: say with flags what to grant", request.File)
	}
	terminal, closeTerminal := providers.AskingTerminal(c)
	if terminal == nil {
		return cli.Usagef(c, "there is no terminal to ask on: say with flags what to grant, with your own values for words in capitals, as in: %s", decision.Example())
	}
	defer closeTerminal()
	answer, granted, err := decision.Prompt(c.Context, *terminal)
	switch {
	case err != nil:
		return err
	case answer == approval.Once:
		fmt.Fprintln(c.App.Writer, "Nothing runs now, so that nothing was granted.")
		return nil
	case answer == approval.No:
		return nil
	}
	record := decision.Record(policy.Merge(granted, given), time.Now(), providers.UserName())
	record.Pinned = c.Bool("pin")
	if err := request.Store.Grant(record); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "granted %s %s\n", record.Digest[:digestShown], printable.Line(record.Name))
	return nil
}

func revokePermission(c *cli.Context) error {
	return eachPermission(c, func(store *approval.Store, r approval.Record) error {
		r.When, r.By = time.Now(), providers.UserName()
		return store.Revoke(r)
	}, "revoked")
}

func resetPermission(c *cli.Context) error {
	reset := func(store *approval.Store, r approval.Record) error { return store.Reset(r.Digest) }
	return eachPermission(c, reset, "forgotten")
}

// eachPermission does something with all records an argument names.
func eachPermission(c *cli.Context, do func(*approval.Store, approval.Record) error, done string) error {
	store, err := providers.OpenApprovals(c)
	if err != nil {
		return err
	}
	records, err := namedRecords(c, store)
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := do(store, r); err != nil {
			return err
		}
		fmt.Fprintf(c.App.Writer, "%s %s %s\n", done, r.Digest[:digestShown], printable.Line(r.Name))
	}
	return nil
}

// namedRecords finds what the command is about. A digest that is whole, or that of a file, needs no record.
func namedRecords(c *cli.Context, store *approval.Store) ([]approval.Record, error) {
	records, wrong := store.List()
	if c.Bool("all") && c.NArg() == 0 {
		return records, wrong
	}
	args, err := cli.Arguments(c, "PROVIDER|DIGEST")
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(args[0])
	if err != nil {
		return nil, err
	}
	if digest != "" {
		return []approval.Record{recordOf(records, digest, args[0])}, nil
	}
	found := slices.DeleteFunc(records, func(r approval.Record) bool { return !namedBy(r, args[0]) })
	if len(found) == 0 {
		return nil, errors.Join(fmt.Errorf("nothing is known of %q: see 'wasmres permission list'", args[0]), wrong)
	}
	return found, nil
}

// leastDigest is how much of a digest must be typed.
const leastDigest = 8

func namedBy(r approval.Record, word string) bool {
	hex := strings.TrimPrefix(word, "sha256:")
	return r.Name == word || len(hex) >= leastDigest && strings.HasPrefix(strings.TrimPrefix(r.Digest, "sha256:"), hex)
}

// digestOf gives the digest a word is, or that of the file it names; empty when it is neither.
func digestOf(word string) (string, error) {
	if approval.CheckDigest(word) == nil {
		return word, nil
	}
	info, err := os.Stat(word)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	f, err := os.Open(word)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// recordOf gives the record of a digest, or one that begins with it.
func recordOf(records []approval.Record, digest, word string) approval.Record {
	for _, r := range records {
		if r.Digest == digest {
			return r
		}
	}
	r := approval.Record{Digest: digest, Policy: &policy.Policy{}}
	if origin, err := approval.Origin(word); err == nil && word != digest {
		r.Name, r.Origin = filepath.Base(word), origin
	}
	return r
}
