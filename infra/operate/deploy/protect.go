package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/infra/app/customer"
)

// stacks protects stacks, and finds changes that were made without them.
type stacks interface {
	DescribeStacks(context.Context, *cloudformation.DescribeStacksInput,
		...func(*cloudformation.Options)) (*cloudformation.DescribeStacksOutput, error)
	SetStackPolicy(context.Context, *cloudformation.SetStackPolicyInput,
		...func(*cloudformation.Options)) (*cloudformation.SetStackPolicyOutput, error)
	UpdateTerminationProtection(context.Context, *cloudformation.UpdateTerminationProtectionInput,
		...func(*cloudformation.Options)) (*cloudformation.UpdateTerminationProtectionOutput, error)
	DetectStackDrift(context.Context, *cloudformation.DetectStackDriftInput,
		...func(*cloudformation.Options)) (*cloudformation.DetectStackDriftOutput, error)
	DescribeStackDriftDetectionStatus(context.Context, *cloudformation.DescribeStackDriftDetectionStatusInput,
		...func(*cloudformation.Options)) (*cloudformation.DescribeStackDriftDetectionStatusOutput, error)
	DescribeStackResourceDrifts(context.Context, *cloudformation.DescribeStackResourceDriftsInput,
		...func(*cloudformation.Options)) (*cloudformation.DescribeStackResourceDriftsOutput, error)
}

// tables protects tables.
type tables interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput,
		...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	UpdateTable(context.Context, *dynamodb.UpdateTableInput,
		...func(*dynamodb.Options)) (*dynamodb.UpdateTableOutput, error)
}

// connect returns the stacks and the tables of the order's region.
func connect(ctx context.Context, o order) (stacks, tables, error) {
	cfg, err := o.config(ctx)
	if err != nil {
		return nil, nil, err
	}
	return cloudformation.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg), nil
}

// irreplaceable are the types of resources whose contents cannot be made again: data, keys,
// secrets, people, and addresses that receivers permit.
var irreplaceable = []string{
	"AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::KMS::Key", "AWS::KMS::ReplicaKey",
	"AWS::SecretsManager::Secret", "AWS::EC2::EIP", "AWS::Backup::BackupVault", "AWS::Cognito::UserPool",
}

// policy is the stack policy of the data: no update replaces or removes an irreplaceable
// resource.
func policy() (string, error) {
	type object = map[string]any
	text, err := json.Marshal(object{"Statement": []object{
		{"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"},
		{"Effect": "Deny", "Action": []string{"Update:Replace", "Update:Delete"}, "Principal": "*", "Resource": "*",
			"Condition": object{"StringEquals": object{"ResourceType": irreplaceable}}},
	}})
	return string(text), err
}

// protectAll protects the stacks of all regions of the order.
func protectAll(ctx context.Context, o order) error {
	var failed []error
	for _, of := range o.regions() {
		s, t, err := connect(ctx, of)
		if err == nil {
			err = protect(ctx, of, s, t)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// protect protects the deployed stacks of a region against deletion, and the stack of the data
// against updates that lose data. A stack whose first deployment has failed stays without
// protection, because the next deployment deletes it.
func protect(ctx context.Context, o order, s stacks, t tables) error {
	for _, part := range customer.Parts {
		name := o.Name() + "-" + part
		out, err := s.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		switch {
		case err != nil && missing(err):
			continue
		case err != nil:
			return fmt.Errorf("read the stack %s: %w", name, err)
		case len(out.Stacks) == 0 || !deployed(out.Stacks[0].StackStatus):
			continue
		}
		if part == "data" {
			if err := protectData(ctx, name, out.Stacks[0], s, t); err != nil {
				return err
			}
		}
		if _, err := s.UpdateTerminationProtection(ctx, &cloudformation.UpdateTerminationProtectionInput{
			StackName: &name, EnableTerminationProtection: aws.Bool(true),
		}); err != nil {
			return fmt.Errorf("protect the stack %s: %w", name, err)
		}
	}
	return nil
}

// deployed reports whether a stack with the status was deployed at least once.
func deployed(status types.StackStatus) bool {
	return status == types.StackStatusCreateComplete || strings.HasPrefix(string(status), "UPDATE_") ||
		strings.HasPrefix(string(status), "IMPORT_")
}

// protectData sets the policy of the stack of the data, and protects its tables against
// deletion.
func protectData(ctx context.Context, name string, of types.Stack, s stacks, t tables) error {
	text, err := policy()
	if err != nil {
		return err
	}
	if _, err := s.SetStackPolicy(ctx, &cloudformation.SetStackPolicyInput{StackName: &name,
		StackPolicyBody: &text}); err != nil {
		return fmt.Errorf("set the policy of the stack %s: %w", name, err)
	}
	for _, output := range of.Outputs {
		if key := aws.ToString(output.OutputKey); key != "TableName" && key != "AuditTableName" {
			continue
		}
		if err := protectTable(ctx, aws.ToString(output.OutputValue), t); err != nil {
			return fmt.Errorf("protect the table %s: %w", aws.ToString(output.OutputValue), err)
		}
	}
	return nil
}

// protectTable protects a table against deletion, if it exists and is not protected yet.
func protectTable(ctx context.Context, name string, t tables) error {
	out, err := t.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	var none *dynamodbtypes.ResourceNotFoundException
	if errors.As(err, &none) {
		return nil
	}
	if err != nil || aws.ToBool(out.Table.DeletionProtectionEnabled) {
		return err
	}
	_, err = t.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &name, DeletionProtectionEnabled: aws.Bool(true)})
	return err
}

// unprotect ends the protection of stacks against deletion. Stacks that were destroyed
// before have none.
func unprotect(ctx context.Context, s stacks, names []string) error {
	for _, name := range names {
		if _, err := s.UpdateTerminationProtection(ctx, &cloudformation.UpdateTerminationProtectionInput{
			StackName: &name, EnableTerminationProtection: aws.Bool(false),
		}); err != nil && !missing(err) {
			return fmt.Errorf("end the protection of the stack %s: %w", name, err)
		}
	}
	return nil
}

// missing reports whether the error says that a stack does not exist. CloudFormation has no
// specific code for it.
func missing(err error) bool {
	var refused smithy.APIError
	return errors.As(err, &refused) && refused.ErrorCode() == "ValidationError" &&
		strings.Contains(refused.ErrorMessage(), "does not exist")
}

// drift names the changes that were made without the stacks, and returns an error if there
// are any.
func drift(ctx context.Context, o order, s stacks, wait func(time.Duration), out io.Writer) error {
	changed := 0
	for _, part := range customer.Parts {
		name := o.Name() + "-" + part
		found, err := drifted(ctx, s, name, wait)
		if err != nil {
			return fmt.Errorf("compare the stack %s: %w", name, err)
		}
		if _, err := fmt.Fprintf(out, "%s: %d changed\n", name, len(found)); err != nil {
			return err
		}
		for _, r := range found {
			changed++
			if _, err := fmt.Fprintf(out, "  %s %s %s\n", r.StackResourceDriftStatus, aws.ToString(r.ResourceType),
				aws.ToString(r.LogicalResourceId)); err != nil {
				return err
			}
			for _, p := range r.PropertyDifferences {
				if _, err := fmt.Fprintf(out, "    %s is %s, not %s\n", aws.ToString(p.PropertyPath),
					aws.ToString(p.ActualValue), aws.ToString(p.ExpectedValue)); err != nil {
					return err
				}
			}
		}
	}
	if changed > 0 {
		return fmt.Errorf("%d resources differ from their stacks: undo the change, or make it in the code and deploy",
			changed)
	}
	return nil
}

// drifted compares the resources of a stack with its template.
func drifted(ctx context.Context, s stacks, name string, wait func(time.Duration)) ([]types.StackResourceDrift, error) {
	begun, err := s.DetectStackDrift(ctx, &cloudformation.DetectStackDriftInput{StackName: &name})
	if err != nil {
		return nil, err
	}
	for {
		state, err := s.DescribeStackDriftDetectionStatus(ctx,
			&cloudformation.DescribeStackDriftDetectionStatusInput{StackDriftDetectionId: begun.StackDriftDetectionId})
		if err != nil {
			return nil, err
		}
		if state.DetectionStatus == types.StackDriftDetectionStatusDetectionFailed {
			return nil, fmt.Errorf("AWS could not compare it: %s", aws.ToString(state.DetectionStatusReason))
		}
		if state.DetectionStatus == types.StackDriftDetectionStatusDetectionComplete {
			break
		}
		if wait(2 * time.Second); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	in := &cloudformation.DescribeStackResourceDriftsInput{StackName: &name,
		StackResourceDriftStatusFilters: []types.StackResourceDriftStatus{
			types.StackResourceDriftStatusModified, types.StackResourceDriftStatusDeleted,
		}}
	var all []types.StackResourceDrift
	for {
		page, err := s.DescribeStackResourceDrifts(ctx, in)
		if err != nil {
			return nil, err
		}
		all = append(all, page.StackResourceDrifts...)
		if in.NextToken = page.NextToken; aws.ToString(in.NextToken) == "" {
			return all, nil
		}
	}
}
