package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/spf13/cobra"

	"github.com/content-automation/api/infra/operate/halt"
	"github.com/content-automation/api/infra/operate/release"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// openDeployment connects to the functions of a customer's stacks.
func openDeployment(ctx context.Context, stack string) (*halt.Deployment, error) {
	cfg, err := configuration(ctx)
	if err != nil {
		return nil, err
	}
	prefix, err := prefixOf(stack, cfg.Region)
	if err != nil {
		return nil, err
	}
	d := &halt.Deployment{Lambda: lambda.NewFromConfig(cfg), Rules: eventbridge.NewFromConfig(cfg), Prefix: prefix,
		Wait: release.Wait}
	for _, f := range topology.Functions {
		d.Functions = append(d.Functions, f.Name)
		if f.Trigger == topology.BySchedule {
			d.Scheduled = append(d.Scheduled, f.Name)
		}
	}
	return d, nil
}

// haltCommands returns the commands that stop and start the functions of a deployment.
func haltCommands(out io.Writer, open func(context.Context, string) (*halt.Deployment, error)) []*cobra.Command {
	stop := &cobra.Command{
		Use: "stop", Short: "Stop the background work; with --all, all functions",
		Long: "Disable all event source mappings and schedules of the stacks that --stack names, and wait until " +
			"nothing is polled any more. With --all, no function may run: the API answers 503. " +
			"Runs that have begun go on, for up to 15 minutes. The enabled ones are noted in tags, so that start " +
			"restores them. The command may be repeated.",
		Args: cobra.NoArgs,
	}
	start := &cobra.Command{Use: "start", Short: "Start the functions that stop has stopped, and no others",
		Args: cobra.NoArgs}
	var stack string
	var d *halt.Deployment
	for _, cmd := range []*cobra.Command{stop, start} {
		cmd.Flags().StringVar(&stack, "stack", os.Getenv("STACK_NAME"),
			"common name of the stacks: <customer>-<stage>-<region>")
		// It replaces the hook of the root, which requires the state table.
		cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) (err error) {
			if d, err = open(cmd.Context(), stack); err == nil {
				d.Report = func(part, became string) { _, _ = fmt.Fprintf(out, "%s: %s\n", part, became) }
			}
			return err
		}
	}
	var all bool
	stop.Flags().BoolVar(&all, "all", false, "all functions, those of the API too")
	stop.RunE = func(cmd *cobra.Command, _ []string) error { return d.Stop(cmd.Context(), all) }
	start.RunE = func(cmd *cobra.Command, _ []string) error { return d.Start(cmd.Context()) }
	return []*cobra.Command{stop, start}
}
