package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/pace"
)

// providerCommand changes what the providers of generations get to do, at once and without a deployment.
func providerCommand(out io.Writer, s *services) *cobra.Command {
	cmd := group("provider", "Turn a provider or model off and on, and limit its calls")
	change := func(cmd *cobra.Command, name string, change func(*pace.Settings)) error {
		if !known(name) {
			return fmt.Errorf("%q is neither a provider nor the id of a model of the catalog", name)
		}
		is, err := pace.Change(cmd.Context(), s.db, change)
		if err != nil {
			return err
		}
		return show(out, is)
	}
	off := &cobra.Command{Use: "off NAME", Short: "Stop all live calls of a provider or model: accepted work waits to its " +
		"deadline, and new work is refused", Example: "  admin provider off fal", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return change(cmd, args[0], func(s *pace.Settings) {
				if !slices.Contains(s.Off, args[0]) {
					s.Off = append(s.Off, args[0])
				}
			})
		}}
	on := &cobra.Command{Use: "on NAME", Short: "Allow calls again", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return change(cmd, args[0], func(s *pace.Settings) {
				s.Off = slices.DeleteFunc(s.Off, func(name string) bool { return name == args[0] })
			})
		}}
	limit := &cobra.Command{Use: "limit NAME CALLS", Short: "Set the most submissions a minute, such as the quota of the " +
		"account; 0 is any number", Example: "  admin provider limit stable-image-core 60", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 0 || n > maxPerMinute {
				return fmt.Errorf("%q is no number of calls a minute from 0 to %d", args[1], maxPerMinute)
			}
			return change(cmd, args[0], func(s *pace.Settings) { s.PerMinute[args[0]] = n })
		}}
	list := &cobra.Command{Use: "show", Short: "Show what is off, and the limits", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			is, err := pace.Read(cmd.Context(), s.db)
			if err != nil {
				return err
			}
			return show(out, is.Settings)
		}}
	quotas := &cobra.Command{Use: "quotas", Short: "Limit each model of Bedrock and Polly to the calls a minute that " +
		"Service Quotas names for the AWS account", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		limits, unknown := map[string]int{}, []string{}
		for _, service := range preflight.LimitedServices {
			all, err := s.quotas(cmd.Context(), service)
			if err != nil {
				return fmt.Errorf("read Service Quotas: %w", err)
			}
			some, others := preflight.Limits(catalog.Models(catalog.Filter{Provider: service}), all)
			maps.Copy(limits, some)
			unknown = append(unknown, others...)
		}
		is, err := pace.Change(cmd.Context(), s.db, func(s *pace.Settings) { maps.Copy(s.PerMinute, limits) })
		if err != nil {
			return err
		}
		if len(unknown) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "No quota names %s: their limits are as before.\n", strings.Join(unknown, ", "))
		}
		return show(out, is)
	}}
	cmd.AddCommand(off, on, limit, list, quotas)
	return cmd
}

const maxPerMinute = 100_000

// known reports whether a name is that of a provider or the id of a model.
func known(name string) bool {
	return slices.ContainsFunc(catalog.Models(catalog.Filter{}), func(m catalog.Model) bool {
		return m.ID == name || m.Provider == name
	})
}
