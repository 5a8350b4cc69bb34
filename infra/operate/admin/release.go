package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/infra/operate/release"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// openReleases connects to the functions of a customer's stacks, and returns the prefix of
// their names.
func openReleases(ctx context.Context, stack string) (*release.Releaser, string, error) {
	cfg, err := configuration(ctx)
	if err != nil {
		return nil, "", err
	}
	prefix, err := prefixOf(stack, cfg.Region)
	return release.Open(cfg, strings.TrimSuffix(prefix, "-")), prefix, err
}

// prefixOf returns the prefix of the names of the functions of stacks.
func prefixOf(stack, region string) (string, error) {
	prefix, ok := strings.CutSuffix(stack, "-"+region)
	if !ok {
		return "", fmt.Errorf("name the stacks by --stack or STACK_NAME: <customer>-<stage>-%s, not %q", region, stack)
	}
	return prefix + "-", nil
}

func releaseCommand(out io.Writer, open func(context.Context, string) (*release.Releaser,
	string, error)) *cobra.Command {
	cmd := group("release", "Move functions between their versions")
	var stack, prefix string
	var r *release.Releaser
	cmd.PersistentFlags().StringVar(&stack, "stack", os.Getenv("STACK_NAME"),
		"common name of the stacks: <customer>-<stage>-<region>")
	// It replaces the hook of the root, which requires the state table.
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		if !cmd.HasSubCommands() {
			r, prefix, err = open(cmd.Context(), stack)
		}
		return err
	}
	list := &cobra.Command{Use: "list", Short: "List the versions of all functions, and which are in use",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return each(nil, func(name string) error {
				f, err := r.Find(cmd.Context(), prefix+name)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(out, "%-14s  version %s of %s%s\n", name, f.Version,
					strings.Join(f.Versions, ", "), next(f))
				return err
			})
		}}
	var version string
	var percent int
	var bake time.Duration
	shift := &cobra.Command{Use: "shift FUNCTION", Short: "Give a version a part of the calls, then all; if calls " +
		"fail, none", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		return r.Shift(cmd.Context(), prefix+args[0], version, percent, bake)
	}}
	shift.Flags().StringVar(&version, "version", "", "number of the version")
	shift.Flags().IntVar(&percent, "percent", 10, "calls that it has at first, in percent")
	shift.Flags().DurationVar(&bake, "bake", 10*time.Minute, "time until it has all")
	_ = shift.MarkFlagRequired("version")
	var all bool
	var to string
	rollback := &cobra.Command{Use: "rollback [FUNCTION]", Short: "Give all calls to the version before, at once",
		Args: cobra.MaximumNArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) || all && to != "" {
				return errors.New("name a function, or give --all without --version")
			}
			return each(args, func(name string) error {
				v, err := r.Rollback(cmd.Context(), prefix+name, to)
				if err == nil {
					_, err = fmt.Fprintf(out, "%-14s  version %s\n", name, v)
				}
				return err
			})
		}}
	rollback.Flags().BoolVar(&all, "all", false, "all functions")
	rollback.Flags().StringVar(&to, "version", "", "number of the version; default: the one before")
	var keep int
	prune := &cobra.Command{Use: "prune", Short: "Delete old versions of all functions that are not in use",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			if keep < 2 {
				return errors.New("--keep is 2 or more: a rollback needs the version before")
			}
			return each(nil, func(name string) error {
				deleted, err := r.Prune(cmd.Context(), prefix+name, keep)
				_, failed := fmt.Fprintf(out, "%-14s  %d deleted\n", name, len(deleted))
				return errors.Join(err, failed)
			})
		}}
	prune.Flags().IntVar(&keep, "keep", 5, "newest versions of each function that are kept")
	cmd.AddCommand(list, shift, rollback, prune)
	return cmd
}

func next(f release.Function) string {
	if f.Next == "" {
		return ""
	}
	return "; version " + f.Next + " has a part of the calls"
}

// each calls f for the named functions, or for all that have an alias, and returns all errors.
func each(names []string, f func(string) error) error {
	if len(names) == 0 {
		for _, fn := range topology.Functions {
			if fn.Trigger != topology.ByRotation {
				names = append(names, fn.Name)
			}
		}
	}
	var failed []error
	for _, name := range names {
		failed = append(failed, f(name))
	}
	return errors.Join(failed...)
}
