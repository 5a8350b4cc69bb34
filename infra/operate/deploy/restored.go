package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/store"
)

// A restored table has its items, keys and indexes, and nothing else that a table of the stacks has: DynamoDB restores
// neither the stream, nor the recovery to any second, nor the expiry of items. CloudFormation does not own it.

// restoredTable is a restored table, and what it must have to take the place of the stack's own.
type restoredTable struct {
	name    string
	stream  types.StreamViewType
	indexes []store.Index
}

// restoredTables returns the restored tables of the deployment in its own region, or nothing.
func restoredTables(o order) []restoredTable {
	r, ok := o.Restored()
	if !ok || o.Standby() {
		return nil
	}
	state := restoredTable{r.State, types.StreamViewTypeNewImage, store.StateIndexes}
	if o.Replicated() {
		// The streams of all replicas have both images.
		state.stream = types.StreamViewTypeNewAndOldImages
	}
	return []restoredTable{state, {r.Audit, types.StreamViewTypeNewAndOldImages, store.AuditIndexes}}
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
func (r restoredTable) check(t *types.TableDescription, key string, o order) error {
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
	case t.TableStatus != types.TableStatusActive:
		return fmt.Errorf("it is %s: wait until it is ACTIVE", t.TableStatus)
	case t.SSEDescription == nil || aws.ToString(t.SSEDescription.KMSMasterKeyArn) != key:
		return fmt.Errorf("it is not encrypted with the customer's key: restore it again, with the key %s", key)
	case o.Replicated() && !slices.ContainsFunc(t.Replicas, func(d types.ReplicaDescription) bool {
		return aws.ToString(d.RegionName) == o.Replica.Region
	}):
		return fmt.Errorf("it has no replica in %s: add it by `aws dynamodb update-table --replica-updates`",
			o.Replica.Region)
	}
	return nil
}

// complete turns on the stream, the recovery to any second and the expiry of items.
func (r restoredTable) complete(ctx context.Context, tables *dynamodb.Client, t *types.TableDescription,
	wait func(time.Duration)) error {
	backups, err := tables.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &r.name})
	if err != nil {
		return err
	}
	if d := backups.ContinuousBackupsDescription; d.PointInTimeRecoveryDescription == nil ||
		d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled {
		if _, err := tables.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: &r.name,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: aws.Bool(true)}}); err != nil {
			return err
		}
	}
	expiry, err := tables.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &r.name})
	if err != nil {
		return err
	}
	if d := expiry.TimeToLiveDescription; d == nil || d.TimeToLiveStatus != types.TimeToLiveStatusEnabled &&
		d.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
		if _, err := tables.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &r.name,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(store.ExpiryAttribute),
				Enabled: aws.Bool(true)}}); err != nil {
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
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: r.stream},
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
		if err != nil || out.Table.TableStatus == types.TableStatusActive {
			return err
		}
		wait(pause)
	}
	return fmt.Errorf("its stream is not on after %d seconds: deploy again when it is ACTIVE",
		most*int(pause/time.Second))
}
