package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/store"
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

// regions returns the order for each region of the deployment: its own region and the
// replica's.
func (o order) regions() []order {
	all := []order{o}
	if o.Replicated() {
		there := o
		there.Settings = o.There()
		all = append(all, there)
	}
	return all
}

// lookUp returns the context value with the resources of the replica and of restored tables, or nothing without them.
func lookUp(ctx context.Context, o order) ([]string, error) {
	var found customer.Found
	var err error
	_, restored := o.Restored()
	switch {
	case o.Standby():
		found, err = replicas(ctx, o)
	case o.Replicated():
		found.SecretsKey, err = secretsKey(ctx, o)
	case !restored:
		return nil, nil
	}
	if err == nil && restored && !o.Standby() {
		err = findRestored(ctx, o, &found)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(found)
	return []string{"-c", "found=" + string(text)}, err
}

// secretsKey returns the ARN of the primary key of customers' secrets, or "" before the first
// deployment.
func secretsKey(ctx context.Context, o order) (string, error) {
	cfg, err := o.config(ctx)
	if err != nil {
		return "", err
	}
	out, err := kms.NewFromConfig(cfg).DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String(o.SecretsKeyAlias())})
	var none *kmstypes.NotFoundException
	switch {
	case errors.As(err, &none):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look up the key %s in %s: %w", o.SecretsKeyAlias(), o.Region, err)
	case out.KeyMetadata.MultiRegionConfiguration == nil:
		return "", fmt.Errorf("the key %s is of %s alone: a replica is part of the first deployment of a stage, see "+
			"docs/recovery.md", o.SecretsKeyAlias(), o.Region)
	}
	// The replica key names its primary key even if the primary's region is lost.
	return aws.ToString(out.KeyMetadata.MultiRegionConfiguration.PrimaryKey.Arn), nil
}

// replicas looks up the resources that the service needs in the replica's region. It makes no
// calls to the other region, which may be lost.
func replicas(ctx context.Context, o order) (found customer.Found, err error) {
	cfg, err := o.config(ctx)
	if err != nil {
		return found, err
	}
	if found.SecretsKey, err = secretsKey(ctx, o); err != nil {
		return found, err
	}
	tables := dynamodb.NewFromConfig(cfg)
	for name, stream := range map[string]*string{"state": &found.StateStream, "audit": &found.AuditStream} {
		out, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(o.SharedTable(name))})
		if err != nil {
			return found, fmt.Errorf("look up the replica of the table %s in %s: %w", o.SharedTable(name),
				o.Region, err)
		}
		*stream = aws.ToString(out.Table.LatestStreamArn)
	}
	secrets := secretsmanager.NewFromConfig(cfg)
	found.Secrets = map[string]string{}
	for _, name := range customer.SharedSecrets {
		out, err := secrets.DescribeSecret(ctx,
			&secretsmanager.DescribeSecretInput{SecretId: aws.String(o.SharedSecret(name))})
		if err != nil {
			return found, fmt.Errorf("look up the replica of the secret %s in %s: %w", o.SharedSecret(name),
				o.Region, err)
		}
		if home := aws.ToString(out.PrimaryRegion); home != "" && home != o.Region {
			return found, fmt.Errorf("the secret %s in %s cannot be rotated, as it is a replica of that in %s: make "+
				"it one of its own by `aws secretsmanager stop-replication-to-replica --region %s --secret-id %s`",
				o.SharedSecret(name), o.Region, home, o.Region, o.SharedSecret(name))
		}
		found.Secrets[name] = aws.ToString(out.ARN)
	}
	return found, nil
}

// shareKey makes the replica of the key of customers' secrets after the first deployment, which
// makes the key.
func shareKey(ctx context.Context, o order) error {
	if !o.Replicated() {
		return nil
	}
	there := o
	there.Settings = o.There()
	cfg, err := there.config(ctx)
	if err != nil {
		return err
	}
	_, err = kms.NewFromConfig(cfg).DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String(o.SecretsKeyAlias())})
	var none *kmstypes.NotFoundException
	if !errors.As(err, &none) {
		return err
	}
	return cdk(ctx, o, "deploy", o.There().Name()+"-data", "--exclusively", "--require-approval", o.approval)
}

// A restored table has its items, keys and indexes, and nothing else that a table of the stacks has: DynamoDB restores
// neither the stream, nor the recovery to any second, nor the expiry of items. CloudFormation does not own it.

// restoredTable is a restored table, and what it must have to take the place of the stack's own.
type restoredTable struct {
	name    string
	stream  dynamodbtypes.StreamViewType
	indexes []store.Index
}

// restoredTables returns the restored tables of the deployment in its own region, or nothing.
func restoredTables(o order) []restoredTable {
	r, ok := o.Restored()
	if !ok || o.Standby() {
		return nil
	}
	state := restoredTable{r.State, dynamodbtypes.StreamViewTypeNewImage, store.StateIndexes}
	if o.Replicated() {
		// The streams of all replicas have both images.
		state.stream = dynamodbtypes.StreamViewTypeNewAndOldImages
	}
	return []restoredTable{state, {r.Audit, dynamodbtypes.StreamViewTypeNewAndOldImages, store.AuditIndexes}}
}

// findRestored looks up the streams of restored tables.
func findRestored(ctx context.Context, o order, found *customer.Found) error {
	cfg, err := o.config(ctx)
	if err != nil {
		return err
	}
	tables := dynamodb.NewFromConfig(cfg)
	streams := []*string{&found.StateStream, &found.AuditStream}
	for i, r := range restoredTables(o) {
		out, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &r.name})
		switch {
		case err != nil:
			return fmt.Errorf("look up the restored table %s in %s: %w", r.name, o.Region, err)
		case aws.ToString(out.Table.LatestStreamArn) == "":
			return fmt.Errorf("the restored table %s has no stream yet: `make deploy` turns it on", r.name)
		}
		*streams[i] = *out.Table.LatestStreamArn
	}
	return nil
}

// prepareRestored checks the restored tables, and turns on what DynamoDB does not restore. It changes nothing that is
// on already, so that it may be repeated.
func prepareRestored(ctx context.Context, o order, wait func(time.Duration)) error {
	all := restoredTables(o)
	if len(all) == 0 {
		return nil
	}
	cfg, err := o.config(ctx)
	if err != nil {
		return err
	}
	key, err := kms.NewFromConfig(cfg).DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String(o.KeyAlias())})
	if err != nil {
		return fmt.Errorf("look up the key %s in %s: %w", o.KeyAlias(), o.Region, err)
	}
	tables := dynamodb.NewFromConfig(cfg)
	for _, r := range all {
		out, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &r.name})
		if err == nil {
			err = r.check(out.Table, aws.ToString(key.KeyMetadata.Arn), o)
		}
		if err == nil {
			err = r.complete(ctx, tables, out.Table, wait)
		}
		if err != nil {
			return fmt.Errorf("the restored table %s: %w", r.name, err)
		}
	}
	return nil
}

// check returns an error if the table cannot take the place of the stack's own.
func (r restoredTable) check(t *dynamodbtypes.TableDescription, key string, o order) error {
	var have []string
	for _, x := range t.GlobalSecondaryIndexes {
		have = append(have, aws.ToString(x.IndexName))
	}
	for _, x := range r.indexes {
		if !slices.Contains(have, x.Name()) {
			return fmt.Errorf("it has no index %s: restore it again, with all indexes", x.Name())
		}
	}
	switch {
	case t.TableStatus != dynamodbtypes.TableStatusActive:
		return fmt.Errorf("it is %s: wait until it is ACTIVE", t.TableStatus)
	case t.SSEDescription == nil || aws.ToString(t.SSEDescription.KMSMasterKeyArn) != key:
		return fmt.Errorf("it is not encrypted with the customer's key: restore it again, with the key %s", key)
	case o.Replicated() && !slices.ContainsFunc(t.Replicas, func(d dynamodbtypes.ReplicaDescription) bool {
		return aws.ToString(d.RegionName) == o.Replica.Region
	}):
		return fmt.Errorf("it has no replica in %s: add it by `aws dynamodb update-table --replica-updates`",
			o.Replica.Region)
	}
	return nil
}

// complete turns on the stream, the recovery to any second and the expiry of items.
func (r restoredTable) complete(ctx context.Context, tables *dynamodb.Client, t *dynamodbtypes.TableDescription,
	wait func(time.Duration)) error {
	backups, err := tables.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &r.name})
	if err != nil {
		return err
	}
	if d := backups.ContinuousBackupsDescription; d.PointInTimeRecoveryDescription == nil ||
		d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus != dynamodbtypes.PointInTimeRecoveryStatusEnabled {
		if _, err := tables.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: &r.name,
			PointInTimeRecoverySpecification: &dynamodbtypes.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: aws.Bool(true)}}); err != nil {
			return err
		}
	}
	expiry, err := tables.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &r.name})
	if err != nil {
		return err
	}
	if d := expiry.TimeToLiveDescription; d == nil || d.TimeToLiveStatus != dynamodbtypes.TimeToLiveStatusEnabled &&
		d.TimeToLiveStatus != dynamodbtypes.TimeToLiveStatusEnabling {
		if _, err := tables.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &r.name,
			TimeToLiveSpecification: &dynamodbtypes.TimeToLiveSpecification{
				AttributeName: aws.String(store.ExpiryAttribute),
				Enabled:       aws.Bool(true)}}); err != nil {
			return err
		}
	}
	if s := t.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		if s.StreamViewType != r.stream {
			return fmt.Errorf("its stream has %s, not %s: turn it off, and deploy again", s.StreamViewType, r.stream)
		}
		return nil
	}
	if _, err := tables.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &r.name,
		StreamSpecification: &dynamodbtypes.StreamSpecification{StreamEnabled: aws.Bool(true),
			StreamViewType: r.stream},
	}); err != nil {
		return err
	}
	return r.settled(ctx, tables, wait)
}

// settled waits until an update of the table has ended: for ten minutes at most.
func (r restoredTable) settled(ctx context.Context, tables *dynamodb.Client, wait func(time.Duration)) error {
	const pause, most = 5 * time.Second, 120
	for range most {
		out, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &r.name})
		if err != nil || out.Table.TableStatus == dynamodbtypes.TableStatusActive {
			return err
		}
		wait(pause)
	}
	return fmt.Errorf("its stream is not on after %d seconds: deploy again when it is ACTIVE",
		most*int(pause/time.Second))
}
