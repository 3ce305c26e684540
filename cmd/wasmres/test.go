package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/policy"
	recorded "github.com/wasmres/wasmres/internal/session"
)

func testCommand() *cli.Command {
	const category = "Testing"
	return &cli.Command{
		Name: "test", Usage: "replay recorded sessions and compare the answers",
		ArgsUsage: providerArg + " [FILE.txtar...]",
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
		Flags: providerFlags(
			formatFlag(reportFormats),
			&cli.BoolFlag{Name: "record", Category: category, Usage: "write the answers into the files"},
			&cli.StringFlag{Name: "run", Category: category, Usage: "take only steps that match `REGEXP`"},
		),
		OnUsageError: onUsageError,
		Action:       testProvider,
	}
}

func testProvider(c *cli.Context) error {
	format, err := outputFormat(c)
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
	var results []testResult
	for _, file := range files {
		r := t.run(file)
		if err := c.Context.Err(); err != nil {
			return err
		}
		results = append(results, r)
		if format == formatTable {
			printTest(c.App.Writer, r)
		}
	}
	return testVerdict(c, format, results)
}

// testArguments gives the file of the provider, which may be left out in the folder of a project, and those of sessions.
func testArguments(c *cli.Context) (provider string, sessions []string, err error) {
	if first := c.Args().First(); first != "" && !strings.HasSuffix(first, ".txtar") {
		return first, c.Args().Tail(), nil
	}
	provider, err = projectModule(c)
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

// A tester runs the sessions of one provider.
type tester struct {
	c      *cli.Context
	cfg    app.Config // with the grants that the flags give
	match  func(request string) bool
	record bool
}

func newTester(c *cli.Context, provider string) (*tester, error) {
	t := &tester{c: c, record: c.Bool("record")}
	for _, grant := range grantNames() {
		if c.IsSet(grant) && !t.record {
			return nil, usagef(c, "--%s: a replay has what is recorded; grants are for --record", grant)
		}
	}
	if pattern := c.String("run"); pattern != "" {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, usagef(c, "--run: %w", err)
		}
		t.match = re.MatchString
	}
	var err error
	t.cfg, err = providerConfig(c, provider, plainLog)
	if err != nil {
		return nil, err
	}
	return t, checkSecrecy(&t.cfg.Grants)
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

// A testResult is what became of one file.
type testResult struct {
	File string `json:"file"`
	recorded.Report
	Millis  float64 `json:"elapsedMs"`
	Err     string  `json:"error,omitempty"` // why the session could not be run
	written bool
}

// failed says how many things went wrong.
func (r *testResult) failed() int {
	if r.Err != "" {
		return 1
	}
	return len(r.Failures)
}

func (t *tester) run(file string) testResult {
	began := time.Now()
	r := testResult{File: file, Report: recorded.Report{Failures: []recorded.Failure{}}}
	report, err := t.runFile(file)
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
func (t *tester) runFile(file string) (*recorded.Report, error) {
	s, err := recorded.Load(file)
	isNew := t.record && errors.Is(err, fs.ErrNotExist)
	if isNew {
		s, err = recorded.New(), nil
	}
	if err != nil {
		return nil, err
	}
	host, cfg := t.grant(s)
	a, err := app.Open(t.c.Context, cfg)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if isNew {
		s.Comment, s.Steps = recorded.Begin(a.Provider().Manifest())
	}
	report, err := recorded.Run(t.c.Context, recorded.Config{
		Session: s, Host: host, Source: a.Provider().Source(), Match: t.match, Update: t.record,
	})
	if err != nil || !t.record || len(report.Failures) > 0 {
		return report, err
	}
	return report, s.Save(file)
}

// grant makes the host of a session, and the world its provider sees. The grants of flags, which are for recording, take
// the place of those in the file.
func (t *tester) grant(s *recorded.Session) (*recorded.Host, app.Config) {
	host, cfg := recorded.Replay(s), t.cfg
	if t.record {
		host = recorded.Record(s)
	}
	if len(cfg.Grants.Environment) > 0 {
		host.RecordEnvironment()
	}
	if t.c.IsSet("config") {
		s.Grants.Config = cfg.Grants.Config
	}
	cfg.Grants.Config, cfg.ReplaceServices, cfg.Clock = s.Grants.Config, host.Services, s.Clock()
	return host, cfg
}

// testVerdict prints the results for machines, if they are asked for, and is an error when a step has failed.
func testVerdict(c *cli.Context, format string, results []testResult) error {
	if format != formatTable {
		if err := printTests(c.App.Writer, format, results); err != nil {
			return err
		}
	}
	failed, steps := 0, 0
	for _, r := range results {
		failed += r.failed()
		steps += r.Steps
	}
	switch {
	case failed > 0:
		return fmt.Errorf("test: %s, see above", counted(failed, "failure"))
	case steps == 0 && c.String("run") != "":
		return fmt.Errorf("test: no step matches --run %s", c.String("run"))
	case slices.ContainsFunc(results, func(r testResult) bool { return r.Steps+r.Skipped == 0 }):
		return errors.New("test: a session has no steps, see above; write some, as in -- read URI --")
	}
	return nil
}
