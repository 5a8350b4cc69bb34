package stack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/store"
)

// The stacks of the two regions refer to each other's resources only by name, so that neither
// waits for a value of the other.

// replicated returns true for a customer with a replica, and otherwise nil, which leaves a
// property out.
func replicated(s customer.Settings) *bool {
	if s.Replicated() {
		return jsii.Bool(true)
	}
	return nil
}

// standbyKey returns the ARN of the alias of the key in the replica's region.
func standbyKey(stack awscdk.Stack, s customer.Settings) *string {
	return jsii.String(fmt.Sprintf("arn:%s:kms:%s:%s:%s", *stack.Partition(), s.Replica.Region, s.Account,
		s.KeyAlias()))
}

// newGlobalTable makes a table with a replica. Each replica is encrypted with the key of
// its region, and recoverable.
func newGlobalTable(stack awscdk.Stack, s customer.Settings, key awskms.Key, id string,
	indexes []store.Index) awsdynamodb.ITable {
	props := tableProps(s, key)
	var secondary []*awsdynamodb.GlobalSecondaryIndexPropsV2
	for _, x := range indexes {
		partition, sort := x.Key()
		secondary = append(secondary, &awsdynamodb.GlobalSecondaryIndexPropsV2{
			IndexName: jsii.String(x.Name()), PartitionKey: text(partition), SortKey: text(sort),
			ProjectionType: projection(x), WarmThroughput: props.WarmThroughput,
		})
	}
	return awsdynamodb.NewTableV2(stack, jsii.String(id), &awsdynamodb.TablePropsV2{
		TableName: jsii.String(s.MadeTable(sharedTables[id])), PartitionKey: props.PartitionKey,
		SortKey: props.SortKey,
		Billing: awsdynamodb.Billing_OnDemand(nil), WarmThroughput: props.WarmThroughput,
		Encryption: awsdynamodb.TableEncryptionV2_CustomerManagedKey(key,
			&map[string]*string{s.Replica.Region: standbyKey(stack, s)}),
		// The streams of all replicas have both images.
		DynamoStream:           awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES,
		GlobalSecondaryIndexes: &secondary, TimeToLiveAttribute: props.TimeToLiveAttribute,
		PointInTimeRecoverySpecification: props.PointInTimeRecoverySpecification,
		RemovalPolicy:                    props.RemovalPolicy,
		Replicas:                         &[]*awsdynamodb.ReplicaTableProps{{Region: jsii.String(s.Replica.Region)}},
	})
}

// sharedTables are the last parts of the names of the tables that the regions share.
var sharedTables = map[string]string{"State": "state", "Audit": "audit"}

// useReplicas uses the replicas of the tables, the secrets and the key of customers' secrets instead
// of making them. Until they are looked up, only the names of the tables are known.
func (d *data) useReplicas() {
	found := d.settings.Found
	d.useTables("")
	if len(found.Secrets) > 0 {
		secret := func(id, name string) awssecretsmanager.ISecret {
			return awssecretsmanager.Secret_FromSecretCompleteArn(d.stack, jsii.String(id),
				jsii.String(found.Secrets[name]))
		}
		d.seal, d.providers = secret("SealSecret", "seal"), secret("ProviderSecret", "provider")
		d.platforms, d.canary = secret("PlatformSecret", "platform"), secret("CanarySecret", "canary")
	}
	if found.SecretsKey != "" {
		d.secrets = d.newReplicaKey(found.SecretsKey)
	}
}

// useTables uses the tables that the settings name instead of those of the stack.
func (d *data) useTables(prefix string) {
	table := func(id, stream string) awsdynamodb.ITable {
		of := &awsdynamodb.TableAttributes{TableName: jsii.String(d.settings.SharedTable(sharedTables[id]))}
		if stream != "" {
			of.TableStreamArn = jsii.String(stream)
		}
		return awsdynamodb.Table_FromTableAttributes(d.stack, jsii.String(prefix+id), of)
	}
	found := d.settings.Found
	d.state, d.audit = table("State", found.StateStream), table("Audit", found.AuditStream)
}

// useRestored uses restored tables instead of those that the stack made, which stay in it. The other stacks still
// import these while this one is deployed, so that their exports stay, too.
func (d *data) useRestored() {
	if _, ok := d.settings.Restored(); !ok {
		return
	}
	for _, made := range []awsdynamodb.ITable{d.state, d.audit} {
		for _, value := range []*string{made.TableArn(), made.TableName(), made.TableStreamArn()} {
			d.stack.ExportValue(value, nil)
		}
	}
	d.useTables("Restored")
}

// newReplicaKey makes the replica of the key of customers' secrets. It opens the secrets that
// the primary key has sealed.
func (d *data) newReplicaKey(primary string) awskms.IKey {
	key := awskms.NewCfnReplicaKey(d.stack, jsii.String("SecretsKey"), &awskms.CfnReplicaKeyProps{
		PrimaryKeyArn: jsii.String(primary), Description: jsii.String("Secrets of " + d.settings.Customer +
			" in " + d.settings.Region),
		KeyPolicy: awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
			awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
				Principals: &[]awsiam.IPrincipal{awsiam.NewAccountRootPrincipal()}, Actions: jsii.Strings("kms:*"),
				Resources: jsii.Strings("*"),
			}),
		}}),
	})
	key.ApplyRemovalPolicy(kept(d.settings), nil)
	alias := awskms.NewCfnAlias(d.stack, jsii.String("SecretsKeyAlias"), &awskms.CfnAliasProps{
		AliasName: jsii.String(d.settings.SecretsKeyAlias()), TargetKeyId: key.AttrKeyId(),
	})
	alias.ApplyRemovalPolicy(kept(d.settings), nil)
	return awskms.Key_FromKeyArn(d.stack, jsii.String("SharedSecretsKey"), key.AttrArn())
}

// replicate copies the files and the secrets to the replica's region, and adds alarms for the
// copying. DynamoDB copies the tables.
func (d *data) replicate() {
	if !d.settings.Replicated() {
		return
	}
	s := d.settings
	for i, secret := range []awssecretsmanager.ISecret{d.seal, d.providers, d.platforms, d.canary} {
		name := customer.SharedSecrets[i]
		made := secret.Node().DefaultChild().(awssecretsmanager.CfnSecret)
		made.SetName(jsii.String(s.SharedSecret(name)))
		made.SetReplicaRegions(&[]any{&awssecretsmanager.CfnSecret_ReplicaRegionProperty{
			Region: jsii.String(s.Replica.Region), KmsKeyId: standbyKey(d.stack, s),
		}})
	}
	d.replicateFiles()
	output(d.stack, "MediaCopies", jsii.String(s.Replica.Region+"/"+s.StandbyBucket()))
	watch := d.alarmsIn(d.stack)
	for _, id := range []string{"State", "Audit"} {
		watch.replica(id+"ReplicaAlarm", "The replica of the table "+s.SharedTable(sharedTables[id])+
			" is more than a minute behind.", 60_000,
			awscloudwatch.MetricProps{
				Namespace: jsii.String("AWS/DynamoDB"), MetricName: jsii.String("ReplicationLatency"),
				Statistic: jsii.String("Maximum"),
				DimensionsMap: &map[string]*string{"TableName": jsii.String(s.SharedTable(sharedTables[id])),
					"ReceivingRegion": jsii.String(s.Replica.Region)},
			})
	}
	watch.replica("FilesReplicaAlarm", "Files were not copied to the replica.", 0, awscloudwatch.MetricProps{
		Namespace: jsii.String("AWS/S3"), MetricName: jsii.String("OperationsFailedReplication"),
		Statistic: jsii.String("Sum"),
		DimensionsMap: &map[string]*string{"SourceBucket": d.media.BucketName(),
			"DestinationBucket": jsii.String(s.StandbyBucket()), "RuleId": jsii.String(replicaRule)},
	})
}

// replica adds an alarm for the copying to the replica's region.
func (a alarms) replica(id, says string, above float64, of awscloudwatch.MetricProps) {
	of.Period = awscdk.Duration_Minutes(jsii.Number(5))
	a.add(id, alarm{says: says, runbook: "a-replica-is-behind", metric: awscloudwatch.NewMetric(&of), above: above})
}

// replicaRule is the id of the rule that copies files.
const replicaRule = "replica"

// replicateFiles lets S3 copy the objects of the media bucket within 15 minutes. S3 copies
// delete markers, but not the deletion of versions.
func (d *data) replicateFiles() {
	s := d.settings
	there := fmt.Sprintf("arn:%s:s3:::%s", *d.stack.Partition(), s.StandbyBucket())
	role := awsiam.NewRole(d.stack, jsii.String("ReplicaRole"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("s3.amazonaws.com"), nil),
		Description: jsii.String("Copies files of " + s.Customer + " to " + s.Replica.Region),
	})
	through := func(region string) func(awsiam.PolicyStatement) awsiam.PolicyStatement {
		return condition("StringEquals", "kms:ViaService", "s3."+region+".amazonaws.com")
	}
	aliased := condition("ForAnyValue:StringEquals", "kms:ResourceAliases", s.KeyAlias())
	for _, statement := range []awsiam.PolicyStatement{
		allow([]string{"s3:GetReplicationConfiguration", "s3:ListBucket"}, d.media.BucketArn()),
		allow([]string{"s3:GetObjectVersionAcl", "s3:GetObjectVersionForReplication", "s3:GetObjectVersionTagging"},
			d.media.ArnForObjects(jsii.String("*"))),
		allow([]string{"s3:ReplicateDelete", "s3:ReplicateObject", "s3:ReplicateTags"}, jsii.String(there+"/*")),
		through(s.Region)(allow([]string{"kms:Decrypt"}, d.key.KeyArn())),
		aliased(through(s.Replica.Region)(allow([]string{"kms:Encrypt", "kms:GenerateDataKey"},
			jsii.String(fmt.Sprintf("arn:%s:kms:%s:%s:key/*", *d.stack.Partition(), s.Replica.Region, s.Account))))),
	} {
		role.AddToPolicy(statement)
	}
	accept(role.Node().FindChild(jsii.String("DefaultPolicy")),
		finding{"AwsSolutions-IAM5", "It copies all files. The key of the other region is known by its alias, which " +
			"the condition names."})
	within := map[string]any{"Minutes": 15}
	bucket := d.media.Node().DefaultChild().(awss3.CfnBucket)
	bucket.AddPropertyOverride(jsii.String("ReplicationConfiguration"),
		map[string]any{"Role": role.RoleArn(), "Rules": []any{map[string]any{
			"Id": replicaRule, "Status": "Enabled", "Priority": 1, "Filter": map[string]any{"Prefix": ""},
			"DeleteMarkerReplication": map[string]any{"Status": "Enabled"},
			"SourceSelectionCriteria": map[string]any{"SseKmsEncryptedObjects": map[string]any{"Status": "Enabled"}},
			"Destination": map[string]any{
				"Bucket": there, "EncryptionConfiguration": map[string]any{"ReplicaKmsKeyID": standbyKey(d.stack, s)},
				"ReplicationTime": map[string]any{"Status": "Enabled", "Time": within},
				"Metrics":         map[string]any{"Status": "Enabled", "EventThreshold": within},
			},
		}}})
}
