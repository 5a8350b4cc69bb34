package stack

import (
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
)

// The indexes, by table.
var (
	stateIndexes = []string{"by_owner", "by_parent"}
	auditIndexes = []string{"by_request"}
)

func newStateTable(stack awscdk.Stack, s Settings, key awskms.Key) awsdynamodb.Table {
	props := tableProps(s, key)
	// The stream drives everything asynchronous; the relay needs new images alone.
	props.Stream = awsdynamodb.StreamViewType_NEW_IMAGE
	table := awsdynamodb.NewTable(stack, jsii.String("State"), props)
	for i, name := range stateIndexes {
		key := "g" + strconv.Itoa(i+1)
		table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
			IndexName:      jsii.String(name),
			PartitionKey:   text(key + "pk"),
			SortKey:        text(key + "sk"),
			ProjectionType: awsdynamodb.ProjectionType_ALL,
		})
	}
	return table
}

func newAuditTable(stack awscdk.Stack, s Settings, key awskms.Key) awsdynamodb.Table {
	table := awsdynamodb.NewTable(stack, jsii.String("Audit"), tableProps(s, key))
	table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName:      jsii.String(auditIndexes[0]),
		PartitionKey:   text("request_id"),
		ProjectionType: awsdynamodb.ProjectionType_ALL,
	})
	return table
}

// tableProps are what both tables share: on demand, encrypted with the
// customer's key, recoverable to any second of the last 35 days, and not
// deletable by mistake.
func tableProps(s Settings, key awskms.Key) *awsdynamodb.TableProps {
	return &awsdynamodb.TableProps{
		PartitionKey:        text("pk"),
		SortKey:             text("sk"),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		Encryption:          awsdynamodb.TableEncryption_CUSTOMER_MANAGED,
		EncryptionKey:       key,
		TimeToLiveAttribute: jsii.String("ttl"),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		DeletionProtection: jsii.Bool(!s.Local()),
		RemovalPolicy:      kept(s),
	}
}

func text(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
}
