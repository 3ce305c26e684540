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
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/printable"
)

// Command returns the command permission.
func Command() *cli.Command {
	const category = "Granting"
	chosen := "The argument is a file, a reference, a repository, a digest or its beginning, or the name of a\nprovider."
	return cli.Group(&cli.Command{
		Name: "permission", Usage: "approve and revoke what providers may touch",
		Description: `An approval is for one module, which its digest identifies, until it is revoked or reset. A new
version in the same file, or of the same repository and signer, gets the same grants, unless it
requests more.`,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list approvals",
				Flags:        []cli.Flag{providers.ApprovalsFlag(), cli.FormatFlag(cli.ReportFormats)},
				OnUsageError: cli.OnUsageError, Action: listPermissions,
			},
			{
				Name: "grant", Usage: "grant capabilities to a provider; it can use them from its next start", ArgsUsage: providers.ArgUsage,
				Description: `Grants what the flags and the policy say, and replaces earlier grants. Without flags, on a
terminal, shows what the provider requests, and asks.

   wasmres permission grant notes.wasm --dir ~/notes:/notes --kv
   wasmres permission grant notes.wasm --policy policy.yaml`,
				Flags: providers.Flags(providers.ApprovalsFlag(),
					&cli.BoolFlag{Name: "pin", Category: category, Usage: "grant it to this module only, and to no new version"}),
				OnUsageError: cli.OnUsageError, Action: grantPermission,
			},
			{
				Name: "revoke", Usage: "revoke all grants of a provider, and refuse to start it", ArgsUsage: "PROVIDER|DIGEST",
				Description: chosen + `
The provider starts only with grants on the command line, even if earlier versions are approved.`,
				Flags:        []cli.Flag{providers.ApprovalsFlag(), references.StoreFlag()},
				OnUsageError: cli.OnUsageError, Action: revokePermission,
			},
			{
				Name: "reset", Usage: "forget approvals and revocations", ArgsUsage: "PROVIDER|DIGEST",
				Description: chosen + "\nThe next start of the provider asks again.",
				Flags: []cli.Flag{
					providers.ApprovalsFlag(), references.StoreFlag(), &cli.BoolFlag{Name: "all", Usage: "forget all approvals and revocations"},
				},
				OnUsageError: cli.OnUsageError, Action: resetPermission,
			},
		},
	})
}

// A permission is an approval or revocation, as JSON.
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
		fmt.Fprintln(c.App.ErrWriter, "There are no approvals.")
	}
	return wrong
}

// digestShown is the number of characters of a digest that are printed.
const digestShown = len("sha256:") + 12

func (p permission) print(w io.Writer) {
	fmt.Fprintf(w, "%s  %s %s  %s on %s by %s\n", p.Digest[:digestShown], printable.Line(p.Name), printable.Line(p.Version), p.State,
		p.When.Local().Format(time.DateOnly), printable.Line(p.By))
	label := "file"
	if !filepath.IsAbs(p.File) {
		label = "from" // a repository
	}
	fmt.Fprintf(w, "  %s  %s\n", label, printable.Line(p.File))
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
	request, err := requestOf(c, file)
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
		fmt.Fprintf(c.App.ErrWriter, "The provider also requests %s, which is not granted.\n", printable.Line(a.Capability))
	}
	return nil
}

// checkFolders refuses grants of folders that do not exist: a provider could not start with them.
func checkFolders(p *policy.Policy) error {
	for _, s := range p.Storage {
		info, err := os.Stat(s.Host)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder", s.Host)
		}
		if err != nil {
			return fmt.Errorf("nothing was granted: folder for %s: %w", s.Guest, err)
		}
	}
	return nil
}

// requestOf opens a provider without grants, and gives what it requests.
func requestOf(c *cli.Context, file string) (approval.Request, error) {
	cfg, err := providers.CommonConfig(c, cli.PlainLog)
	if err != nil {
		return approval.Request{}, err
	}
	if err := providers.SetModule(c, &cfg, file); err != nil {
		return approval.Request{}, err
	}
	m, digest, err := providers.DescribeUngranted(c, cfg)
	return approval.Request{Manifest: m, Digest: digest, File: cfg.File, From: cfg.From}, err
}

// grantByAsking asks the user, and grants what the answer says, with the configuration of the flags.
func grantByAsking(c *cli.Context, request approval.Request, given *policy.Policy) error {
	decision := approval.Decide(approval.Request{Manifest: request.Manifest, Digest: request.Digest, File: request.File, From: request.From})
	if decision.Outcome == approval.Granted {
		return fmt.Errorf("%s requests no capabilities: set flags for what to grant", request.From.Name(request.File))
	}
	tty, closeTTY := providers.AskingTerminal(c)
	if tty == nil {
		return cli.Usagef(c, "there is no terminal to ask on: set flags for what to grant, with your own values for words in capitals, as in: %s", decision.Example())
	}
	defer closeTTY()
	tty.Lasting = true
	answer, granted, err := decision.Prompt(c.Context, *tty)
	if err != nil || answer == approval.No {
		return err
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

// eachPermission calls do for each record that the argument names, and prints what was done.
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

// namedRecords returns the records that the argument names. A whole digest, or that of a file, needs no record.
func namedRecords(c *cli.Context, store *approval.Store) ([]approval.Record, error) {
	records, wrong := store.List()
	if c.Bool("all") && c.NArg() == 0 {
		return records, wrong
	}
	args, err := cli.Arguments(c, "PROVIDER|DIGEST")
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(c, args[0])
	if err != nil {
		return nil, err
	}
	if digest != "" {
		return []approval.Record{recordOf(records, digest, args[0])}, nil
	}
	found := slices.DeleteFunc(records, func(r approval.Record) bool { return !namedBy(r, args[0]) })
	if len(found) == 0 {
		return nil, errors.Join(fmt.Errorf("there is no approval of %q: see 'wasmres permission list'", args[0]), wrong)
	}
	return found, nil
}

// minDigest is the number of digits of a digest that an argument must have.
const minDigest = 8

func namedBy(r approval.Record, word string) bool {
	hex := strings.TrimPrefix(word, "sha256:")
	return r.Name == word || r.Origin == word || len(hex) >= minDigest && strings.HasPrefix(strings.TrimPrefix(r.Digest, "sha256:"), hex)
}

// digestOf returns the word itself if it is a digest, or the digest of the file or the module in the store that it names; empty
// if it is none of these.
func digestOf(c *cli.Context, word string) (string, error) {
	if approval.CheckDigest(word) == nil {
		return word, nil
	}
	if references.IsReference(word) {
		return references.StoredDigest(c, word)
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

// recordOf returns the record of a digest, or a new one.
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
