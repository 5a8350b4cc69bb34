package stack

import (
	"cmp"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// data is the stack of the resources that must outlive all others.
type data struct {
	stack     awscdk.Stack
	settings  customer.Settings
	key       awskms.Key
	secrets   awskms.IKey // for the data keys of customers' secrets
	signing   awskms.IKey // for the Content Credentials of media; nil in a standby region
	state     awsdynamodb.ITable
	audit     awsdynamodb.ITable
	media     awss3.Bucket
	seal      awssecretsmanager.ISecret
	providers awssecretsmanager.ISecret
	platforms awssecretsmanager.ISecret
	canary    awssecretsmanager.ISecret
	caller    awssecretsmanager.ISecret // nil if the API is called without client certificates
	bus       awsevents.EventBus
	alarms    awssns.Topic // of alarms that can wait
	pages     awssns.Topic // of alarms that wake somebody
	network   *network     // nil if the functions are in no network
	signOn    *signOn      // nil if nobody signs in
}

func newData(app constructs.Construct, s customer.Settings) *data {
	stack := newStack(app, s, "data", "persistent resources: tables, media, the customer's event bus")
	d := &data{stack: stack, settings: s}
	d.key = newKey(stack, s)
	d.media = newMediaBucket(stack, s, d.key)
	if s.Standby() {
		d.useReplicas()
	} else {
		d.makeStores()
	}
	if s.Inside() {
		d.caller = newFilledSecret(stack, s, d.key, "CallerSecret", "Client certificate of the functions of "+s.Customer+
			" that call the API", "An authority of the customer issues the certificate: only it can replace it.")
		output(stack, "CallerSecretArn", arnOf(d.caller))
	}
	d.bus = newBus(stack, s)
	alarmKey := newAlarmKey(stack, s)
	d.alarms = newAlarmTopic(stack, "Alarms", s.AlarmEmail, alarmKey)
	d.pages = newAlarmTopic(stack, "Pages", cmp.Or(s.PageEmail, s.AlarmEmail), alarmKey)
	d.guardKeys()
	d.network = newNetwork(stack, s, d.key)
	d.signOn = newSignOn(stack, s)
	output(stack, "TableName", d.state.TableName())
	output(stack, "AuditTableName", d.audit.TableName())
	output(stack, "MediaBucket", d.media.BucketName())
	output(stack, "BusName", d.bus.EventBusName())
	output(stack, "AlarmTopicArn", d.alarms.TopicArn())
	output(stack, "PageTopicArn", d.pages.TopicArn())
	if d.seal != nil { // A replica may not have been looked up yet.
		output(stack, "ProviderSecretArn", arnOf(d.providers))
		output(stack, "PlatformSecretArn", arnOf(d.platforms))
		output(stack, "CanarySecretArn", arnOf(d.canary))
		output(stack, "SealSecretArn", arnOf(d.seal))
		if d.signing != nil {
			output(stack, "MediaKeyArn", d.signing.KeyArn())
		}
	}
	if !s.Standby() {
		d.backUp()
		d.replicate()
		d.budget()
	}
	return d
}

// makeStores makes the tables, the secrets, and the key of customers' secrets.
func (d *data) makeStores() {
	s, key := d.settings, d.key
	d.secrets = newSecretsKey(d.stack, s)
	if !s.Local() {
		d.signing = newMediaKey(d.stack, s)
	}
	d.state = newStateTable(d.stack, s, key)
	d.audit = newAuditTable(d.stack, s, key)
	d.useRestored()
	d.seal = newSealSecret(d.stack, s, key)
	d.providers = newFilledSecret(d.stack, s, key, "ProviderSecret",
		"Credentials of the generation providers of "+s.Customer, "The providers issue these credentials: only they "+
			"can replace them.")
	d.platforms = newFilledSecret(d.stack, s, key, "PlatformSecret",
		"Applications of "+s.Customer+" at the social platforms", "The platforms issue these credentials: only they "+
			"can replace them.")
	d.canary = newFilledSecret(d.stack, s, key, "CanarySecret",
		"Address and test key of the canary of "+s.Customer, "The operator rotates this key of the API with the "+
			"others of its account.")
}

func newStack(app constructs.Construct, s customer.Settings, part, holds string) awscdk.Stack {
	env := &awscdk.Environment{Region: jsii.String(s.Region)}
	if s.Account != "" {
		env.Account = jsii.String(s.Account)
	}
	name := s.StackName(part)
	stack := awscdk.NewStack(app, jsii.String(name), &awscdk.StackProps{
		StackName:   jsii.String(name),
		Description: jsii.String("Content-Automation API of " + s.Customer + " in " + s.Region + ": " + holds),
		Env:         env,
		Tags: &map[string]*string{
			"service":  jsii.String("content-automation"),
			"customer": jsii.String(s.Customer),
			"stage":    jsii.String(s.Stage),
		},
	})
	if s.PermissionsBoundary != "" {
		boundary := awsiam.ManagedPolicy_FromManagedPolicyArn(stack, jsii.String("PermissionsBoundary"),
			jsii.String(s.PermissionsBoundary))
		awsiam.PermissionsBoundary_Of(stack).Apply(boundary)
	}
	return stack
}

func output(stack awscdk.Stack, name string, value *string) {
	awscdk.NewCfnOutput(stack, jsii.String(name), &awscdk.CfnOutputProps{Value: value})
}

// kept returns the removal policy of a resource with the customer's data. A failed
// deployment still removes the resources that it has made, so that it can be repeated.
func kept(s customer.Settings) awscdk.RemovalPolicy {
	if s.Local() {
		return awscdk.RemovalPolicy_DESTROY
	}
	return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
}

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
		WarmThroughput:      warmThroughput(s),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		RemovalPolicy: kept(s),
	}
}

// warmThroughput returns the throughput that a table or an index has from its first second, or nil for AWS's default.
func warmThroughput(s customer.Settings) *awsdynamodb.WarmThroughput {
	if s.WarmThroughput == nil {
		return nil
	}
	return &awsdynamodb.WarmThroughput{ReadUnitsPerSecond: jsii.Number(s.WarmThroughput.Reads),
		WriteUnitsPerSecond: jsii.Number(s.WarmThroughput.Writes)}
}

func text(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
}

// newMediaBucket makes the private bucket of the media. Callers reach its objects only by
// signed URLs.
func newMediaBucket(stack awscdk.Stack, s customer.Settings, key awskms.Key) awss3.Bucket {
	days := func(n float64) awscdk.Duration { return awscdk.Duration_Days(jsii.Number(n)) }
	log := awss3.NewBucket(stack, jsii.String("MediaLog"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		// S3 can write its logs only to a bucket whose key it manages.
		Encryption:     awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:     jsii.Bool(true),
		Versioned:      jsii.Bool(true),
		RemovalPolicy:  kept(s),
		LifecycleRules: &[]*awss3.LifecycleRule{{Expiration: days(90), NoncurrentVersionExpiration: days(1)}},
	})
	accept(log, finding{"AwsSolutions-S1", "It is the log."})
	var name *string
	if s.Standby() {
		name = jsii.String(s.StandbyBucket()) // The policies of the other region use this name.
	}
	bucket := awss3.NewBucket(stack, jsii.String("Media"), &awss3.BucketProps{
		BucketName:        name,
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_KMS,
		EncryptionKey:     key,
		BucketKeyEnabled:  jsii.Bool(true),
		EnforceSSL:        jsii.Bool(true),
		Versioned:         jsii.Bool(true),
		RemovalPolicy:     kept(s),
		// The log shows who read or changed each object.
		ServerAccessLogsBucket: log,
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:                                  jsii.String("keep-costs-down"),
			AbortIncompleteMultipartUploadAfter: days(1),
			// An overwritten or deleted object can be restored for a month.
			NoncurrentVersionExpiration: days(30),
			// Of a deleted object whose versions are gone, S3 would keep the mark of its deletion.
			ExpiredObjectDeleteMarker: jsii.Bool(true),
			Transitions: &[]*awss3.Transition{{
				StorageClass:    awss3.StorageClass_INTELLIGENT_TIERING(),
				TransitionAfter: days(customer.TierAfterDays),
			}},
		}, {
			// The functions copy the results that providers write here, so the originals can go.
			Id:         jsii.String("forget-raw-results"),
			Prefix:     jsii.String("raw/"),
			Expiration: days(7),
		}, {
			// Providers fetch the inputs of generations within the hour.
			Id:         jsii.String("forget-inputs"),
			Prefix:     jsii.String(media.Inputs),
			Expiration: days(2),
		}, {
			// A training takes at most two days.
			Id:                          jsii.String("forget-samples"),
			Prefix:                      jsii.String(training.Prefix),
			Expiration:                  days(4),
			NoncurrentVersionExpiration: days(1),
		}, {
			// An export or import takes up to a day, and its parts can be fetched for 7 days after that.
			Id:                          jsii.String("forget-exports"),
			Prefix:                      jsii.String(transfer.Exports),
			Expiration:                  days(9),
			NoncurrentVersionExpiration: days(1),
		}, {
			Id:                          jsii.String("forget-imports"),
			Prefix:                      jsii.String(transfer.Imports),
			Expiration:                  days(9),
			NoncurrentVersionExpiration: days(1),
		}, {
			// The functions copy an upload after they have checked it.
			Id:                          jsii.String("forget-uploads"),
			Prefix:                      jsii.String(media.Uploads),
			Expiration:                  days(1),
			NoncurrentVersionExpiration: days(1),
		}},
		// Browsers upload by signed URLs, which permit no other request.
		Cors: &[]*awss3.CorsRule{{
			AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_PUT},
			AllowedOrigins: jsii.Strings("*"),
			AllowedHeaders: jsii.Strings("content-type", "x-amz-checksum-sha256"),
			MaxAge:         jsii.Number(3600),
		}},
	})
	// Set on the resource itself, because the CDK would add a function that runs at each
	// deployment.
	bucket.Node().DefaultChild().(awss3.CfnBucket).SetNotificationConfiguration(
		&awss3.CfnBucket_NotificationConfigurationProperty{
			EventBridgeConfiguration: &awss3.CfnBucket_EventBridgeConfigurationProperty{EventBridgeEnabled: jsii.Bool(
				true)},
		})
	return bucket
}

// lockAfter is the number of days in which an operator can still remove the lock of a vault.
const lockAfter = 3

// backUp makes a backup of the tables and the media every day, in a vault that cannot be
// emptied, and copies the backups to another vault. It does nothing without the setting
// backup.
func (d *data) backUp() {
	b := d.settings.Backup
	if b == nil {
		return
	}
	days := func(n int) map[string]any { return map[string]any{"DeleteAfterDays": n} }
	vault := map[string]any{"BackupVaultName": d.settings.Name(), "EncryptionKeyArn": d.key.KeyArn()}
	if b.Lock {
		vault["LockConfiguration"] = map[string]any{"MinRetentionDays": b.KeepDays, "MaxRetentionDays": b.KeepDays,
			"ChangeableForDays": lockAfter}
	}
	// The CDK package for backups would link the packages of EC2, EFS and RDS.
	add := func(id, kind string, properties map[string]any) awscdk.CfnResource {
		return awscdk.NewCfnResource(d.stack, jsii.String(id),
			&awscdk.CfnResourceProps{Type: jsii.String("AWS::Backup::" + kind), Properties: &properties})
	}
	at := add("Vault", "BackupVault", vault)
	at.ApplyRemovalPolicy(kept(d.settings), nil)
	rule := map[string]any{
		"RuleName": "daily", "TargetBackupVault": at.Ref(), "ScheduleExpression": "cron(0 3 * * ? *)",
		"StartWindowMinutes": 60, "CompletionWindowMinutes": 720, "Lifecycle": days(b.KeepDays),
	}
	if b.CopyTo != "" {
		rule["CopyActions"] = []any{map[string]any{"DestinationBackupVaultArn": b.CopyTo,
			"Lifecycle": days(b.KeepDays)}}
	}
	plan := add("BackupPlan", "BackupPlan",
		map[string]any{"BackupPlan": map[string]any{"BackupPlanName": d.settings.Name(),
			"BackupPlanRule": []any{rule}}})
	role := awsiam.NewRole(d.stack, jsii.String("BackupRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("backup.amazonaws.com"),
			&awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
				"StringEquals": map[string]any{"aws:SourceAccount": d.stack.Account()},
			}}),
		Description: jsii.String("Backs up the data of " + d.settings.Customer),
		ManagedPolicies: &[]awsiam.IManagedPolicy{
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(
				jsii.String("service-role/AWSBackupServiceRolePolicyForBackup")),
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("AWSBackupServiceRolePolicyForS3Backup")),
		},
	})
	accept(role, finding{"AwsSolutions-IAM4", "AWS keeps these policies as AWS Backup needs them."})
	add("BackupSelection", "BackupSelection", map[string]any{"BackupPlanId": plan.Ref(),
		"BackupSelection": map[string]any{
			"SelectionName": "data", "IamRoleArn": role.RoleArn(),
			"Resources": []*string{d.state.TableArn(), d.audit.TableArn(), d.media.BucketArn()},
		}})
	output(d.stack, "BackupVault", at.Ref())
	d.alarmsIn(d.stack).backups(d.settings.Name())
}

// backups adds the alarms for backups and copies that fail.
func (a alarms) backups(vault string) {
	for _, job := range []string{"Backup", "Copy"} {
		options := metric("Sum")
		a.add(job+"sAlarm", alarm{
			says: "A " + map[string]string{"Backup": "backup", "Copy": "copy of a backup"}[job] +
				" has failed. Read the reason at AWS Backup, in the jobs of the vault " + vault + ".",
			runbook: "a-backup-failed",
			metric: awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
				Namespace: jsii.String("AWS/Backup"), MetricName: jsii.String("NumberOf" + job + "JobsFailed"),
				DimensionsMap: &map[string]*string{"BackupVaultName": jsii.String(vault)}, Statistic: options.Statistic,
				Period: options.Period,
			}),
			above: 0,
		})
	}
}

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
