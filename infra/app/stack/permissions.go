package stack

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// The partitions of API keys, of people, of their secrets and subjects, and of the counts of their calls.
var (
	countItems  = credential.Counts("*")
	keyItems    = credential.Keys("*")
	peopleItems = credential.People("*")
	secretItems = credential.Secrets("*")
	usageItems  = credential.Usages("*")
)

// accessItems are the partitions of the items that decide about access, and about the
// receivers of events and posts: accounts, API keys, people, sign-on connections, webhooks,
// social accounts, and stored answers; and of those that act later: automations, integrations,
// profiles and review links.
var accessItems = slices.Concat([]string{
	id.Account + "_*", "answer#*", countItems, "keycount#*", keyItems, peopleItems, secretItems, "secrets#*", id.SocialAccount +
		"_*", usageItems, id.Webhook + "_*", id.Automation + "_*", id.Integration + "_*", id.Profile + "_*",
	id.ReviewLink + "_*",
}, signOnItems)

// signOnItems are the partitions of the items that decide who is a person of an account, except
// the people themselves, whose names other functions show.
var signOnItems = []string{
	id.Connection + "_*", connection.Directories("*"), connection.Domains("*"), connection.Setups("*"),
	person.Counts("*"), person.Emails("*"), person.Invitations("*"), person.Owners("*"), session.Items("*"),
	session.Handovers("*"),
}

// permissions returns the permissions of a function. They are written out because the grants
// of the CDK use wildcards in actions, and permit more than the functions need.
func (l lambdas) permissions(f topology.Function, logs awslogs.LogGroup) []awsiam.PolicyStatement {
	d := l.data
	all := []awsiam.PolicyStatement{
		allow([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, logs.LogGroupArn()),
	}
	all = append(all, l.state(f)...)
	all = append(all, l.auditLog(f)...)
	objects := d.media.ArnForObjects(jsii.String("*"))
	switch f.Media {
	case topology.Read:
		all = append(all, allow([]string{"s3:GetObject"}, objects))
	case topology.Write:
		all = append(all, l.writesMedia(f)...)
	}
	if f.May(topology.SignUploads) {
		all = append(all, allow([]string{"s3:PutObject"}, d.media.ArnForObjects(jsii.String(media.Uploads+"*"))))
	}
	if f.May(topology.StoreInputs) {
		all = append(all, allow([]string{"s3:PutObject"}, d.media.ArnForObjects(jsii.String(media.Inputs+"*"))))
	}
	for trigger, table := range map[topology.Trigger]awsdynamodb.ITable{topology.ByStream: d.state,
		topology.ByAuditStream: d.audit} {
		if f.Trigger == trigger {
			all = append(all, allow([]string{"dynamodb:DescribeStream", "dynamodb:GetRecords",
				"dynamodb:GetShardIterator", "dynamodb:ListStreams"},
				table.TableStreamArn()))
		}
	}
	for _, q := range f.Consumes {
		all = append(all, allow([]string{"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes",
			"sqs:ReceiveMessage"},
			l.queues[q].QueueArn()))
	}
	for _, q := range f.Sends {
		all = append(all, allow([]string{"sqs:SendMessage"}, l.queues[q].QueueArn()))
	}
	if f.May(topology.PublishEvents) {
		all = append(all, allow([]string{"events:PutEvents"}, d.bus.EventBusArn()))
	}
	if f.May(topology.AssumeRoles) {
		// The accounts of customers are not known here. The trust policy of their role permits
		// assuming it, and its name must show its purpose.
		elsewhere := condition("StringNotEquals", "aws:ResourceAccount", *l.stack.Account())
		all = append(all, elsewhere(allow([]string{"sts:AssumeRole"},
			jsii.String(fmt.Sprintf("arn:%s:iam::*:role/%s*", *l.stack.Partition(), webhook.RolePrefix)))))
	}
	if f.May(topology.CallProviders) {
		all = append(all, l.providers()...)
	}
	if f.May(topology.ModerateTexts) {
		all = append(all, l.guardrail()...)
	}
	if f.May(topology.CallTextModels) && slices.Contains(d.settings.Providers, bedrock.Name) {
		all = append(all, allow([]string{"bedrock:InvokeModel"}, l.bedrockModels(provider.KindText)...))
	}
	if l.trains(f) {
		all = append(all, l.training()...)
	}
	if f.May(topology.SendMail) && d.settings.MailSender != "" {
		all = append(all, l.sendsMail())
	}
	if f.ReadsSeal() {
		all = append(all, allow([]string{"secretsmanager:GetSecretValue"}, arnOf(d.seal)))
	}
	if f.Trigger == topology.ByRotation {
		all = append(all, allow([]string{"secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue",
			"secretsmanager:PutSecretValue", "secretsmanager:UpdateSecretVersionStage"}, arnOf(d.seal)))
	}
	if f.May(topology.ProbeAPI) {
		all = append(all, l.probes(f)...)
	}
	if l.showsCertificate(f) {
		all = append(all, allow([]string{"secretsmanager:GetSecretValue"}, arnOf(d.caller)))
	}
	if f.May(topology.SealSecrets) {
		all = append(all, l.forPurpose(seal.ForSigning, "kms:GenerateDataKey"))
	}
	if f.May(topology.OpenSecrets) {
		all = append(all, l.forPurpose(seal.ForSigning, "kms:Decrypt"))
	}
	if f.May(topology.CallPlatforms) {
		all = append(all, allow([]string{"secretsmanager:GetSecretValue"}, arnOf(d.platforms)),
			l.forPurpose(seal.ForTokens, "kms:Decrypt", "kms:GenerateDataKey"))
	}
	if f.May(topology.OfferProviders) && d.federates() {
		all = append(all, allow([]string{"cognito-idp:DeleteIdentityProvider", "cognito-idp:DescribeUserPoolClient",
			"cognito-idp:ListIdentityProviders", "cognito-idp:ListUserPoolClients", "cognito-idp:UpdateUserPoolClient"},
			d.signOn.pool.UserPoolArn()))
	}
	if f.May(topology.ForgetPeople) && d.federates() {
		all = append(all, allow([]string{"cognito-idp:AdminDeleteUser", "cognito-idp:ListUsers"},
			d.signOn.pool.UserPoolArn()))
	}
	if f.May(topology.SignMedia) && d.signing != nil {
		all = append(all, condition("StringEquals", "kms:SigningAlgorithm", "ECDSA_SHA_256")(allow([]string{"kms:Sign"},
			d.signing.KeyArn())))
	}
	if f.May(topology.SignDossiers) && d.signing != nil {
		all = append(all, condition("StringEquals", "kms:SigningAlgorithm", "ECDSA_SHA_256")(allow([]string{"kms:Sign"},
			d.signing.KeyArn())), allow([]string{"kms:GetPublicKey"}, d.signing.KeyArn()))
	}
	through := condition("StringEquals", "kms:ViaService", l.keyServices(f)...)
	switch {
	case topology.Changes(f.State) || topology.Changes(f.Audit) || f.Media == topology.Write ||
		f.Trigger == topology.ByRotation || f.May(topology.StoreInputs, topology.SignUploads) || l.trains(f):
		all = append(all, through(allow(keyWrites, d.key.KeyArn())))
	case f.State != nil || f.Audit != nil || f.Media == topology.Read || f.Follows() || f.FollowsAudit() ||
		l.showsCertificate(f):
		all = append(all, through(allow(keyReads, d.key.KeyArn())))
	}
	return all
}

// showsCertificate reports whether the function calls the API with a client certificate.
func (l lambdas) showsCertificate(f topology.Function) bool {
	return l.data.caller != nil && f.May(topology.CallAPI)
}

// writesMedia permits to read and list all files of the bucket, and to put and remove the
// function's own files. Without the permission to list, S3 answers that an object that does not
// exist is forbidden.
func (l lambdas) writesMedia(f topology.Function) []awsiam.PolicyStatement {
	bucket := l.data.media
	all, list := bucket.ArnForObjects(jsii.String("*")), allow([]string{"s3:ListBucket"}, bucket.BucketArn())
	if len(f.Files) == 0 {
		return []awsiam.PolicyStatement{allow([]string{"s3:DeleteObject", "s3:GetObject", "s3:PutObject"}, all), list}
	}
	var own []*string
	for _, pattern := range f.Files {
		own = append(own, bucket.ArnForObjects(jsii.String(pattern)))
	}
	return []awsiam.PolicyStatement{
		allow([]string{"s3:GetObject"}, all), allow([]string{"s3:DeleteObject", "s3:PutObject"}, own...), list,
	}
}

// state permits the function's uses of the state table.
func (l lambdas) state(f topology.Function) []awsiam.PolicyStatement {
	arn := l.data.state.TableArn()
	if f.CredentialsOnly {
		counts := condition("ForAllValues:StringLike", "dynamodb:LeadingKeys", countItems, keyItems,
			peopleItems, secretItems, usageItems)
		secrets := condition("ForAllValues:StringLike", "dynamodb:LeadingKeys", peopleItems, secretItems)
		return []awsiam.PolicyStatement{counts(allow([]string{"dynamodb:UpdateItem"}, arn)),
			secrets(allow([]string{"dynamodb:GetItem"}, arn))}
	}
	all := uses(f.State, l.data.state, store.StateIndexes)
	switch {
	case f.DecodesFiles:
		all = append(all, deny(all, arn, accessItems...))
	case f.State != nil && !f.May(topology.ManageKeySecrets):
		// Whoever can write the secret of an API key, or who is a person, can act as any account.
		all = append(all, deny(all, arn, append([]string{secretItems}, signOnItems...)...))
	}
	return all
}

// deny denies the permitted actions for the items of some partitions.
func deny(permitted []awsiam.PolicyStatement, table *string, partitions ...string) awsiam.PolicyStatement {
	var actions []*string
	for _, s := range permitted {
		actions = append(actions, *s.Actions()...)
	}
	of := condition("ForAnyValue:StringLike", "dynamodb:LeadingKeys", partitions...)
	return of(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Effect: awsiam.Effect_DENY, Actions: &actions,
		Resources: &[]*string{table}}))
}

// probes permits reading the target of the canary, and the models of Bedrock, which have no resources.
func (l lambdas) probes(f topology.Function) []awsiam.PolicyStatement {
	all := []awsiam.PolicyStatement{allow([]string{"secretsmanager:GetSecretValue"}, arnOf(l.data.canary))}
	if f.May(topology.WatchModels) && slices.Contains(l.data.settings.Providers, bedrock.Name) {
		all = append(all, allow([]string{"bedrock:ListFoundationModels"}, jsii.String("*")))
	}
	return all
}

// keyServices returns the services that use the customer's key for the function. The function
// cannot use the key directly.
func (l lambdas) keyServices(f topology.Function) []string {
	var services []string
	for name, uses := range map[string]bool{
		"dynamodb": f.State != nil || f.Audit != nil || f.Follows() || f.FollowsAudit(),
		"s3":       f.Media != topology.None || f.May(topology.StoreInputs) || l.trains(f),
		"secretsmanager": f.May(topology.CallProviders, topology.CallPlatforms, topology.ProbeAPI) || f.ReadsSeal() ||
			f.Trigger == topology.ByRotation || l.showsCertificate(f),
	} {
		if uses {
			services = append(services, name+"."+l.data.settings.Region+".amazonaws.com")
		}
	}
	slices.Sort(services)
	return services
}

// forPurpose permits actions with the data keys of one kind of customers' secrets.
func (l lambdas) forPurpose(purpose string, actions ...string) awsiam.PolicyStatement {
	only := condition("StringEquals", "kms:EncryptionContext:purpose", purpose)
	return only(allow(actions, l.data.secrets.KeyArn()))
}

// condition returns a function that adds a condition to a statement.
func condition(operator, key string, values ...string) func(awsiam.PolicyStatement) awsiam.PolicyStatement {
	return func(s awsiam.PolicyStatement) awsiam.PolicyStatement {
		s.AddCondition(jsii.String(operator), map[string]any{key: values})
		return s
	}
}

// auditLog permits at most to append to the audit log.
func (l lambdas) auditLog(f topology.Function) []awsiam.PolicyStatement {
	reads := slices.DeleteFunc(slices.Clone(f.Audit), func(u topology.Use) bool { return u == topology.Put })
	all := uses(reads, l.data.audit, store.AuditIndexes)
	if !slices.Contains(f.Audit, topology.Put) {
		return all
	}
	return append(all, allow([]string{"dynamodb:PutItem"}, l.data.audit.TableArn()))
}

// uses permits uses of a table. Only lists read indexes.
func uses(of []topology.Use, table awsdynamodb.ITable, indexes []store.Index) []awsiam.PolicyStatement {
	var all []awsiam.PolicyStatement
	var items []string
	arns := []*string{table.TableArn()}
	for _, x := range indexes {
		arns = append(arns, jsii.String(fmt.Sprintf("%s/index/%s", *table.TableArn(), x.Name())))
	}
	for _, u := range of {
		action := "dynamodb:" + string(u)
		if u == topology.List {
			all = append(all, allow([]string{action}, arns...))
		} else {
			items = append(items, action)
		}
	}
	if len(items) > 0 {
		all = append(all, allow(items, table.TableArn()))
	}
	return all
}

func allow(actions []string, resources ...*string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings(actions...),
		Resources: &resources,
	})
}
