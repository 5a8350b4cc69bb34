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
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/spf13/cobra"

	"github.com/content-automation/api/infra/operate/recovery"
	"github.com/content-automation/api/infra/operate/release"
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
