package test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/policy"
	recorded "github.com/wasmres/wasmres/internal/session"
)

func Command() *cli.Command {
	const category = "Testing"
	return &cli.Command{
		Name: "test", Usage: "replay recorded sessions and compare the answers",
		ArgsUsage: providers.ArgUsage + " [FILE.txtar...]",
		Description: `Asks the provider what each session asks, and compares what it answers with what is
recorded. What the provider asks of the host is answered from the session too, so a replay
needs no grants; time and random numbers are the session's as well. Without files, the
sessions are tests/*.txtar beside the provider.

   wasmres test provider.wasm
   wasmres test --run 'read users:' provider.wasm tests/users.txtar

With --record the answers are put into the files in place of being compared. A file that is
not there is begun with the list, the templates, static resources and completions. Grants
then count, and what they give the provider is put into the session.

   wasmres test --record provider.wasm tests/first.txtar
   wasmres test --record --dir .:/project project.wasm tests/files.txtar`,
		Flags: providers.Flags(
			cli.FormatFlag(cli.ReportFormats),
			&cli.BoolFlag{Name: "record", Category: category, Usage: "write the answers into the files"},
			&cli.StringFlag{Name: "run", Category: category, Usage: "take only steps that match `REGEXP`"},
		),
		OnUsageError: cli.OnUsageError,
		Action:       testProvider,
	}
}

func testProvider(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	provider, given, err := testArguments(c)
	if err != nil {
		return err
	}
	t, err := newTester(c, provider)
	if err != nil {
		return err
	}
	files, err := sessionFiles(provider, given)
	if err != nil {
		return err
	}
	var results []Result
	for _, file := range files {
		r := t.Run(c.Context, file)
		if err := c.Context.Err(); err != nil {
			return err
		}
		results = append(results, r)
		if format == cli.FormatTable {
			Print(c.App.Writer, r)
		}
	}
	return testVerdict(c, format, results)
}

// testArguments gives the file of the provider, which may be left out in the folder of a project, and those of sessions.
func testArguments(c *cli.Context) (provider string, sessions []string, err error) {
	if first := c.Args().First(); first != "" && !strings.HasSuffix(first, ".txtar") {
		return first, c.Args().Tail(), nil
	}
	provider, err = providers.ProjectModule(c)
	return provider, c.Args().Slice(), err
}

// sessionFiles gives the files that are named, or else those beside the provider.
func sessionFiles(provider string, given []string) ([]string, error) {
	if len(given) > 0 {
		return given, nil
	}
	dir := filepath.Join(filepath.Dir(provider), "tests")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".txtar") && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no session %s: begin one with --record %s FILE.txtar",
			filepath.Join(dir, "*.txtar"), provider)
	}
	return files, nil
}

// A Runner runs the sessions of one provider.
type Runner struct {
	Config    app.Config                // with the grants that the flags give
	match     func(request string) bool // of the steps to run; nil for all
	record    bool                      // writes the answers into the files
	setConfig bool                      // records the configuration of cfg in place of that in the file
}

func newTester(c *cli.Context, provider string) (*Runner, error) {
	t := &Runner{record: c.Bool("record"), setConfig: c.IsSet("config")}
	for _, grant := range providers.GrantNames() {
		if c.IsSet(grant) && !t.record {
			return nil, cli.Usagef(c, "--%s: a replay has what is recorded; grants are for --record", grant)
		}
	}
	if pattern := c.String("run"); pattern != "" {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, cli.Usagef(c, "--run: %w", err)
		}
		t.match = re.MatchString
	}
	var err error
	t.Config, err = providers.Config(c, provider, cli.PlainLog)
	if err != nil {
		return nil, err
	}
	return t, checkSecrecy(&t.Config.Grants)
}

// checkSecrecy sees to it that no variable which a secret comes from is recorded as one the provider may read.
func checkSecrecy(p *policy.Policy) error {
	for _, name := range p.Environment {
		isSecret := slices.ContainsFunc(p.Secrets, func(s policy.Secret) bool { return s.Env == name }) ||
			slices.ContainsFunc(p.SQL, func(s policy.SQL) bool { return s.DSNEnv == name })
		if isSecret {
			return fmt.Errorf("--record: the variable %s has a secret, and what the provider may read is recorded: "+
				"do not grant it with --env too", name)
		}
	}
	return nil
}

// A Result is what became of one file.
type Result struct {
	File string `json:"file"`
	recorded.Report
	Millis  float64 `json:"elapsedMs"`
	Err     string  `json:"error,omitempty"` // why the session could not be run
	written bool
}

// Failed says how many things went wrong.
func (r *Result) Failed() int {
	if r.Err != "" {
		return 1
	}
	return len(r.Failures)
}

func (t *Runner) Run(ctx context.Context, file string) Result {
	began := time.Now()
	r := Result{File: file, Report: recorded.Report{Failures: []recorded.Failure{}}}
	report, err := t.runFile(ctx, file)
	if err != nil {
		r.Err = err.Error()
	}
	if report != nil {
		r.Report, r.written = *report, t.record && err == nil && len(report.Failures) == 0
	}
	r.Millis = float64(time.Since(began).Microseconds()) / 1e3
	return r
}

// runFile runs a session with a provider of its own. What is recorded is written when nothing failed.
func (t *Runner) runFile(ctx context.Context, file string) (*recorded.Report, error) {
	s, err := recorded.Load(file)
	isNew := t.record && errors.Is(err, fs.ErrNotExist)
	if isNew {
		s, err = recorded.New(), nil
	}
	if err != nil {
		return nil, err
	}
	host, cfg := t.grant(s)
	a, err := app.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if isNew {
		s.Comment, s.Steps = recorded.Begin(a.Provider().Manifest())
	}
	report, err := recorded.Run(ctx, recorded.Config{
		Session: s, Host: host, Source: a.Provider().Source(), Match: t.match, Update: t.record,
	})
	if err != nil || !t.record || len(report.Failures) > 0 {
		return report, err
	}
	return report, s.Save(file)
}

// grant makes the host of a session, and the world its provider sees. The grants of flags, which are for recording, take
// the place of those in the file.
func (t *Runner) grant(s *recorded.Session) (*recorded.Host, app.Config) {
	host, cfg := recorded.Replay(s), t.Config
	if t.record {
		host = recorded.Record(s)
	}
	if len(cfg.Grants.Environment) > 0 {
		host.RecordEnvironment()
	}
	if t.setConfig {
		s.Grants.Config = cfg.Grants.Config
	}
	cfg.Grants.Config, cfg.ReplaceServices, cfg.Clock = s.Grants.Config, host.Services, s.Clock()
	return host, cfg
}

// testVerdict prints the results for machines, if they are asked for, and is an error when a step has failed.
func testVerdict(c *cli.Context, format string, results []Result) error {
	if format != cli.FormatTable {
		if err := printTests(c.App.Writer, format, results); err != nil {
			return err
		}
	}
	failed, steps := 0, 0
	for _, r := range results {
		failed += r.Failed()
		steps += r.Steps
	}
	switch {
	case failed > 0:
		return fmt.Errorf("test: %s, see above", terminal.Counted(failed, "failure"))
	case steps == 0 && c.String("run") != "":
		return fmt.Errorf("test: no step matches --run %s", c.String("run"))
	case slices.ContainsFunc(results, func(r Result) bool { return r.Steps+r.Skipped == 0 }):
		return errors.New("test: a session has no steps, see above; write some, as in -- read URI --")
	}
	return nil
}
