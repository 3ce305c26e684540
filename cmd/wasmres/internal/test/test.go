package test

import (
	"cmp"
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
	"github.com/wasmres/wasmres/runtime"
)

// Command returns the command test.
func Command() *cli.Command {
	const category = "Testing"
	return &cli.Command{
		Name: "test", Usage: "replay recorded sessions and compare the answers",
		ArgsUsage: providers.ArgUsage + " [FILE.txtar...]",
		Description: `Sends the provider the requests of each session, and compares its answers with the recorded ones.
The session also answers the provider's requests to the host, so a replay needs no grants. Time
and random numbers come from the session. Without files, the sessions are tests/*.txtar in the
provider's folder.

   wasmres test provider.wasm
   wasmres test --run 'read users:' provider.wasm tests/users.txtar

With --record the answers are written to the files and not compared. A new file gets the list,
the templates, static resources and completions. The provider has the grants of the flags, and
what it gets from them is recorded.

   wasmres test --record provider.wasm tests/first.txtar
   wasmres test --record --dir .:/project project.wasm tests/files.txtar`,
		Flags: providers.Flags(
			cli.FormatFlag(cli.ReportFormats),
			&cli.BoolFlag{Name: "record", Category: category, Usage: "write the answers to the files"},
			&cli.StringFlag{Name: "run", Category: category, Usage: "run only steps that match `REGEXP`"},
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

// testArguments returns the file of the provider, which may be missing in the directory of a project, and those of
// sessions.
func testArguments(c *cli.Context) (provider string, sessions []string, err error) {
	if first := c.Args().First(); first != "" && !strings.HasSuffix(first, ".txtar") {
		return first, c.Args().Tail(), nil
	}
	provider, err = providers.ProjectModule(c)
	return provider, c.Args().Slice(), err
}

// sessionFiles returns the named files, or, without any, those in the directory tests beside the provider.
func sessionFiles(provider string, given []string) ([]string, error) {
	if len(given) > 0 {
		return given, nil
	}
	files, err := Sessions(provider)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no session found, %s: record one with --record %s FILE.txtar",
			filepath.Join(sessionDir(provider), "*.txtar"), provider)
	}
	return files, err
}

// sessionDir returns the directory with the sessions of a provider.
func sessionDir(provider string) string { return filepath.Join(filepath.Dir(provider), "tests") }

// Sessions returns the files of sessions in the directory tests beside a provider; nil if there are none.
func Sessions(provider string) (files []string, err error) {
	dir := sessionDir(provider)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".txtar") && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// A Runner runs recorded sessions, each with a provider of its own. Only Config is required.
type Runner struct {
	Config    app.Config                // of the provider; its grants have an effect only while recording
	match     func(request string) bool // of the steps to run; nil for all
	record    bool                      // writes the answers into the files
	setConfig bool                      // records the configuration of cfg in place of that in the file
}

func newTester(c *cli.Context, provider string) (*Runner, error) {
	t := &Runner{record: c.Bool("record"), setConfig: c.IsSet("config")}
	for _, grant := range providers.GrantNames() {
		if c.IsSet(grant) && !t.record {
			return nil, cli.Usagef(c, "--%s: a replay answers from the session; grants need --record", grant)
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

// checkSecrecy refuses to record a variable that holds a secret: what the provider may read is recorded.
func checkSecrecy(p *policy.Policy) error {
	for _, name := range p.Environment {
		isSecret := slices.ContainsFunc(p.Secrets, func(s policy.Secret) bool { return s.Env == name }) ||
			slices.ContainsFunc(p.SQL, func(s policy.SQL) bool { return s.DSNEnv == name })
		if isSecret {
			return fmt.Errorf("--record: the variable %s has a secret, and the session would record it: "+
				"do not grant it with --env as well", name)
		}
	}
	return nil
}

// A Result is the outcome of one session. Its JSON is what the command prints.
type Result struct {
	File string `json:"file"`
	recorded.Report
	Millis  float64 `json:"elapsedMs"`
	Err     string  `json:"error,omitempty"` // of a session that could not be run
	written bool
}

// Failed returns the number of failures, 1 for a session that could not be run.
func (r *Result) Failed() int {
	if r.Err != "" {
		return 1
	}
	return len(r.Failures)
}

// Run runs the session of a file, and rewrites the file if it records and nothing has failed.
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

// runFile runs the session of a file, or with record begins one if there is no file.
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
		Replay: a.Provider().Replay, Digest: a.Provider().Info().Digest,
	})
	if err != nil || !t.record || len(report.Failures) > 0 {
		return report, err
	}
	return report, s.Save(file)
}

// grant returns the host of a session, and the Config of the provider that runs on it. While recording, the grants of
// flags replace those in the file.
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
	cfg.Limits = within(s.Limits, cfg.Limits)
	return host, cfg
}

// within returns the limits of a session, and those of who runs it where the session has none.
func within(s, ours runtime.Limits) runtime.Limits {
	s.Memory, s.Fuel, s.Timeout = cmp.Or(s.Memory, ours.Memory), cmp.Or(s.Fuel, ours.Fuel), cmp.Or(s.Timeout, ours.Timeout)
	s.Stack, s.Table, s.Output = cmp.Or(s.Stack, ours.Stack), cmp.Or(s.Table, ours.Table), cmp.Or(s.Output, ours.Output)
	s.Items, s.Log, s.LogLines = cmp.Or(s.Items, ours.Items), cmp.Or(s.Log, ours.Log), cmp.Or(s.LogLines, ours.LogLines)
	s.HostCalls = cmp.Or(s.HostCalls, ours.HostCalls)
	s.MilliCPU, s.Wait, s.Calls, s.Sessions, s.Idle = ours.MilliCPU, ours.Wait, ours.Calls, ours.Sessions, ours.Idle
	return s
}

// testVerdict prints the results as JSON or YAML if the format is one of them, and gives an error if a step has failed.
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
		return errors.New("test: a session has no steps, see above: write one, as -- read URI --")
	}
	return nil
}
