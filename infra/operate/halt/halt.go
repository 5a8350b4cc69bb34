// Package halt stops the functions of a deployment and starts them again. It stops the event
// source mappings and schedules that call the background work, and if needed all functions.
// Before it stops a part, it records the part's state in a tag. Start restores exactly that
// state, and both can be repeated after an interruption.
package halt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// Mark is the tag of stopped parts. Its value is the state before the stop.
const Mark = "content-automation:stopped"

// Lambda is the part of AWS Lambda that the package uses.
type Lambda interface {
	ListEventSourceMappings(context.Context, *lambda.ListEventSourceMappingsInput,
		...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error)
	GetEventSourceMapping(context.Context, *lambda.GetEventSourceMappingInput,
		...func(*lambda.Options)) (*lambda.GetEventSourceMappingOutput, error)
	UpdateEventSourceMapping(context.Context, *lambda.UpdateEventSourceMappingInput,
		...func(*lambda.Options)) (*lambda.UpdateEventSourceMappingOutput, error)
	ListTags(context.Context, *lambda.ListTagsInput, ...func(*lambda.Options)) (*lambda.ListTagsOutput, error)
	TagResource(context.Context, *lambda.TagResourceInput, ...func(*lambda.Options)) (*lambda.TagResourceOutput, error)
	UntagResource(context.Context, *lambda.UntagResourceInput,
		...func(*lambda.Options)) (*lambda.UntagResourceOutput, error)
	GetFunction(context.Context, *lambda.GetFunctionInput, ...func(*lambda.Options)) (*lambda.GetFunctionOutput, error)
	PutFunctionConcurrency(context.Context, *lambda.PutFunctionConcurrencyInput,
		...func(*lambda.Options)) (*lambda.PutFunctionConcurrencyOutput, error)
	DeleteFunctionConcurrency(context.Context, *lambda.DeleteFunctionConcurrencyInput,
		...func(*lambda.Options)) (*lambda.DeleteFunctionConcurrencyOutput, error)
	GetProvisionedConcurrencyConfig(context.Context, *lambda.GetProvisionedConcurrencyConfigInput,
		...func(*lambda.Options)) (*lambda.GetProvisionedConcurrencyConfigOutput, error)
	PutProvisionedConcurrencyConfig(context.Context, *lambda.PutProvisionedConcurrencyConfigInput,
		...func(*lambda.Options)) (*lambda.PutProvisionedConcurrencyConfigOutput, error)
	DeleteProvisionedConcurrencyConfig(context.Context, *lambda.DeleteProvisionedConcurrencyConfigInput,
		...func(*lambda.Options)) (*lambda.DeleteProvisionedConcurrencyConfigOutput, error)
}

// Rules is the part of Amazon EventBridge that the package uses.
type Rules interface {
	ListRuleNamesByTarget(context.Context, *eventbridge.ListRuleNamesByTargetInput,
		...func(*eventbridge.Options)) (*eventbridge.ListRuleNamesByTargetOutput, error)
	DescribeRule(context.Context, *eventbridge.DescribeRuleInput,
		...func(*eventbridge.Options)) (*eventbridge.DescribeRuleOutput, error)
	ListTagsForResource(context.Context, *eventbridge.ListTagsForResourceInput,
		...func(*eventbridge.Options)) (*eventbridge.ListTagsForResourceOutput, error)
	TagResource(context.Context, *eventbridge.TagResourceInput,
		...func(*eventbridge.Options)) (*eventbridge.TagResourceOutput, error)
	UntagResource(context.Context, *eventbridge.UntagResourceInput,
		...func(*eventbridge.Options)) (*eventbridge.UntagResourceOutput, error)
	DisableRule(context.Context, *eventbridge.DisableRuleInput,
		...func(*eventbridge.Options)) (*eventbridge.DisableRuleOutput, error)
	EnableRule(context.Context, *eventbridge.EnableRuleInput,
		...func(*eventbridge.Options)) (*eventbridge.EnableRuleOutput, error)
}

// Deployment has the functions of one customer's stage in one region.
type Deployment struct {
	Lambda Lambda
	Rules  Rules
	// Prefix is the prefix of the functions' names, such as acme-prod-.
	Prefix string
	// Functions are the names of the functions without the prefix. Scheduled are the names of
	// those that a schedule calls.
	Functions, Scheduled []string
	// Wait waits, or returns the error of the context.
	Wait func(ctx context.Context, d time.Duration) error
	// Report is called with each part and its new state.
	Report func(part, became string)
}

// part is a part of a deployment that can be stopped.
type part struct {
	name string
	// mark returns the state of the part before it was stopped, or an empty string if it
	// was not.
	mark func(context.Context) (string, error)
	// now returns the state of the part, to be its mark, or an empty string if it is
	// stopped.
	state     func(context.Context) (string, error)
	setMark   func(ctx context.Context, was string) error
	clearMark func(context.Context) error
	stop      func(context.Context) error
	// start restores the state in the mark.
	start func(ctx context.Context, was string) error
}

// Stop disables the event source mappings and the schedules of the deployment, and waits until
// Lambda stops polling. With all, nothing can call a function afterwards; runs that have begun
// still end normally. Stop continues after an error, and returns all errors.
func (d *Deployment) Stop(ctx context.Context, all bool) error {
	mappings, err := d.mappings(ctx)
	if err != nil {
		return err
	}
	if len(mappings) == 0 {
		return d.nothing()
	}
	schedules, err := d.schedules(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, p := range append(mappings, schedules...) {
		failed = append(failed, d.stop(ctx, p))
	}
	// A stopped function fails the messages that it receives, which brings them closer to
	// the dead-letter queue. The mappings must therefore stop first.
	for _, p := range mappings {
		failed = append(failed, d.settled(ctx, p))
	}
	if all {
		for _, name := range d.Functions {
			failed = append(failed, d.stop(ctx, d.function(name)))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("not all is stopped; repeat the command: %w", err)
	}
	return nil
}

// Start restores all parts that Stop has stopped.
func (d *Deployment) Start(ctx context.Context) error {
	var failed []error
	for _, name := range d.Functions {
		failed = append(failed, d.start(ctx, d.function(name)))
	}
	mappings, err := d.mappings(ctx)
	if err == nil && len(mappings) == 0 {
		return errors.Join(append(failed, d.nothing())...)
	}
	schedules, err2 := d.schedules(ctx)
	failed = append(failed, err, err2)
	for _, p := range append(mappings, schedules...) {
		failed = append(failed, d.start(ctx, p))
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("not all is started; repeat the command: %w", err)
	}
	return nil
}

func (d *Deployment) nothing() error {
	return fmt.Errorf("no event source calls a function whose name begins with %s: check the stacks, the region and "+
		"the credentials", d.Prefix)
}

func (d *Deployment) stop(ctx context.Context, p part) error {
	was, err := p.mark(ctx)
	if err == nil && was == "" {
		if was, err = p.state(ctx); err == nil && (was == "" || was == stopping) {
			d.Report(p.name, "was stopped before, by something else: start leaves it so")
			return nil
		}
		if err == nil {
			err = p.setMark(ctx, was)
		}
	}
	if err == nil {
		err = p.stop(ctx)
	}
	if errors.Is(err, errMissing) {
		d.Report(p.name, err.Error())
		return nil
	}
	if err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	d.Report(p.name, "stopped, was "+was)
	return nil
}

func (d *Deployment) start(ctx context.Context, p part) error {
	was, err := p.mark(ctx)
	if err == nil && was == "" || errors.Is(err, errMissing) {
		return nil
	}
	if err == nil {
		err = p.start(ctx, was)
	}
	if err == nil {
		err = p.clearMark(ctx)
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	d.Report(p.name, "is "+was+" again")
	return nil
}

const (
	enabled = "enabled"
	// stopping is a mapping that has just been disabled.
	stopping = "stopping"
	// pollEvery and mostPolls bound the wait for a change of a mapping.
	pollEvery = 5 * time.Second
	mostPolls = 60
)

// settled waits until a mapping delivers no more messages.
func (d *Deployment) settled(ctx context.Context, p part) error {
	for range mostPolls {
		now, err := p.state(ctx)
		if err != nil || now == "" {
			return err
		}
		if err := d.Wait(ctx, pollEvery); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s was told to stop, and still runs", p.name)
}

// patiently repeats a change that AWS refuses while an earlier change is in progress.
func (d *Deployment) patiently(ctx context.Context, change func() error) error {
	for n := 0; ; n++ {
		err := change()
		var busy *lambdatypes.ResourceInUseException
		var conflict *lambdatypes.ResourceConflictException
		if !errors.As(err, &busy) && !errors.As(err, &conflict) || n == mostPolls {
			return err
		}
		if err := d.Wait(ctx, pollEvery); err != nil {
			return err
		}
	}
}

// owns reports whether the ARN, with an alias or without, is a function of the deployment.
func (d *Deployment) owns(arn string) bool {
	fields := strings.Split(arn, ":")
	return len(fields) >= 7 && slices.ContainsFunc(d.Functions, func(name string) bool {
		return fields[6] == d.Prefix+name
	})
}

// mark returns the value of the tag, or "" if there is none.
func (d *Deployment) mark(ctx context.Context, arn string) (string, error) {
	out, err := d.Lambda.ListTags(ctx, &lambda.ListTagsInput{Resource: &arn})
	if err != nil {
		return "", err
	}
	return out.Tags[Mark], nil
}

func (d *Deployment) setMark(ctx context.Context, arn, was string) error {
	_, err := d.Lambda.TagResource(ctx, &lambda.TagResourceInput{Resource: &arn, Tags: map[string]string{Mark: was}})
	return err
}

func (d *Deployment) clearMark(ctx context.Context, arn string) error {
	_, err := d.Lambda.UntagResource(ctx, &lambda.UntagResourceInput{Resource: &arn, TagKeys: []string{Mark}})
	return err
}

// mappings finds the event source mappings of the functions.
func (d *Deployment) mappings(ctx context.Context) (all []part, err error) {
	in := &lambda.ListEventSourceMappingsInput{}
	for {
		page, err := d.Lambda.ListEventSourceMappings(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("list the event source mappings: %w", err)
		}
		for _, m := range page.EventSourceMappings {
			if d.owns(aws.ToString(m.FunctionArn)) {
				all = append(all, d.mapping(m))
			}
		}
		if in.Marker = page.NextMarker; aws.ToString(in.Marker) == "" {
			return all, nil
		}
	}
}

func (d *Deployment) mapping(m lambdatypes.EventSourceMappingConfiguration) part {
	source, arn := aws.ToString(m.EventSourceArn), aws.ToString(m.EventSourceMappingArn)
	set := func(ctx context.Context, to bool) error {
		return d.patiently(ctx, func() error {
			_, err := d.Lambda.UpdateEventSourceMapping(ctx, &lambda.UpdateEventSourceMappingInput{UUID: m.UUID,
				Enabled: &to})
			return err
		})
	}
	return part{
		name: "mapping " + strings.Split(aws.ToString(m.FunctionArn), ":")[6] +
			" of " + source[strings.LastIndex(source, ":")+1:],
		mark: func(ctx context.Context) (string, error) { return d.mark(ctx, arn) },
		state: func(ctx context.Context) (string, error) {
			out, err := d.Lambda.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: m.UUID})
			if err != nil {
				return "", err
			}
			switch aws.ToString(out.State) {
			case "Disabled":
				return "", nil
			case "Disabling":
				return stopping, nil
			}
			return enabled, nil
		},
		setMark:   func(ctx context.Context, was string) error { return d.setMark(ctx, arn, was) },
		clearMark: func(ctx context.Context) error { return d.clearMark(ctx, arn) },
		stop:      func(ctx context.Context) error { return set(ctx, false) },
		start:     func(ctx context.Context, _ string) error { return set(ctx, true) },
	}
}
