package main

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

var (
	_ stacks = (*double)(nil)
	_ tables = (*double)(nil)
)

// double is a CloudFormation with changes in its stacks, and a DynamoDB.
type double struct {
	states      map[string]types.StackStatus
	policies    map[string]string
	protected   []string
	unprotected []string
	missing     string // a stack that was destroyed earlier
	asked       int
	changed     map[string][]types.StackResourceDrift
	fails       bool
}

func (d *double) DescribeStacks(_ context.Context, in *cloudformation.DescribeStacksInput,
	_ ...func(*cloudformation.Options)) (*cloudformation.DescribeStacksOutput, error) {
	status, ok := d.states[*in.StackName]
	if !ok {
		return nil, &smithy.GenericAPIError{Code: "ValidationError", Message: "Stack with id " + *in.StackName +
			" does not exist"}
	}
	return &cloudformation.DescribeStacksOutput{Stacks: []types.Stack{{StackStatus: status, Outputs: []types.Output{
		{OutputKey: aws.String("TableName"), OutputValue: aws.String("state")},
		{OutputKey: aws.String("AuditTableName"), OutputValue: aws.String("audit")},
	}}}}, nil
}

func (d *double) DescribeTable(_ context.Context, in *dynamodb.DescribeTableInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return &dynamodb.DescribeTableOutput{Table: &dynamodbtypes.TableDescription{DeletionProtectionEnabled: aws.Bool(
		slices.Contains(d.protected, *in.TableName))}}, nil
}

func (d *double) UpdateTable(_ context.Context, in *dynamodb.UpdateTableInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.UpdateTableOutput, error) {
	if aws.ToBool(in.DeletionProtectionEnabled) {
		d.protected = append(d.protected, *in.TableName)
	}
	return nil, nil
}

func (d *double) SetStackPolicy(_ context.Context, in *cloudformation.SetStackPolicyInput,
	_ ...func(*cloudformation.Options)) (*cloudformation.SetStackPolicyOutput, error) {
	d.policies = map[string]string{*in.StackName: *in.StackPolicyBody}
	return nil, nil
}

func (d *double) UpdateTerminationProtection(_ context.Context, in *cloudformation.UpdateTerminationProtectionInput,
	_ ...func(*cloudformation.Options)) (*cloudformation.UpdateTerminationProtectionOutput, error) {
	if *in.StackName == d.missing {
		return nil, &smithy.GenericAPIError{Code: "ValidationError", Message: "Stack [" + d.missing +
			"] does not exist"}
	}
	if *in.EnableTerminationProtection {
		d.protected = append(d.protected, *in.StackName)
	} else {
		d.unprotected = append(d.unprotected, *in.StackName)
	}
	return nil, nil
}

func (d *double) DetectStackDrift(_ context.Context, in *cloudformation.DetectStackDriftInput,
	_ ...func(*cloudformation.Options)) (*cloudformation.DetectStackDriftOutput, error) {
	d.asked = 0
	return &cloudformation.DetectStackDriftOutput{StackDriftDetectionId: in.StackName}, nil
}

func (d *double) DescribeStackDriftDetectionStatus(context.Context,
	*cloudformation.DescribeStackDriftDetectionStatusInput,
	...func(*cloudformation.Options)) (*cloudformation.DescribeStackDriftDetectionStatusOutput, error) {
	d.asked++
	state := types.StackDriftDetectionStatusDetectionInProgress
	switch {
	case d.fails:
		state = types.StackDriftDetectionStatusDetectionFailed
	case d.asked > 2:
		state = types.StackDriftDetectionStatusDetectionComplete
	}
	return &cloudformation.DescribeStackDriftDetectionStatusOutput{DetectionStatus: state,
		DetectionStatusReason: aws.String("no permission")}, nil
}

func (d *double) DescribeStackResourceDrifts(_ context.Context, in *cloudformation.DescribeStackResourceDriftsInput,
	_ ...func(*cloudformation.Options)) (*cloudformation.DescribeStackResourceDriftsOutput, error) {
	all := d.changed[*in.StackName]
	if in.NextToken == nil && len(all) > 1 { // two pages
		return &cloudformation.DescribeStackResourceDriftsOutput{StackResourceDrifts: all[:1],
			NextToken: aws.String("1")}, nil
	}
	return &cloudformation.DescribeStackResourceDriftsOutput{StackResourceDrifts: all[max(0, len(all)-1):]}, nil
}

func acme(t *testing.T) order {
	t.Helper()
	o, err := read([]string{"-customer", "acme"})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// No update replaces a table, a bucket, a key or a secret, whatever the new code defines.
func TestThePolicyOfTheData(t *testing.T) {
	d := &double{states: map[string]types.StackStatus{"acme-prod-eu-central-1-data": types.StackStatusCreateComplete}}
	if err := protect(t.Context(), acme(t), d, d); err != nil {
		t.Fatal(err)
	}
	var policy struct {
		Statement []struct {
			Effect    string
			Action    any
			Condition struct {
				StringEquals struct{ ResourceType []string }
			}
		}
	}
	if err := json.Unmarshal([]byte(d.policies["acme-prod-eu-central-1-data"]), &policy); err != nil {
		t.Fatalf("%v: %v", d.policies, err)
	}
	for _, s := range policy.Statement {
		if s.Effect != "Deny" {
			continue
		}
		for _, kind := range []string{"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key",
			"AWS::SecretsManager::Secret"} {
			if !slices.Contains(s.Condition.StringEquals.ResourceType, kind) {
				t.Errorf("%s may be replaced", kind)
			}
		}
		if actions, _ := json.Marshal(s.Action); string(actions) != `["Update:Replace","Update:Delete"]` {
			t.Errorf("it denies %s", actions)
		}
		return
	}
	t.Error("it denies nothing")
}

// Deployed stacks are protected. A stack whose first deployment failed is not, so that the next
// deployment can remove it.
func TestWhatWasDeployedIsProtected(t *testing.T) {
	const data, work, api = "acme-prod-eu-central-1-data", "acme-prod-eu-central-1-work", "acme-prod-eu-central-1-api"
	for name, c := range map[string]struct {
		states map[string]types.StackStatus
		want   []string
	}{
		"all are new": {map[string]types.StackStatus{data: types.StackStatusCreateComplete,
			work: types.StackStatusCreateComplete, api: types.StackStatusCreateComplete},
			[]string{"state", "audit", data, work, api}},
		"an update has failed": {map[string]types.StackStatus{data: types.StackStatusUpdateComplete,
			work: types.StackStatusUpdateRollbackComplete, api: types.StackStatusUpdateComplete},
			[]string{"state", "audit", data, work, api}},
		"the second has failed at first": {map[string]types.StackStatus{data: types.StackStatusCreateComplete,
			work: types.StackStatusRollbackComplete}, []string{"state", "audit", data}},
		"the first has failed":          {map[string]types.StackStatus{data: types.StackStatusRollbackFailed}, nil},
		"a change set was not executed": {map[string]types.StackStatus{data: types.StackStatusReviewInProgress}, nil},
		"nothing is there":              {nil, nil},
	} {
		d := &double{states: c.states}
		for range 2 { // The second deployment does not change the tables.
			if err := protect(t.Context(), acme(t), d, d); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		slices.Sort(c.want)
		got := slices.Sorted(slices.Values(d.protected))
		if !slices.Equal(slices.Compact(slices.Clone(got)), c.want) ||
			slices.Contains(c.want, data) != (len(d.policies) == 1) {
			t.Errorf("%s: %v is protected, want %v; policies %v", name, got, c.want, d.policies)
		}
		tables := slices.DeleteFunc(got, func(name string) bool { return strings.HasPrefix(name, "acme") })
		if len(tables) > 2 {
			t.Errorf("%s: the tables were changed again: %v", name, tables)
		}
	}
}

func TestDriftNamesWhatWasChanged(t *testing.T) {
	waits := 0
	wait := func(time.Duration) { waits++ }
	d := &double{}
	var out strings.Builder
	if err := drift(t.Context(), acme(t), d, wait, &out); err != nil ||
		!strings.Contains(out.String(), "acme-prod-eu-central-1-api: 0 changed") || waits == 0 {
		t.Errorf("without changes: %v, %d waits\n%s", err, waits, out.String())
	}
	d.changed = map[string][]types.StackResourceDrift{"acme-prod-eu-central-1-work": {
		{LogicalResourceId: aws.String("DeliverFunction"), ResourceType: aws.String("AWS::Lambda::Function"),
			StackResourceDriftStatus: types.StackResourceDriftStatusModified,
			PropertyDifferences: []types.PropertyDifference{{PropertyPath: aws.String("/Timeout"),
				ActualValue: aws.String("60"), ExpectedValue: aws.String("20")}}},
		{LogicalResourceId: aws.String("DeliverQueue"), ResourceType: aws.String("AWS::SQS::Queue"),
			StackResourceDriftStatus: types.StackResourceDriftStatusDeleted},
	}}
	out.Reset()
	err := drift(t.Context(), acme(t), d, wait, &out)
	if err == nil || !strings.Contains(err.Error(), "2 resources differ") {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"MODIFIED AWS::Lambda::Function DeliverFunction", "/Timeout is 60, not 20",
		"DELETED AWS::SQS::Queue DeliverQueue"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
	if err := drift(t.Context(), acme(t), &double{fails: true}, wait, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "no permission") {
		t.Errorf("where AWS cannot compare: %v", err)
	}
}

func TestProtectionEndsStackByStack(t *testing.T) {
	d := &double{}
	if err := unprotect(t.Context(), d,
		[]string{"acme-prod-eu-central-1-api", "acme-prod-eu-central-1-work"}); err != nil || len(d.unprotected) != 2 {
		t.Errorf("%v, %v", d.unprotected, err)
	}
	d = &double{missing: "acme-prod-eu-central-1-api"}
	if err := unprotect(t.Context(), d, []string{d.missing, "acme-prod-eu-central-1-data"}); err != nil ||
		!slices.Equal(d.unprotected, []string{"acme-prod-eu-central-1-data"}) {
		t.Errorf("with a stack that was destroyed before: %v, %v", d.unprotected, err)
	}
}
