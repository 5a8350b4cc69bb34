package operate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/content-automation/api/infra/operate/halt"
)

const arnOf = "arn:aws:lambda:eu-central-1:111122223333:function:"

// cloud is an account with functions, mappings and rules.
type cloud struct {
	// The state: reserved concurrency by function (-1 for none), provisioned instances by function,
	// states of mappings by "function queue", and of rules by "rule function".
	reserved, provisioned map[string]int32
	mappings, rules       map[string]string
	tags                  map[string]map[string]string
	// calls counts the changes. All changes from the number fails on fail, as if the process had
	// died. 0 means that none fails.
	calls, fails int
	// order are the changes, by their kinds.
	order []string
	// lazy is the number of reads until a mapping is disabled.
	lazy map[string]int
}

var errDead = errors.New("the process was killed")

func newCloud() *cloud {
	return &cloud{
		reserved: map[string]int32{"acme-prod-authorizer": 200, "acme-prod-content": -1, "acme-prod-generate": -1,
			"acme-prod-due": -1, "acme-prod-relay": 0, "other-prod-generate": 7},
		provisioned: map[string]int32{"acme-prod-authorizer": 10},
		mappings: map[string]string{
			"acme-prod-generate:live text": "Enabled", "acme-prod-generate:live video": "Enabled",
			"acme-prod-relay:live state": "Disabled", "other-prod-generate:live text": "Enabled",
		},
		rules: map[string]string{"acme-due-schedule acme-prod-due:live": "ENABLED",
			"acme-canary acme-prod-canary": "DISABLED", "other acme-prod-other:live": "ENABLED"},
		tags: map[string]map[string]string{}, lazy: map[string]int{},
	}
}

// state returns the state that start must restore.
func (c *cloud) state() string {
	return fmt.Sprint(c.reserved, c.provisioned, c.mappings, c.rules)
}

func (c *cloud) marks() (n int) {
	for _, tags := range c.tags {
		if tags[halt.Mark] != "" {
			n++
		}
	}
	return n
}

func (c *cloud) change(kind string) error {
	if c.calls++; c.fails > 0 && c.calls >= c.fails {
		return errDead
	}
	c.order = append(c.order, kind)
	return nil
}

// haltKey returns the key of a mapping or a rule by its UUID or name.
func haltKey(all map[string]string, id string) string {
	for k := range all {
		if strings.ReplaceAll(k, " ", "-") == id || strings.Split(k, " ")[0] == id {
			return k
		}
	}
	return ""
}

func (c *cloud) configuration(k string) types.EventSourceMappingConfiguration {
	function, queue, _ := strings.Cut(k, " ")
	id := strings.ReplaceAll(k, " ", "-")
	return types.EventSourceMappingConfiguration{
		UUID: &id, State: aws.String(c.mappings[k]), FunctionArn: aws.String(arnOf + function),
		EventSourceArn:        aws.String("arn:aws:sqs:eu-central-1:111122223333:" + queue),
		EventSourceMappingArn: aws.String("arn:aws:lambda:eu-central-1:111122223333:event-source-mapping:" + id),
	}
}

func (c *cloud) ListEventSourceMappings(_ context.Context, in *lambda.ListEventSourceMappingsInput,
	_ ...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	out := &lambda.ListEventSourceMappingsOutput{}
	all := slices.Sorted(maps.Keys(c.mappings))
	if in.Marker == nil { // two pages
		out.NextMarker, all = aws.String("2"), all[:1]
	} else {
		all = all[1:]
	}
	for _, k := range all {
		out.EventSourceMappings = append(out.EventSourceMappings, c.configuration(k))
	}
	return out, nil
}

func (c *cloud) GetEventSourceMapping(_ context.Context, in *lambda.GetEventSourceMappingInput,
	_ ...func(*lambda.Options)) (*lambda.GetEventSourceMappingOutput, error) {
	k := haltKey(c.mappings, *in.UUID)
	if c.mappings[k] == "Disabling" {
		if c.lazy[k]--; c.lazy[k] <= 0 {
			c.mappings[k] = "Disabled"
		}
	}
	return &lambda.GetEventSourceMappingOutput{State: aws.String(c.mappings[k])}, nil
}

func (c *cloud) UpdateEventSourceMapping(_ context.Context, in *lambda.UpdateEventSourceMappingInput,
	_ ...func(*lambda.Options)) (*lambda.UpdateEventSourceMappingOutput, error) {
	k := haltKey(c.mappings, *in.UUID)
	if c.mappings[k] == "Disabling" { // As AWS does while a change is in progress.
		c.lazy[k], c.mappings[k] = 0, "Disabled"
		return nil, &types.ResourceInUseException{Message: aws.String("busy")}
	}
	if err := c.change("mapping"); err != nil {
		return nil, err
	}
	if *in.Enabled {
		c.mappings[k] = "Enabled"
	} else if c.mappings[k] != "Disabled" {
		c.mappings[k], c.lazy[k] = "Disabling", 2
	}
	return &lambda.UpdateEventSourceMappingOutput{}, nil
}

func (c *cloud) tag(arn string, set map[string]string) error {
	if err := c.change("mark"); err != nil {
		return err
	}
	if c.tags[arn] == nil {
		c.tags[arn] = map[string]string{"customer": "acme"}
	}
	maps.Copy(c.tags[arn], set)
	return nil
}

func (c *cloud) untag(arn string) error {
	if err := c.change("forget"); err != nil {
		return err
	}
	delete(c.tags[arn], halt.Mark)
	return nil
}

func (c *cloud) ListTags(_ context.Context, in *lambda.ListTagsInput,
	_ ...func(*lambda.Options)) (*lambda.ListTagsOutput, error) {
	return &lambda.ListTagsOutput{Tags: c.tags[*in.Resource]}, nil
}

func (c *cloud) TagResource(_ context.Context, in *lambda.TagResourceInput,
	_ ...func(*lambda.Options)) (*lambda.TagResourceOutput, error) {
	return &lambda.TagResourceOutput{}, c.tag(*in.Resource, in.Tags)
}

func (c *cloud) UntagResource(_ context.Context, in *lambda.UntagResourceInput,
	_ ...func(*lambda.Options)) (*lambda.UntagResourceOutput, error) {
	return &lambda.UntagResourceOutput{}, c.untag(*in.Resource)
}

func (c *cloud) GetFunction(_ context.Context, in *lambda.GetFunctionInput,
	_ ...func(*lambda.Options)) (*lambda.GetFunctionOutput, error) {
	n, ok := c.reserved[*in.FunctionName]
	if !ok {
		return nil, &types.ResourceNotFoundException{Message: aws.String("no such function")}
	}
	out := &lambda.GetFunctionOutput{Configuration: &types.FunctionConfiguration{FunctionArn: aws.String(arnOf +
		*in.FunctionName)}}
	if n >= 0 {
		out.Concurrency = &types.Concurrency{ReservedConcurrentExecutions: &n}
	}
	return out, nil
}

func (c *cloud) PutFunctionConcurrency(_ context.Context, in *lambda.PutFunctionConcurrencyInput,
	_ ...func(*lambda.Options)) (*lambda.PutFunctionConcurrencyOutput, error) {
	if *in.ReservedConcurrentExecutions < c.provisioned[*in.FunctionName] {
		return nil, &types.InvalidParameterValueException{Message: aws.String("fewer than are provisioned")}
	}
	if err := c.change("function"); err != nil {
		return nil, err
	}
	c.reserved[*in.FunctionName] = *in.ReservedConcurrentExecutions
	return &lambda.PutFunctionConcurrencyOutput{}, nil
}

func (c *cloud) DeleteFunctionConcurrency(_ context.Context, in *lambda.DeleteFunctionConcurrencyInput,
	_ ...func(*lambda.Options)) (*lambda.DeleteFunctionConcurrencyOutput, error) {
	if err := c.change("function"); err != nil {
		return nil, err
	}
	c.reserved[*in.FunctionName] = -1
	return &lambda.DeleteFunctionConcurrencyOutput{}, nil
}

func (c *cloud) GetProvisionedConcurrencyConfig(_ context.Context, in *lambda.GetProvisionedConcurrencyConfigInput,
	_ ...func(*lambda.Options)) (*lambda.GetProvisionedConcurrencyConfigOutput, error) {
	n, ok := c.provisioned[*in.FunctionName]
	if !ok {
		return nil, &types.ProvisionedConcurrencyConfigNotFoundException{}
	}
	return &lambda.GetProvisionedConcurrencyConfigOutput{RequestedProvisionedConcurrentExecutions: &n}, nil
}

func (c *cloud) PutProvisionedConcurrencyConfig(_ context.Context, in *lambda.PutProvisionedConcurrencyConfigInput,
	_ ...func(*lambda.Options)) (*lambda.PutProvisionedConcurrencyConfigOutput, error) {
	if err := c.change("function"); err != nil {
		return nil, err
	}
	c.provisioned[*in.FunctionName] = *in.ProvisionedConcurrentExecutions
	return &lambda.PutProvisionedConcurrencyConfigOutput{}, nil
}

func (c *cloud) DeleteProvisionedConcurrencyConfig(_ context.Context,
	in *lambda.DeleteProvisionedConcurrencyConfigInput,
	_ ...func(*lambda.Options)) (*lambda.DeleteProvisionedConcurrencyConfigOutput, error) {
	if err := c.change("function"); err != nil {
		return nil, err
	}
	delete(c.provisioned, *in.FunctionName)
	return &lambda.DeleteProvisionedConcurrencyConfigOutput{}, nil
}

// rules implements Amazon EventBridge for the same account.
type rules struct{ *cloud }

func (r rules) ListRuleNamesByTarget(_ context.Context, in *eventbridge.ListRuleNamesByTargetInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.ListRuleNamesByTargetOutput, error) {
	out := &eventbridge.ListRuleNamesByTargetOutput{}
	for k := range r.rules {
		if name, function, _ := strings.Cut(k, " "); arnOf+function == *in.TargetArn {
			out.RuleNames = append(out.RuleNames, name)
		}
	}
	return out, nil
}

func (r rules) DescribeRule(_ context.Context, in *eventbridge.DescribeRuleInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.DescribeRuleOutput, error) {
	return &eventbridge.DescribeRuleOutput{Arn: in.Name,
		State: eventtypes.RuleState(r.rules[haltKey(r.rules, *in.Name)])}, nil
}

func (r rules) ListTagsForResource(_ context.Context, in *eventbridge.ListTagsForResourceInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.ListTagsForResourceOutput, error) {
	out := &eventbridge.ListTagsForResourceOutput{}
	for name, value := range r.tags[*in.ResourceARN] {
		out.Tags = append(out.Tags, eventtypes.Tag{Key: &name, Value: &value})
	}
	return out, nil
}

func (r rules) TagResource(_ context.Context, in *eventbridge.TagResourceInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.TagResourceOutput, error) {
	return &eventbridge.TagResourceOutput{},
		r.tag(*in.ResourceARN, map[string]string{*in.Tags[0].Key: *in.Tags[0].Value})
}

func (r rules) UntagResource(_ context.Context, in *eventbridge.UntagResourceInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.UntagResourceOutput, error) {
	return &eventbridge.UntagResourceOutput{}, r.untag(*in.ResourceARN)
}

func (r rules) DisableRule(_ context.Context, in *eventbridge.DisableRuleInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.DisableRuleOutput, error) {
	if err := r.change("schedule"); err != nil {
		return nil, err
	}
	r.rules[haltKey(r.rules, *in.Name)] = "DISABLED"
	return &eventbridge.DisableRuleOutput{}, nil
}

func (r rules) EnableRule(_ context.Context, in *eventbridge.EnableRuleInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.EnableRuleOutput, error) {
	if err := r.change("schedule"); err != nil {
		return nil, err
	}
	r.rules[haltKey(r.rules, *in.Name)] = "ENABLED"
	return &eventbridge.EnableRuleOutput{}, nil
}
