package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/store"
)

func newStateTable(stack awscdk.Stack, s customer.Settings, key awskms.Key) awsdynamodb.ITable {
	if s.Replicated() {
		return newGlobalTable(stack, s, key, "State", store.StateIndexes)
	}
	props := tableProps(s, key)
	// The stream drives all asynchronous work. The relay needs only new images.
	props.Stream = awsdynamodb.StreamViewType_NEW_IMAGE
	return newTable(stack, "State", props, store.StateIndexes)
}

func newAuditTable(stack awscdk.Stack, s customer.Settings, key awskms.Key) awsdynamodb.ITable {
	if s.Replicated() {
		return newGlobalTable(stack, s, key, "Audit", store.AuditIndexes)
	}
	props := tableProps(s, key)
	// The function of the stream counts calls, and detects altered entries.
	props.Stream = awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES
	return newTable(stack, "Audit", props, store.AuditIndexes)
}

func newTable(stack awscdk.Stack, id string, props *awsdynamodb.TableProps, indexes []store.Index) awsdynamodb.Table {
	table := awsdynamodb.NewTable(stack, jsii.String(id), props)
	for _, x := range indexes {
		partition, sort := x.Key()
		table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
			IndexName:      jsii.String(x.Name()),
			PartitionKey:   text(partition),
			SortKey:        text(sort),
			ProjectionType: projection(x),
			WarmThroughput: props.WarmThroughput,
		})
	}
	return table
}

func projection(x store.Index) awsdynamodb.ProjectionType {
	if x.KeysOnly() {
		return awsdynamodb.ProjectionType_KEYS_ONLY
	}
	return awsdynamodb.ProjectionType_ALL
}

// tableProps returns the properties of both tables: billing on demand, encryption with the
// customer's key, and recovery to any second of the last 35 days. `make deploy` protects the
// tables against deletion only after it has succeeded, because CloudFormation could not remove
// a protected table after a failure.
func tableProps(s customer.Settings, key awskms.Key) *awsdynamodb.TableProps {
	partition, sort := store.Table.Key()
	return &awsdynamodb.TableProps{
		PartitionKey:        text(partition),
		SortKey:             text(sort),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		Encryption:          awsdynamodb.TableEncryption_CUSTOMER_MANAGED,
		EncryptionKey:       key,
		TimeToLiveAttribute: jsii.String(store.ExpiryAttribute),
		WarmThroughput:      warm(s),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		RemovalPolicy: kept(s),
	}
}

// warm returns what a table or an index takes from the first second on, or nil for what AWS gives to a new one.
func warm(s customer.Settings) *awsdynamodb.WarmThroughput {
	if s.WarmThroughput == nil {
		return nil
	}
	return &awsdynamodb.WarmThroughput{ReadUnitsPerSecond: jsii.Number(s.WarmThroughput.Reads),
		WriteUnitsPerSecond: jsii.Number(s.WarmThroughput.Writes)}
}

func text(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
}
