package system

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/operate/recovery"
	"github.com/content-automation/api/infra/operate/release"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/store"
)

// emulated starts a local AWS without any stack.
func emulated(t *testing.T) aws.Config {
	t.Helper()
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	port, err := web.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "aws.log")
	p, err := start(dir, log, environment(map[string]string{"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": strconv.Itoa(port),
		"MINISTACK_REGION": "eu-central-1", "IOT_MTLS_ENABLED": "0", "SFTP_ENABLED": "0",
		"STATE_DIR": filepath.Join(dir, "state"), "S3_DATA_DIR": filepath.Join(dir, "s3")}), installed(root).python, "-m",
		"ministack")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(grace) })
	endpoint := "http://127.0.0.1:" + strconv.Itoa(port)
	if err := p.await(t.Context(), endpoint+"/_ministack/health", 30*time.Second); err != nil {
		text, _ := os.ReadFile(log) // which may be missing
		t.Fatalf("%v: %s", err, text)
	}
	return aws.Config{Region: "eu-central-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(awsKey, awsKey, "")}
}

// TestARestoreIsRehearsed restores the tables of the local AWS, and logs how long that takes.
func TestARestoreIsRehearsed(t *testing.T) {
	cfg := emulated(t)
	client := dynamodb.NewFromConfig(cfg)
	for name, indexes := range map[string][]store.Index{"state": store.StateIndexes, "audit": store.AuditIndexes} {
		if _, err := client.CreateTable(t.Context(), store.CreateInput(name, indexes)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
			TableName: &name, PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: aws.Bool(true)}}); err != nil {
			t.Fatal(err)
		}
	}
	accounts := account.NewService(store.Open(cfg, "state"), time.Now)
	const n = 200
	for i := range n {
		name := fmt.Sprint("Customer ", i)
		a, err := accounts.Create(t.Context(), account.Settings{Name: &name})
		if err == nil {
			_, err = accounts.TopUp(t.Context(), tenant.Account(a.ID), 100)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := recovery.Rehearsal{Tables: client, State: "state", Audit: "audit", Suffix: "-" + rand.Text(), Now: time.Now,
		Wait: func(ctx context.Context, _ time.Duration) error { return release.Wait(ctx, 50*time.Millisecond) }}
	took, err := r.Run(t.Context())
	if err != nil || took.Report.Accounts != n || took.Report.Credits != n*100 || len(took.Report.Broken) > 0 {
		t.Fatalf("%+v, %v", took, err)
	}
	t.Logf("restored in %v, checked %d items of %d accounts in %v", took.Restore, took.Report.Items, n, took.Check)
	left, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || strings.Join(left.TableNames, " ") != "audit state" {
		t.Errorf("left are %v, %v", left.TableNames, err)
	}
}
