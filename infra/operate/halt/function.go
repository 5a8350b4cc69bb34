package halt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/content-automation/api/infra/operate/release"
)

// Capacity is the concurrency of a function, as its mark has it.
type Capacity struct {
	// reserved is nil if nothing is reserved. provisioned is 0 if no instances are kept started.
	reserved    *int32
	provisioned int32
}

// errMissing reports that a function does not exist, for example because its stacks were only
// deployed in part.
var errMissing = errors.New("it does not exist")

const anyNumber = "reserved=any"

// String returns the value of the tag. The text has only characters that a tag permits.
func (c Capacity) String() string {
	text := anyNumber
	if c.reserved != nil {
		text = fmt.Sprintf("reserved=%d", *c.reserved)
	}
	if c.provisioned > 0 {
		text += fmt.Sprintf(" provisioned=%d", c.provisioned)
	}
	return text
}

// ReadCapacity reads the value of the tag.
func ReadCapacity(text string) (c Capacity, err error) {
	reserved, provisioned, _ := strings.Cut(text, " ")
	if reserved != anyNumber {
		c.reserved = new(int32)
		if _, err := fmt.Sscanf(reserved, "reserved=%d", c.reserved); err != nil {
			return c, fmt.Errorf("the tag %s has the value %q: %w", Mark, text, err)
		}
	}
	if provisioned != "" {
		if _, err := fmt.Sscanf(provisioned, "provisioned=%d", &c.provisioned); err != nil {
			return c, fmt.Errorf("the tag %s has the value %q: %w", Mark, text, err)
		}
	}
	return c, nil
}

// function returns the part for a function. A stopped function has a reserved concurrency of 0.
func (d *Deployment) function(short string) part {
	name, alias := d.Prefix+short, release.Alias
	arn := func(ctx context.Context) (string, error) {
		out, err := d.Lambda.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: &name})
		if err != nil {
			return "", err
		}
		return aws.ToString(out.Configuration.FunctionArn), nil
	}
	withARN := func(ctx context.Context, do func(arn string) error) error {
		at, err := arn(ctx)
		if err != nil {
			return err
		}
		return do(at)
	}
	return part{
		name: "function " + name,
		mark: func(ctx context.Context) (was string, err error) {
			err = withARN(ctx, func(arn string) error { was, err = d.mark(ctx, arn); return err })
			if missing(err) {
				return "", errMissing
			}
			return was, err
		},
		state: func(ctx context.Context) (string, error) {
			out, err := d.Lambda.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: &name})
			if err != nil {
				return "", err
			}
			var c Capacity
			if out.Concurrency != nil {
				c.reserved = out.Concurrency.ReservedConcurrentExecutions
			}
			if c.reserved != nil && *c.reserved == 0 {
				return "", nil
			}
			started, err := d.Lambda.GetProvisionedConcurrencyConfig(ctx,
				&lambda.GetProvisionedConcurrencyConfigInput{FunctionName: &name, Qualifier: &alias})
			var none *lambdatypes.ProvisionedConcurrencyConfigNotFoundException
			if err != nil && !errors.As(err, &none) && !missing(err) { // The function may have no alias.
				return "", err
			}
			if err == nil {
				c.provisioned = aws.ToInt32(started.RequestedProvisionedConcurrentExecutions)
			}
			return c.String(), nil
		},
		setMark: func(ctx context.Context, was string) error {
			return withARN(ctx, func(arn string) error { return d.setMark(ctx, arn, was) })
		},
		clearMark: func(ctx context.Context) error {
			return withARN(ctx, func(arn string) error { return d.clearMark(ctx, arn) })
		},
		stop: func(ctx context.Context) error {
			// AWS refuses to reserve fewer instances than are provisioned.
			_, err := d.Lambda.DeleteProvisionedConcurrencyConfig(ctx,
				&lambda.DeleteProvisionedConcurrencyConfigInput{FunctionName: &name, Qualifier: &alias})
			if err != nil && !missing(err) {
				return err
			}
			return d.patiently(ctx, func() error {
				_, err := d.Lambda.PutFunctionConcurrency(ctx, &lambda.PutFunctionConcurrencyInput{FunctionName: &name,
					ReservedConcurrentExecutions: aws.Int32(0)})
				return err
			})
		},
		start: func(ctx context.Context, was string) error {
			c, err := ReadCapacity(was)
			if err != nil {
				return err
			}
			err = d.patiently(ctx, func() (err error) {
				if c.reserved == nil {
					_, err = d.Lambda.DeleteFunctionConcurrency(ctx,
						&lambda.DeleteFunctionConcurrencyInput{FunctionName: &name})
				} else {
					_, err = d.Lambda.PutFunctionConcurrency(ctx,
						&lambda.PutFunctionConcurrencyInput{FunctionName: &name,
							ReservedConcurrentExecutions: c.reserved})
				}
				return err
			})
			if err != nil || c.provisioned == 0 {
				return err
			}
			return d.patiently(ctx, func() error {
				_, err := d.Lambda.PutProvisionedConcurrencyConfig(ctx, &lambda.PutProvisionedConcurrencyConfigInput{
					FunctionName: &name, Qualifier: &alias, ProvisionedConcurrentExecutions: &c.provisioned,
				})
				return err
			})
		},
	}
}

// schedules finds the rules that call functions periodically. CloudFormation chooses their
// names, so it finds them by the functions that they call.
func (d *Deployment) schedules(ctx context.Context) (all []part, err error) {
	seen := map[string]bool{}
	for _, short := range d.Scheduled {
		name := d.Prefix + short
		out, err := d.Lambda.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: &name})
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find the function %s: %w", name, err)
		}
		for _, suffix := range []string{"", ":" + release.Alias} {
			target := aws.ToString(out.Configuration.FunctionArn) + suffix
			in := &eventbridge.ListRuleNamesByTargetInput{TargetArn: &target}
			for {
				page, err := d.Rules.ListRuleNamesByTarget(ctx, in)
				if err != nil {
					return nil, fmt.Errorf("list the schedules of %s: %w", name, err)
				}
				for _, rule := range page.RuleNames {
					if seen[rule] {
						continue
					}
					seen[rule] = true
					all = append(all, d.schedule(rule))
				}
				if in.NextToken = page.NextToken; aws.ToString(in.NextToken) == "" {
					break
				}
			}
		}
	}
	return all, nil
}

// missing reports whether the error says that Lambda has no such function, alias or
// configuration.
func missing(err error) bool {
	var none *lambdatypes.ResourceNotFoundException
	return errors.As(err, &none)
}

func (d *Deployment) schedule(name string) part {
	key := Mark
	with := func(ctx context.Context, do func(r *eventbridge.DescribeRuleOutput) error) error {
		r, err := d.Rules.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: &name})
		if err != nil {
			return err
		}
		return do(r)
	}
	return part{
		name: "schedule " + name,
		mark: func(ctx context.Context) (was string, err error) {
			err = with(ctx, func(r *eventbridge.DescribeRuleOutput) error {
				out, err := d.Rules.ListTagsForResource(ctx, &eventbridge.ListTagsForResourceInput{ResourceARN: r.Arn})
				if err != nil {
					return err
				}
				for _, tag := range out.Tags {
					if aws.ToString(tag.Key) == Mark {
						was = aws.ToString(tag.Value)
					}
				}
				return nil
			})
			return was, err
		},
		state: func(ctx context.Context) (is string, err error) {
			err = with(ctx, func(r *eventbridge.DescribeRuleOutput) error {
				if r.State != eventtypes.RuleStateDisabled {
					is = enabled
				}
				return nil
			})
			return is, err
		},
		setMark: func(ctx context.Context, was string) error {
			return with(ctx, func(r *eventbridge.DescribeRuleOutput) error {
				_, err := d.Rules.TagResource(ctx, &eventbridge.TagResourceInput{ResourceARN: r.Arn,
					Tags: []eventtypes.Tag{{Key: &key, Value: &was}}})
				return err
			})
		},
		clearMark: func(ctx context.Context) error {
			return with(ctx, func(r *eventbridge.DescribeRuleOutput) error {
				_, err := d.Rules.UntagResource(ctx, &eventbridge.UntagResourceInput{ResourceARN: r.Arn,
					TagKeys: []string{Mark}})
				return err
			})
		},
		stop: func(ctx context.Context) error {
			_, err := d.Rules.DisableRule(ctx, &eventbridge.DisableRuleInput{Name: &name})
			return err
		},
		start: func(ctx context.Context, _ string) error {
			_, err := d.Rules.EnableRule(ctx, &eventbridge.EnableRuleInput{Name: &name})
			return err
		},
	}
}
