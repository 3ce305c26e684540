package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime"
)

// DoctorCommand returns the command doctor.
func DoctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "test the isolation of providers on this machine, and report cache, compilers and clients",
		Description: `Runs a test provider, as 'wasmres run' would run yours, and prints which isolation layers were on.
A layer that is off makes isolation weaker, but providers still run; doctor prints why it is off,
and what turns it on, if it knows. It also prints the size of the cache, which compilers for
'wasmres build' are installed, and which of your MCP clients have servers that wasmres runs. The
exit status is 1 if the provider did not run.

With --attack, doctor makes some hundred attacks by hostile modules on this installation, and prints
how each was stopped: by a refusal of the module or by the code of an error; ok is an honest answer.
The exit status is 1 if a promise did not hold. Its other providers and servers go on, but slower.

   wasmres doctor
   wasmres doctor --attack
   wasmres doctor --output-format json`,
		Flags:        providers.Flags(append(attackFlags(), cli.FormatFlag(cli.ReportFormats))...),
		OnUsageError: cli.OnUsageError,
		Action:       doctor,
	}
}

// errNoProviders is the error if the test provider does not run.
var errNoProviders = errors.New("providers do not run on this machine: see above")

func doctor(c *cli.Context) error {
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	if c.Bool("attack") {
		return attack(c, format)
	}
	cfg, err := providers.Config(c, "", cli.PlainLog)
	if err != nil {
		return err
	}
	d := &diagnosis{Diagnosis: runtime.Diagnose(c.Context, app.HostConfig(cfg)), Compilers: project.Toolchains(), Clients: clientConfigs()}
	d.CacheBytes, d.CacheLimit = cachedBytes(cfg.CacheDir), cfg.CacheSize
	if err := printDiagnosis(c, format, d); err != nil {
		return err
	}
	if d.Err != "" {
		return errNoProviders
	}
	return nil
}

// A diagnosis has what doctor finds out about this machine.
type diagnosis struct {
	*runtime.Diagnosis
	CacheBytes int64               `json:"cacheBytes"` // -1 if the folder cannot be read
	CacheLimit int64               `json:"cacheLimit"`
	Compilers  []project.Toolchain `json:"compilers"`
	Clients    []clientConfig      `json:"clients"`
}

// cachedBytes returns the size of all modules in a cache directory, in bytes; -1 if it cannot be read.
func cachedBytes(dir string) int64 {
	all, err := runtime.CachedModules(dir)
	if dir != "" && err != nil {
		return -1
	}
	return sizeOf(all)
}

func printDiagnosis(c *cli.Context, format string, d *diagnosis) error {
	if format != cli.FormatTable {
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		return cli.PrintData(c.App.Writer, format, text)
	}
	t := terminal.NewTable(c.App.Writer)
	for _, r := range diagnosisRows(d) {
		t.Row(r[:]...)
	}
	return t.Flush()
}

func diagnosisRows(d *diagnosis) [][3]string {
	rows := [][3]string{{"system", "", d.System + ", " + d.Engine}, {"isolation", "", d.Isolation}}
	for _, l := range d.Layers {
		rows = append(rows, [3]string{l.Name, onOff(l.On), l.Detail})
	}
	for _, n := range d.Namespaces {
		rows = append(rows, [3]string{n.Kind + " namespace", onOff(n.On), n.Why})
	}
	rows = append(rows, [3]string{"instances are reset by", "", strings.Join(append([]string{d.Reset}, d.Slower...), "; ")},
		[3]string{"compiled modules", "", d.cache()})
	if d.Copied != "" {
		rows = append(rows, [3]string{"native code", "", "each worker has a copy, which takes more memory: " + d.Copied})
	}
	switch {
	case d.Unsaved != "":
		rows = append(rows, [3]string{"saved images", "off", "each worker starts its guest, which takes longer: " + d.Unsaved})
	case d.Err == "" && d.Isolation == runtime.IsolateProcess.String():
		rows = append(rows, [3]string{"saved images", "on"})
	}
	for _, t := range d.Compilers {
		rows = append(rows, compilerRow(t))
	}
	for i := range d.Clients {
		rows = append(rows, d.Clients[i].row())
	}
	if d.Err != "" {
		return append(rows, [3]string{"a provider", "failed", d.Err})
	}
	return append(rows, [3]string{"a provider", "runs", fmt.Sprintf("ready in %.1f ms, a small read takes %.1f µs", d.Ready, d.Read)})
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// cache says where compiled modules are cached, and how full the cache is.
func (d *diagnosis) cache() string {
	switch {
	case d.Cache == "":
		return "not cached"
	case d.CacheBytes < 0:
		return d.Cache + ", which cannot be read"
	}
	return fmt.Sprintf("%s, %s of at most %s", d.Cache, terminal.Size(uint64(d.CacheBytes)), terminal.Size(uint64(d.CacheLimit)))
}

func compilerRow(t project.Toolchain) [3]string {
	name := "compiler for " + t.Language
	if len(t.Missing) > 0 {
		return [3]string{name, "missing", strings.Join(t.Missing, ", ") + "; needs " + t.Needs}
	}
	if len(t.Found) == 0 {
		return [3]string{name, "found", "needs " + t.Needs}
	}
	return [3]string{name, "found", strings.Join(t.Found, ", ")}
}
