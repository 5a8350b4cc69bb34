package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/infra/app/customer"
)

// cell is a stack of an API with its alarms.
type cell struct {
	status  types.StackStatus
	version string
	updated *time.Time
	// raised are the states of the alarms by their logical names.
	alarms map[string]cloudwatchtypes.StateValue
	err    error
	unread error
}

var created = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func (c cell) DescribeStacks(_ context.Context, in *cloudformation.DescribeStacksInput,
	_ ...func(*cloudformation.Options)) (*cloudformation.DescribeStacksOutput, error) {
	if *in.StackName != "acme-prod-eu-central-1-api" || c.err != nil {
		return nil, c.err
	}
	s := types.Stack{StackStatus: c.status, CreationTime: &created, LastUpdatedTime: c.updated}
	if c.version != "" {
		s.Outputs = []types.Output{{OutputKey: aws.String("ApiId"), OutputValue: aws.String("x")},
			{OutputKey: aws.String("Version"), OutputValue: &c.version}}
	}
	return &cloudformation.DescribeStacksOutput{Stacks: []types.Stack{s}}, nil
}

func (c cell) ListStackResources(_ context.Context, in *cloudformation.ListStackResourcesInput,
	_ ...func(*cloudformation.Options)) (*cloudformation.ListStackResourcesOutput, error) {
	if in.NextToken == nil { // two pages
		return &cloudformation.ListStackResourcesOutput{NextToken: aws.String("2"),
			StackResourceSummaries: []types.StackResourceSummary{
				{ResourceType: aws.String("AWS::CloudWatch::Alarm"), PhysicalResourceId: aws.String("other")},
			}}, nil
	}
	out := &cloudformation.ListStackResourcesOutput{}
	for name := range c.alarms {
		kind := "AWS::CloudWatch::Alarm"
		if strings.HasSuffix(name, "Burn") {
			kind = "AWS::CloudWatch::CompositeAlarm"
		}
		if strings.HasSuffix(name, "Burn") == strings.HasSuffix(*in.StackName, "-work") {
			continue
		}
		out.StackResourceSummaries = append(out.StackResourceSummaries, types.StackResourceSummary{
			ResourceType: &kind, LogicalResourceId: &name,
			PhysicalResourceId: aws.String("acme-" + name),
		})
	}
	return out, nil
}

func (c cell) DescribeAlarms(_ context.Context, in *cloudwatch.DescribeAlarmsInput,
	_ ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error) {
	if !slices.Equal(in.AlarmTypes, []cloudwatchtypes.AlarmType{"CompositeAlarm", "MetricAlarm"}) || c.unread != nil {
		return &cloudwatch.DescribeAlarmsOutput{}, c.unread // By default, CloudWatch returns no composite alarms.
	}
	out := &cloudwatch.DescribeAlarmsOutput{}
	for _, name := range in.AlarmNames {
		state := c.alarms[strings.TrimPrefix(name, "acme-")]
		if strings.HasSuffix(name, "Burn") {
			out.CompositeAlarms = append(out.CompositeAlarms, cloudwatchtypes.CompositeAlarm{AlarmName: &name,
				StateValue: state})
		} else {
			out.MetricAlarms = append(out.MetricAlarms, cloudwatchtypes.MetricAlarm{AlarmName: &name,
				StateValue: state})
		}
	}
	return out, nil
}

func TestTheStateOfStacks(t *testing.T) {
	o, err := read([]string{"-customer", "acme"})
	if err != nil {
		t.Fatal(err)
	}
	quiet := map[string]cloudwatchtypes.StateValue{"FastBurn": "OK", "SlowBurn": "INSUFFICIENT_DATA",
		"ProbesAlarm0A1B2C3D": "OK", "GenerateErrorsAlarm0A1B2C3D": "ALARM", "FalFailsAlarm0A1B2C3D": "ALARM"}
	with := func(name string) map[string]cloudwatchtypes.StateValue {
		raised := maps.Clone(quiet)
		raised[name] = "ALARM"
		return raised
	}
	later := created.Add(time.Hour)
	for name, c := range map[string]struct {
		cell    cell
		version string
		whole   bool
		burned  string
		says    string
	}{
		"deployed": {cell: cell{status: "UPDATE_COMPLETE", version: "v1", updated: &later, alarms: quiet},
			version: "v1", whole: true},
		"for the first": {cell: cell{status: "CREATE_COMPLETE", alarms: quiet}, whole: true},
		"rolled back": {cell: cell{status: "UPDATE_ROLLBACK_COMPLETE", version: "v1", alarms: quiet},
			version: "v1"},
		"under way": {cell: cell{status: "UPDATE_IN_PROGRESS", version: "v1", alarms: quiet}, version: "v1"},
		"burned": {cell: cell{status: "UPDATE_COMPLETE", version: "v1",
			alarms: with("FastBurn")}, version: "v1", whole: true, burned: "FastBurn"},
		"a failing probe": {cell: cell{status: "UPDATE_COMPLETE", version: "v1", alarms: with("ProbesAlarm0A1B2C3D")},
			version: "v1", whole: true, burned: "ProbesAlarm0A1B2C3D"},
		"lost work": {cell: cell{status: "UPDATE_COMPLETE", version: "v1",
			alarms: with("GenerateTextDeadLettersAlarm0A1B2C3D")}, version: "v1", whole: true,
			burned: "GenerateTextDeadLettersAlarm0A1B2C3D"},
		"late work": {cell: cell{status: "UPDATE_COMPLETE", version: "v1", alarms: with("PublishWaitingAlarm0A1B2C3D")},
			version: "v1", whole: true, burned: "PublishWaitingAlarm0A1B2C3D"},
		"missing": {cell: cell{err: &smithy.GenericAPIError{Code: "ValidationError",
			Message: "Stack with id x does not exist"}}},
		"not permitted": {cell: cell{err: errors.New("AccessDenied")},
			says: "read the stack acme-prod-eu-central-1-api: AccessDenied"},
		"without alarms": {cell: cell{status: "UPDATE_COMPLETE"}, says: "has no alarm that stops a wave"},
		"alarms not read": {cell: cell{status: "UPDATE_COMPLETE", alarms: quiet, unread: errors.New("Throttling")},
			says: "Throttling"},
	} {
		s, err := stateOf(t.Context(), o.Settings, c.cell, c.cell)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || s.Version != c.version || s.Whole != c.whole || strings.Join(s.Burned, " ") != c.burned {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		// A tenth of the calls went to the new version for ten minutes.
		if name == "deployed" && !s.Since.Equal(later.Add(10*time.Minute)) {
			t.Errorf("%s: since %v", name, s.Since)
		}
	}
}

func TestRefusedOrdersForAll(t *testing.T) {
	for says, args := range map[string][]string{
		"name the version":         {"deploy-all"},
		"not committed":            {"deploy-all", "-version", "abc-changed"},
		"flag provided but not":    {"diff-all", "-customer", "acme"},
		"deploy-all or diff-all":   nil,
		"diff, drift or destroy, ": {"deploy-some"},
	} {
		if err := run(t.Context(), args, strings.NewReader(""), io.Discard); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want it to say %q", args, err, says)
		}
	}
}

func TestAnOrderOfTheFleet(t *testing.T) {
	context, err := cdkContext()
	if err != nil {
		t.Fatal(err)
	}
	waves, err := customer.ReadFleet(func(key string) any { return context[key] })
	if err != nil || len(waves) != 2 || waves[0].Cells[0].Customer != "acme" {
		t.Fatalf("cdk.json: %+v, %v", waves, err)
	}
	o := orderOf(waves[0].Cells[0], "abc", "build/fleet")
	got := strings.Join(o.context, " ")
	for _, want := range []string{"-c customer=acme", "-c region=eu-central-1", "-c version=abc"} {
		if !strings.Contains(got, want) {
			t.Errorf("the CDK sees %s, without %s", got, want)
		}
	}
	if o.Version != "abc" || !o.built || o.folder != "build/fleet/acme-prod-eu-central-1" {
		t.Errorf("the version is %q, in %q, %v", o.Version, o.folder, o.built)
	}
	s := sessions{byRole: map[string]aws.CredentialsProvider{}}
	one, err := s.of(t.Context(), waves[0].Cells[0])
	again, _ := s.of(t.Context(), waves[0].Cells[0])
	if err != nil || one == nil || one != again {
		t.Errorf("the credentials of its role: %v, %v", one, err)
	}
	if none, err := s.of(t.Context(), customer.Settings{}); none != nil || err != nil {
		t.Errorf("without a role: %v, %v", none, err)
	}
}
