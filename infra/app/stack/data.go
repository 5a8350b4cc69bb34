package stack

import (
	"cmp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
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
