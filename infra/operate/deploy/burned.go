package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/content-automation/api/infra/app/customer"
)

// stops reports whether an alarm of a stack stops a wave. CloudFormation has the name that the stack gives it, and the
// CDK has added eight digits to that.
func stops(kind, logical string) bool {
	if kind == "AWS::CloudWatch::CompositeAlarm" {
		return true // of the budget of errors
	}
	name := logical[:max(0, len(logical)-len("12345678"))]
	return kind == "AWS::CloudWatch::Alarm" &&
		slices.ContainsFunc(customer.StoppingAlarms, func(end string) bool { return strings.HasSuffix(name, end) })
}

// burned returns the raised alarms of a stack that stop a wave.
func burned(ctx context.Context, stacks resources, alarms budgets, stack string) (raised []string, err error) {
	names, err := alarmsOf(ctx, stacks, stack)
	if err != nil {
		return nil, err
	}
	known := 0
	note := func(name *string, state cloudwatchtypes.StateValue) {
		known++
		if state == cloudwatchtypes.StateValueAlarm {
			raised = append(raised, names[aws.ToString(name)])
		}
	}
	physical := make([]string, 0, len(names))
	for name := range names {
		physical = append(physical, name)
	}
	slices.Sort(physical)
	// CloudWatch takes a hundred names, and returns as many alarms of both kinds.
	for some := range slices.Chunk(physical, 100) {
		out, err := alarms.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: some,
			MaxRecords: aws.Int32(100), AlarmTypes: []cloudwatchtypes.AlarmType{cloudwatchtypes.AlarmTypeCompositeAlarm,
				cloudwatchtypes.AlarmTypeMetricAlarm}})
		if err != nil {
			return nil, fmt.Errorf("read the alarms of %s: %w", stack, err)
		}
		for _, a := range out.CompositeAlarms {
			note(a.AlarmName, a.StateValue)
		}
		for _, a := range out.MetricAlarms {
			note(a.AlarmName, a.StateValue)
		}
	}
	if known != len(names) {
		return nil, fmt.Errorf("the stack %s has %d alarms that stop a wave, and CloudWatch knows %d", stack,
			len(names), known)
	}
	return raised, nil
}

// alarmsOf returns the logical ids of the alarms of a stack that stop a wave, by their names in CloudWatch.
func alarmsOf(ctx context.Context, stacks resources, stack string) (map[string]string, error) {
	names := map[string]string{}
	in := &cloudformation.ListStackResourcesInput{StackName: &stack}
	for {
		page, err := stacks.ListStackResources(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("list the alarms of %s: %w", stack, err)
		}
		for _, r := range page.StackResourceSummaries {
			if logical := aws.ToString(r.LogicalResourceId); stops(aws.ToString(r.ResourceType), logical) {
				names[aws.ToString(r.PhysicalResourceId)] = logical
			}
		}
		if in.NextToken = page.NextToken; aws.ToString(in.NextToken) == "" {
			break
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the stack %s has no alarm that stops a wave: deploy it by `make deploy` first", stack)
	}
	return names, nil
}
