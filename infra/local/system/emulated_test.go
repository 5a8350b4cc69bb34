package system

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/content-automation/api/infra/app/orchestrator"
	"github.com/content-automation/api/infra/operate/recovery"
	"github.com/content-automation/api/infra/operate/release"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/store"
)

// emulated starts a local AWS without any stack, whose state machines wait a hundredth of the time.
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
		"MINISTACK_REGION": "eu-central-1", "SFN_WAIT_SCALE": "0.01", "IOT_MTLS_ENABLED": "0", "SFTP_ENABLED": "0",
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

// operators are the operators' account on the local AWS.
type operators struct {
	t      *testing.T
	cfg    aws.Config
	files  *s3.Client
	bucket string
	runs   int
}

func (o *operators) put(key string, content any) {
	o.t.Helper()
	text, err := json.Marshal(content)
	if err == nil {
		_, err = o.files.PutObject(o.t.Context(), &s3.PutObjectInput{Bucket: &o.bucket, Key: &key,
			Body: strings.NewReader(string(text))})
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// cellTemplate is the template of a stack with a parameter of Systems Manager that has the version. That of work needs
// what the stack data of the same cell exports with a version.
func cellTemplate(cell, part, version string) map[string]any {
	var value any = version
	if part == "work" {
		value = map[string]any{"Fn::ImportValue": cell + "-" + version}
	}
	return map[string]any{"Resources": map[string]any{"P": map[string]any{"Type": "AWS::SSM::Parameter",
		"Properties": map[string]any{"Name": "/" + cell + "/" + part, "Type": "String", "Value": value}}},
		"Outputs": map[string]any{"Version": map[string]any{"Value": version,
			"Export": map[string]any{"Name": map[string]string{"data": cell + "-" + version}[part] +
				map[string]string{"work": cell + "-work"}[part]}}}}
}

// release releases a version to cells, and returns the status and the cause of the execution.
func (o *operators) release(version, kind string, cells []string, broken string) (sfntypes.ExecutionStatus, string) {
	o.t.Helper()
	var list []orchestrator.Cell
	for _, name := range cells {
		c := orchestrator.Cell{Cell: name, Role: "arn:aws:iam::000000000000:role/deploy",
			Executor: "arn:aws:iam::000000000000:role/exec", Version: version}
		for i, part := range []string{"data", "work"} {
			key := name + "-" + part + "-" + version + ".json"
			body := cellTemplate(name, part, version)
			if part == broken {
				body = map[string]any{"Resources": map[string]any{"P": map[string]any{"Type": "AWS::SSM::Parameter",
					"Properties": map[string]any{"Value": map[string]any{"Ref": "Nothing"}}}}}
			}
			o.put(key, body)
			c.Stacks = append(c.Stacks, orchestrator.Stack{Name: name + "-" + part, Type: kind, First: i == 0,
				Template: *o.cfg.BaseEndpoint + "/" + o.bucket + "/" + key,
				Tags:     []orchestrator.Tag{{Key: "customer", Value: name}}})
		}
		list = append(list, c)
	}
	key := "waves/" + version + ".json"
	o.put(key, list)
	in, err := json.Marshal(orchestrator.Input{Bucket: o.bucket, Key: key})
	if err != nil {
		o.t.Fatal(err)
	}
	client := sfn.NewFromConfig(o.cfg)
	o.runs++
	begun, err := client.StartExecution(o.t.Context(), &sfn.StartExecutionInput{Input: aws.String(string(in)),
		StateMachineArn: aws.String("arn:aws:states:eu-central-1:000000000000:stateMachine:waves"),
		Name:            aws.String(fmt.Sprint("run-", o.runs))})
	if err != nil {
		o.t.Fatal(err)
	}
	for {
		is, err := client.DescribeExecution(o.t.Context(),
			&sfn.DescribeExecutionInput{ExecutionArn: begun.ExecutionArn})
		if err != nil {
			o.t.Fatal(err)
		}
		if is.Status != sfntypes.ExecutionStatusRunning {
			return is.Status, aws.ToString(is.Error) + " " + aws.ToString(is.Cause)
		}
		if err := release.Wait(o.t.Context(), 50*time.Millisecond); err != nil {
			o.t.Fatal(err)
		}
	}
}

// versions returns the versions of the stacks.
func (o *operators) versions(stacks ...string) (all []string) {
	o.t.Helper()
	for _, name := range stacks {
		out, err := cloudformation.NewFromConfig(o.cfg).DescribeStacks(o.t.Context(),
			&cloudformation.DescribeStacksInput{StackName: &name})
		if err != nil || len(out.Stacks) != 1 || len(out.Stacks[0].Outputs) == 0 {
			all = append(all, "none")
			continue
		}
		all = append(all, aws.ToString(out.Stacks[0].Outputs[0].OutputValue))
	}
	return all
}

// TestTheOrchestratorDeploysAWave runs the definition of the state machine on the local AWS.
func TestTheOrchestratorDeploysAWave(t *testing.T) {
	cfg := emulated(t)
	o := &operators{t: t, cfg: cfg, bucket: "releases",
		files: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })}
	in := &s3types.CreateBucketConfiguration{LocationConstraint: "eu-central-1"}
	if _, err := o.files.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &o.bucket,
		CreateBucketConfiguration: in}); err != nil {
		t.Fatal(err)
	}
	table := dynamodb.NewFromConfig(cfg)
	if _, err := table.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: aws.String("cells"),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("cell"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("cell"), AttributeType: "S"}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := sfn.NewFromConfig(cfg).CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("waves"), Definition: aws.String(orchestrator.Text("cells")),
		RoleArn: aws.String("arn:aws:iam::000000000000:role/waves")}); err != nil {
		t.Fatal(err)
	}
	cells := []string{"acme", "globex", "hooli"}
	stacks := []string{"acme-data", "acme-work", "globex-data", "globex-work", "hooli-data", "hooli-work"}
	for _, step := range []struct {
		version, kind, broken, want string
		ends                        sfntypes.ExecutionStatus
	}{
		// The change sets of the stacks work are refused at first: what they import is not there yet.
		{"v1", "CREATE", "", "v1 v1 v1 v1 v1 v1", sfntypes.ExecutionStatusSucceeded},
		{"v1", "UPDATE", "", "v1 v1 v1 v1 v1 v1", sfntypes.ExecutionStatusSucceeded}, // nothing changes
		{"v2", "UPDATE", "data", "v1 v1 v1 v1 v1 v1", sfntypes.ExecutionStatusFailed},
	} {
		status, cause := o.release(step.version, step.kind, cells, step.broken)
		if got := strings.Join(o.versions(stacks...), " "); status != step.ends || got != step.want {
			t.Errorf("%s: %s %s, the stacks run %s", step.version, status, cause, got)
		}
	}
	for _, name := range cells {
		out, err := table.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("cells"),
			Key: map[string]types.AttributeValue{"cell": &types.AttributeValueMemberS{Value: name}}})
		if deployed, _ := out.Item["deployed"].(*types.AttributeValueMemberS); err != nil || deployed == nil ||
			deployed.Value != "v1" {
			t.Errorf("the table has %v for %s, %v", out.Item, name, err)
		}
	}
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
