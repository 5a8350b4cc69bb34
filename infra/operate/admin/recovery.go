package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/spf13/cobra"

	"github.com/content-automation/api/infra/operate/halt"
	"github.com/content-automation/api/infra/operate/recovery"
	"github.com/content-automation/api/infra/operate/release"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/connection/cognito"
)

// openData connects to the tables and buckets with the data of accounts. The flags set their
// names.
func openData(ctx context.Context) (recovery.Data, error) {
	cfg, err := configuration(ctx)
	if err != nil {
		return recovery.Data{}, err
	}
	files := func(region string) recovery.Bucket {
		return s3.NewFromConfig(cfg, func(o *s3.Options) {
			o.Region, o.UsePathStyle = region, cfg.BaseEndpoint != nil // The local AWS needs it.
		})
	}
	d := recovery.Data{Table: dynamodb.NewFromConfig(cfg), Bucket: files(cfg.Region)}
	if copies := os.Getenv("MEDIA_COPIES"); copies != "" {
		region, name, ok := strings.Cut(copies, "/")
		if !ok {
			return d, errors.New("MEDIA_COPIES is the region and the name of a bucket, such as eu-central-1/hooli-media")
		}
		d.Copies, d.CopiesName = files(region), name
	}
	return d, nil
}

// openPeople connects to the user pool with an id. A system without a pool has none.
func openPeople(ctx context.Context, pool string) (recovery.Pool, error) {
	switch pool {
	case "":
		return nil, errors.New("name the user pool by --user-pool: it is the output UserPoolId of the data stack; " +
			"or none, for a system without one")
	case "none":
		return nil, nil
	}
	cfg, err := configuration(ctx)
	if err != nil {
		return nil, err
	}
	return cognito.New(cfg, pool, ""), nil
}

// restoreCheckCommand makes the command that checks a restored table.
func restoreCheckCommand(out io.Writer, open func(context.Context) (recovery.Data, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore-check", Short: "Check whether the money of a restored table adds up, and all work in it goes on",
		Long: "Read the table of --table, which nothing may write to meanwhile, and compare balances with their " +
			"entries, and work and reservations with tasks. The command fails and names the mismatches. " +
			"It changes nothing.",
		Args: cobra.NoArgs,
	}
	// It replaces the hook of the root, because the command reads whole items.
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		table, err := cmd.Flags().GetString("table")
		if err != nil || table == "" {
			return errors.New("name the restored table by --table")
		}
		d, err := open(cmd.Context())
		if err != nil {
			return err
		}
		r, err := recovery.Check(cmd.Context(), d.Table, table)
		if err != nil {
			return err
		}
		if err := show(out, r); err != nil || len(r.Broken) == 0 {
			return err
		}
		return fmt.Errorf("%d things do not fit together: see docs/recovery.md", len(r.Broken))
	}
	return cmd
}

// rehearseCommand makes the command that rehearses a restore, and shows how long it takes.
func rehearseCommand(out io.Writer) *cobra.Command {
	cmd := &cobra.Command{Use: "restore-rehearse", Short: "Restore both tables beside the running ones, check them, delete " +
		"them, and show how long each step takes", Long: "Nothing of the running system is changed. On AWS, the restored " +
		"tables cost their storage until they are deleted.", Args: cobra.NoArgs}
	// It replaces the hook of the root, because the command reads whole items.
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		state, err := cmd.Flags().GetString("table")
		audit, failed := cmd.Flags().GetString("audit-table")
		if err != nil || failed != nil || state == "" || audit == "" {
			return errors.New("name the tables by --table and --audit-table: they are the outputs TableName and " +
				"AuditTableName of the data stack")
		}
		cfg, err := configuration(cmd.Context())
		if err != nil {
			return err
		}
		r := recovery.Rehearsal{Tables: dynamodb.NewFromConfig(cfg), State: state, Audit: audit,
			Suffix: "-rehearsal-" + time.Now().UTC().Format("20060102-150405"), Now: time.Now, Wait: release.Wait}
		t, err := r.Run(cmd.Context())
		if t.Restore > 0 {
			_, printed := fmt.Fprintf(out, "restored in %.1f s\nchecked %d items of %d accounts in %.1f s\n",
				t.Restore.Seconds(), t.Report.Items, t.Report.Accounts, t.Check.Seconds())
			err = errors.Join(err, printed)
		}
		if err == nil && len(t.Report.Broken) > 0 {
			err = fmt.Errorf("%d things do not fit together: see docs/recovery.md", len(t.Report.Broken))
		}
		return err
	}
	return cmd
}

// dataCommands returns the commands that export and erase accounts.
func dataCommands(out io.Writer, open func(context.Context) (recovery.Data, error)) []*cobra.Command {
	var bucket string
	connect := func(cmd *cobra.Command) (d recovery.Data, err error) {
		if d, err = open(cmd.Context()); err != nil {
			return d, err
		}
		d.Media = bucket
		if d.State, err = cmd.Flags().GetString("table"); err != nil {
			return d, err
		}
		if d.Audit, err = cmd.Flags().GetString("audit-table"); err != nil {
			return d, err
		}
		if d.State == "" || d.Audit == "" || d.Media == "" {
			return d, errors.New("name the tables and the bucket by --table, --audit-table and --bucket: they are " +
				"the outputs TableName, AuditTableName and MediaBucket of the data stack")
		}
		return d, nil
	}
	var file string
	export := &cobra.Command{Use: "export ACCOUNT", Short: "Write all data of an account into a file, as lines of JSON",
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) (err error) {
			d, err := connect(cmd)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			lines, err := d.Export(cmd.Context(), args[0], f)
			if err != nil {
				return err
			}
			return show(out, map[string]int{"lines": lines})
		}}
	export.Flags().StringVar(&file, "file", "", "file that is made")
	_ = export.MarkFlagRequired("file")
	var name, pool string
	var keepLedger bool
	erase := &cobra.Command{Use: "erase ACCOUNT", Short: "Delete an account with its files, for good",
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			d, err := connect(cmd)
			if err == nil {
				d.People, err = openPeople(cmd.Context(), pool)
			}
			if err != nil {
				return err
			}
			e, err := d.Erase(cmd.Context(), args[0], name, keepLedger)
			return errors.Join(err, show(out, e))
		}}
	erase.Flags().StringVar(&name, "name", "", "name of the account, as a confirmation")
	erase.Flags().BoolVar(&keepLedger, "keep-ledger", false, "keep the entries of the balance")
	erase.Flags().StringVar(&pool, "user-pool", os.Getenv("USER_POOL_ID"), "id of the user pool, or none")
	_ = erase.MarkFlagRequired("name")
	for _, cmd := range []*cobra.Command{export, erase} {
		cmd.Flags().StringVar(&bucket, "bucket", os.Getenv("MEDIA_BUCKET"), "name of the bucket of the media")
	}
	return []*cobra.Command{export, erase}
}

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
