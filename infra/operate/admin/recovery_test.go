package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/spf13/cobra"

	"github.com/content-automation/api/infra/operate/recovery"
	"github.com/content-automation/api/infra/operate/release"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// noFiles is an empty bucket.
type noFiles struct{ recovery.Bucket }

func (noFiles) ListObjectVersions(context.Context, *s3.ListObjectVersionsInput,
	...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error) {
	return &s3.ListObjectVersionsOutput{}, nil
}

func TestAccountsAreCheckedExportedAndErased(t *testing.T) {
	o := newOperator(t)
	var cfg aws.Config
	storetest.Open(t, o.clock.Now, func(c *aws.Config) { cfg = *c })
	client := dynamodb.NewFromConfig(cfg)
	for _, name := range []string{"restored", "log"} {
		if err := storetest.CreateTable(t.Context(), client, name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = client.DeleteTable(context.Background(),
				&dynamodb.DeleteTableInput{TableName: &name})
		})
	}
	accounts, name := account.NewService(store.Open(cfg, "restored"), o.clock.Now), "Acme"
	a, err := accounts.Create(t.Context(), account.Settings{Name: &name})
	if err == nil {
		_, err = accounts.TopUp(t.Context(), tenant.Account(a.ID), 12)
	}
	if err != nil {
		t.Fatal(err)
	}
	open := func(context.Context) (recovery.Data, error) {
		return recovery.Data{Table: client, Bucket: noFiles{}}, nil
	}
	run := func(args ...string) error {
		var out bytes.Buffer
		cmd := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
		cmd.PersistentFlags().String("table", "restored", "")
		cmd.PersistentFlags().String("audit-table", "log", "")
		cmd.AddCommand(append(dataCommands(&out, open), restoreCheckCommand(&out, open))...)
		cmd.SetArgs(args)
		return cmd.ExecuteContext(t.Context())
	}
	if err := run("restore-check"); err != nil {
		t.Errorf("a whole table: %v", err)
	}
	file := filepath.Join(t.TempDir(), "acme.jsonl")
	if err := run("export", a.ID, "--file", file, "--bucket", "media"); err != nil {
		t.Fatal(err)
	}
	if lines, err := os.ReadFile(file); err != nil || strings.Count(string(lines), "\n") != 3 ||
		!strings.Contains(string(lines), `"name":"Acme"`) {
		t.Errorf("exported, %v:\n%s", err, lines)
	}
	if err := run("export", a.ID, "--file", file, "--bucket", "media"); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file that is there is overwritten: %v", err)
	}
	if err := run("export", a.ID, "--file", file+"2", "--bucket", ""); err == nil ||
		!strings.Contains(err.Error(), "MediaBucket") {
		t.Errorf("without a bucket: %v", err)
	}
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("restored"),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "balance#" + a.ID},
			"sk": &types.AttributeValueMemberS{Value: "#"},
		}}); err != nil {
		t.Fatal(err)
	}
	if err := run("restore-check"); err == nil || !strings.Contains(err.Error(), "1 things do not fit together") {
		t.Errorf("without a balance: %v", err)
	}
	if err := run("erase", a.ID, "--name", "Acme", "--bucket", "media"); err == nil ||
		!strings.Contains(err.Error(), "UserPoolId") {
		t.Errorf("without a pool: %v", err)
	}
	if err := run("erase", a.ID, "--name", "Beta", "--bucket", "media", "--user-pool", "none"); err == nil ||
		!strings.Contains(err.Error(), "not the name") {
		t.Errorf("by another name: %v", err)
	}
	if err := run("erase", a.ID, "--name", "Acme", "--bucket", "media", "--user-pool", "none"); err != nil {
		t.Error(err)
	}
}

func TestReleasesNeedTheNameOfTheStacks(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-central-1")
	for stack, want := range map[string]string{"acme-prod-eu-central-1": "acme-prod-",
		"a-b-prod-eu-central-1": "a-b-prod-"} {
		if _, prefix, err := openReleases(t.Context(), stack); err != nil || prefix != want {
			t.Errorf("%s: %q, %v", stack, prefix, err)
		}
	}
	if _, _, err := openReleases(t.Context(), "acme-prod-us-east-1"); err == nil ||
		!strings.Contains(err.Error(), "STACK_NAME: <customer>-<stage>-eu-central-1") {
		t.Errorf("stacks of another region: %v", err)
	}
	for says, args := range map[string][]string{
		"name a function, or give --all": {"rollback"}, "without --version": {"rollback", "--all", "--version", "3"},
		"--keep is 2 or more": {"prune", "--keep", "1"},
	} {
		cmd := releaseCommand(&bytes.Buffer{}, func(context.Context, string) (*release.Releaser,
			string, error) {
			return nil, "", nil
		})
		cmd.SetArgs(args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
