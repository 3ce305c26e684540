package hosting

import (
	"context"
	"fmt"
	"strconv"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/strict"
)

// PlanCommand returns the command plan.
func PlanCommand() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "plan", Usage: "list, show, set and remove the plans of a running server, which bound its tenants",
		Description: `Plans of serve.yaml are changed there. The others:

   echo 'requests: {rate: 500/s}' | wasmres plan set gold -
   wasmres tenant new acme --plan gold`,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the plans",
				Flags:        serverFlags(cli.FormatFlag(cli.ReportFormats)),
				OnUsageError: cli.OnUsageError, Action: listPlans,
			},
			{
				Name: "show", Usage: "print a plan, as 'plan set' reads it", ArgsUsage: "PLAN",
				Flags:        serverFlags(cli.FormatFlag(cli.ReportFormats)),
				OnUsageError: cli.OnUsageError, Action: showPlan,
			},
			{
				Name: "set", Usage: "make or change a plan that is not in serve.yaml", ArgsUsage: "PLAN FILE",
				Description: `FILE has what serve.yaml would have after the name of the plan; - is standard input. It names no other
file: in place of ceiling it has permissions, as a policy file has them. All tenants with the plan must
be within it.`,
				Flags:        serverFlags(),
				OnUsageError: cli.OnUsageError, Action: setPlan,
			},
			{
				Name: "remove", Usage: "remove a plan that no tenant has", ArgsUsage: "PLAN",
				Flags:        serverFlags(),
				OnUsageError: cli.OnUsageError, Action: removePlan,
			},
		},
	})
}

func plansAfter(ctx context.Context, s *admin.Client, cursor string) (admin.Page[admin.Plan], error) {
	return s.Plans(ctx, cursor)
}

func listPlans(c *cli.Context) error {
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	return printList(c, plansAfter, []string{"PLAN", "OWNER", "TENANTS", "WEIGHT"}, func(p *admin.Plan) []string {
		return []string{p.Name, string(p.Owner), strconv.Itoa(p.Tenants), strconv.Itoa(p.Weight)}
	})
}

func showPlan(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	args, err := cli.Arguments(c, "PLAN")
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		all, err := everyPage(func(cursor string) (admin.Page[admin.Plan], error) { return plansAfter(ctx, s, cursor) })
		if err != nil {
			return err
		}
		var names []string
		for i := range all {
			if names = append(names, all[i].Name); all[i].Name != args[0] {
				continue
			}
			if format != cli.FormatTable {
				return cli.PrintValue(c.App.Writer, format, all[i])
			}
			_, err := fmt.Fprint(c.App.Writer, all[i].File)
			return err
		}
		_, err = strict.Word("plan", args[0], names)
		return err
	})
}

func setPlan(c *cli.Context) error {
	args, err := cli.Arguments(c, "PLAN", "FILE")
	if err != nil {
		return err
	}
	text, err := readInput(c, args[1])
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		p, err := s.SetPlan(ctx, args[0], text)
		if err == nil {
			fmt.Fprintf(c.App.ErrWriter, "Plan %s: set, for %s.\n", terminal.Cell(p.Name), terminal.Numbered(p.Tenants, "tenant", "tenants"))
		}
		return err
	})
}

func removePlan(c *cli.Context) error {
	args, err := cli.Arguments(c, "PLAN")
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		err := s.RemovePlan(ctx, args[0])
		if err == nil {
			fmt.Fprintf(c.App.ErrWriter, "Plan %s: removed.\n", terminal.Cell(args[0]))
		}
		return err
	})
}
