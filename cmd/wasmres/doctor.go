package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/internal/app"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "say which walls this machine can put around providers, and try them",
		Description: `Runs a provider of its own, as 'wasmres run' would run yours, and says which layers were on.
A layer that is off makes the wall thinner; providers run all the same. The exit status is
1 when the provider did not run.

   wasmres doctor
   wasmres doctor --output-format json`,
		Flags:        providerFlags(formatFlag(reportFormats)),
		OnUsageError: onUsageError,
		Action:       doctor,
	}
}

var errUnwell = errors.New("providers do not run on this machine: see above")

func doctor(c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
	format, err := outputFormat(c)
	if err != nil {
		return err
	}
	cfg, err := providerConfig(c, "", plainLog)
	if err != nil {
		return err
	}
	d := app.Diagnose(c.Context, cfg)
	if err := printDiagnosis(c, format, d); err != nil {
		return err
	}
	if d.Err != "" {
		return errUnwell
	}
	return nil
}

func printDiagnosis(c *cli.Context, format string, d *app.Diagnosis) error {
	if format != formatTable {
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		return printData(c.App.Writer, format, text)
	}
	t := newTable(c.App.Writer)
	for _, r := range diagnosisRows(d) {
		t.row(r[:]...)
	}
	return t.flush()
}

func diagnosisRows(d *app.Diagnosis) [][3]string {
	rows := [][3]string{{"system", "", d.System + ", " + d.Engine}, {"isolation", "", d.Isolation}}
	for _, l := range d.Layers {
		rows = append(rows, [3]string{l.Name, onOff(l.On), l.Detail})
	}
	for _, n := range d.Namespaces {
		rows = append(rows, [3]string{n.Kind + " namespace", onOff(n.On), n.Why})
	}
	rows = append(rows, [3]string{"instances are put back by", "", strings.Join(append([]string{d.Reset}, d.Slower...), "; ")},
		[3]string{"compiled modules", "", folder(d.Cache)})
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

func folder(dir string) string {
	if dir == "" {
		return "not kept"
	}
	return dir
}
