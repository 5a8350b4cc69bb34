package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/content-automation/api/infra/operate/halt"
)

// oneMapping is an account with a single mapping.
type oneMapping struct {
	halt.Lambda
	state string
	tags  map[string]string
}

func (m *oneMapping) ListEventSourceMappings(context.Context, *lambda.ListEventSourceMappingsInput,
	...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: []types.EventSourceMappingConfiguration{{
		UUID: aws.String("1"), FunctionArn: aws.String(
			"arn:aws:lambda:eu-central-1:111122223333:function:acme-prod-relay:live"),
		EventSourceArn: aws.String("arn:aws:sqs:eu-central-1:1:relay"),
	}}}, nil
}

func (m *oneMapping) GetEventSourceMapping(context.Context, *lambda.GetEventSourceMappingInput,
	...func(*lambda.Options)) (*lambda.GetEventSourceMappingOutput, error) {
	return &lambda.GetEventSourceMappingOutput{State: &m.state}, nil
}

func (m *oneMapping) UpdateEventSourceMapping(_ context.Context, in *lambda.UpdateEventSourceMappingInput,
	_ ...func(*lambda.Options)) (*lambda.UpdateEventSourceMappingOutput, error) {
	m.state = map[bool]string{true: "Enabled", false: "Disabled"}[*in.Enabled]
	return &lambda.UpdateEventSourceMappingOutput{}, nil
}

func (m *oneMapping) ListTags(context.Context, *lambda.ListTagsInput,
	...func(*lambda.Options)) (*lambda.ListTagsOutput, error) {
	return &lambda.ListTagsOutput{Tags: m.tags}, nil
}

func (m *oneMapping) TagResource(_ context.Context, in *lambda.TagResourceInput,
	_ ...func(*lambda.Options)) (*lambda.TagResourceOutput, error) {
	m.tags = in.Tags
	return &lambda.TagResourceOutput{}, nil
}

func (m *oneMapping) UntagResource(context.Context, *lambda.UntagResourceInput,
	...func(*lambda.Options)) (*lambda.UntagResourceOutput, error) {
	m.tags = nil
	return &lambda.UntagResourceOutput{}, nil
}

func (m *oneMapping) GetFunction(context.Context, *lambda.GetFunctionInput,
	...func(*lambda.Options)) (*lambda.GetFunctionOutput, error) {
	return nil, &types.ResourceNotFoundException{}
}

func TestTheWorkOfADeploymentIsStoppedAndStarted(t *testing.T) {
	m := &oneMapping{state: "Enabled"}
	run := func(name string) string {
		var out strings.Builder
		for _, cmd := range haltCommands(&out, func(_ context.Context, stack string) (*halt.Deployment, error) {
			if stack != "acme-prod-eu-central-1" {
				t.Errorf("the stacks %q are stopped", stack)
			}
			return &halt.Deployment{Lambda: m, Prefix: "acme-prod-", Functions: []string{"relay"},
				Wait: func(context.Context, time.Duration) error { return nil }}, nil
		}) {
			if cmd.Name() != name {
				continue
			}
			cmd.SetArgs([]string{"--stack", "acme-prod-eu-central-1"})
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	if out := run("stop"); m.state != "Disabled" || out != "mapping acme-prod-relay of relay: stopped, was enabled\n" {
		t.Errorf("%s: %s", m.state, out)
	}
	if out := run("start"); m.state != "Enabled" || m.tags != nil ||
		out != "mapping acme-prod-relay of relay: is enabled again\n" {
		t.Errorf("%s %v: %s", m.state, m.tags, out)
	}
}

func TestStopNeedsTheNameOfTheStacks(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-central-1")
	o := newOperator(t)
	for _, command := range []string{"stop", "start"} {
		for _, stack := range []string{"", "acme-prod", "acme-prod-us-east-1"} {
			if _, err := o.try(command, "--stack", stack); err == nil ||
				!strings.Contains(err.Error(), "<customer>-<stage>-eu-central-1") {
				t.Errorf("%s of %q: %v", command, stack, err)
			}
		}
	}
}
