package preflight

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"
)

// denied are the error codes of calls that the credentials do not permit.
var denied = []string{"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"}

// lookEvery is the time between two reads of the stack.
const lookEvery = 3 * time.Second

// Takes implements Account. AWS lists no quota for the memory of functions, so it makes a
// function to find out. CloudFormation makes it, as in a deployment, and removes it and its
// role even if this command is interrupted and repeated. Nothing calls the function, and its
// role has no permissions.
func (a AWS) Takes(ctx context.Context, stack, boundary string, memory int) (string, error) {
	if a.Config.BaseEndpoint != nil {
		return "", ErrUnsupported // An emulated AWS has no such limit.
	}
	template, err := probe(boundary, memory)
	if err != nil {
		return "", err
	}
	client := cloudformation.NewFromConfig(a.Config)
	// Remove the stack of an earlier command that was interrupted.
	if err := a.remove(ctx, client, stack); err != nil {
		return "", refused(err)
	}
	made, err := client.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: &stack, TemplateBody: &template, Capabilities: []types.Capability{types.CapabilityCapabilityIam},
		OnFailure: types.OnFailureDelete, TimeoutInMinutes: aws.Int32(5),
	})
	if err != nil {
		return "", refused(err)
	}
	defer func() {
		_, _ = client.DeleteStack(context.WithoutCancel(ctx), &cloudformation.DeleteStackInput{StackName: made.StackId})
	}()
	status, err := a.settled(ctx, client, aws.ToString(made.StackId), types.StackStatusCreateInProgress)
	if err != nil || status == types.StackStatusCreateComplete {
		return "", err
	}
	return why(ctx, client, aws.ToString(made.StackId))
}

// probe returns a template with a function that has the memory.
func probe(boundary string, memory int) (string, error) {
	type object = map[string]any
	role := object{"AssumeRolePolicyDocument": object{"Version": "2012-10-17", "Statement": []object{{
		"Effect": "Allow", "Principal": object{"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole",
	}}}}
	if boundary != "" {
		role["PermissionsBoundary"] = boundary
	}
	text, err := json.Marshal(object{
		"Description": "Shows whether AWS takes a function of so much memory; make preflight removes it",
		"Resources": object{
			"Role": object{"Type": "AWS::IAM::Role", "Properties": role},
			"Function": object{"Type": "AWS::Lambda::Function", "Properties": object{
				"Runtime": "python3.13", "Handler": "index.handler",
				"Code":       object{"ZipFile": "def handler(event, context): pass"},
				"MemorySize": memory, "Role": object{"Fn::GetAtt": []string{"Role", "Arn"}},
			}},
		},
	})
	return string(text), err
}

// remove removes a stack, if there is one.
func (a AWS) remove(ctx context.Context, client *cloudformation.Client, name string) error {
	_, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if err != nil {
		if errors.Is(a.known(err, "ValidationError"), ErrMissing) {
			return nil
		}
		return err
	}
	if _, err := client.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &name}); err != nil {
		return err
	}
	_, err = a.settled(ctx, client, name, types.StackStatusDeleteInProgress)
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// settled waits until a stack has another status, and returns the new status.
func (a AWS) settled(ctx context.Context, client *cloudformation.Client, name string,
	while types.StackStatus) (types.StackStatus, error) {
	for {
		out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		if err != nil {
			return "", a.known(err, "ValidationError")
		}
		if len(out.Stacks) == 0 {
			return "", ErrMissing
		}
		if status := out.Stacks[0].StackStatus; status != while {
			return status, nil
		}
		if err := a.Wait(ctx, lookEvery); err != nil {
			return "", err
		}
	}
}

// why returns the first reason why a stack could not be made. The latest events come first.
func why(ctx context.Context, client *cloudformation.Client, stack string) (string, error) {
	reason := "CloudFormation does not say why"
	pages := cloudformation.NewDescribeStackEventsPaginator(client,
		&cloudformation.DescribeStackEventsInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", refused(err)
		}
		for _, e := range page.StackEvents {
			if e.ResourceStatus == types.ResourceStatusCreateFailed && aws.ToString(e.ResourceStatusReason) != "" {
				reason = aws.ToString(e.ResourceStatusReason)
			}
		}
	}
	return reason, nil
}

// refused returns ErrDenied if the credentials do not permit the call.
func refused(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) && slices.Contains(denied, api.ErrorCode()) {
		return errors.Join(ErrDenied, err)
	}
	return err
}

// aboutMemory reports whether AWS refuses a function because of its memory.
func aboutMemory(reason string) bool { return strings.Contains(strings.ToLower(reason), "memorysize") }
