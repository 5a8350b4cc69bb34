package stack

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// lambdas makes the functions of one stack. Each has its own log group, and a role with only
// the permissions of its entry in topology.Functions.
type lambdas struct {
	stack  awscdk.Stack
	data   *data
	queues map[topology.Queue]awssqs.Queue
	alarms alarms
	// releases move the callers of the functions to new versions.
	releases *releases
	// made are the functions by their names.
	made map[string]awslambda.Function
	// trainer is the role by which Bedrock trains models, or nil if it trains none.
	trainer awsiam.Role
}

// new makes a function, and returns the alias by which others call it.
func (l lambdas) new(f topology.Function) awslambda.IFunction {
	s := l.data.settings
	logs := newLogGroup(l.stack, s, l.data.key, topology.Title(f.Name)+"Log")
	var roleName *string
	if f.May(topology.AssumeRoles) {
		roleName = jsii.String(s.RoleName(f.Name))
	}
	role := awsiam.NewRole(l.stack, jsii.String(topology.Title(f.Name)+"Role"), &awsiam.RoleProps{
		RoleName:    roleName,
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description: jsii.String("What the function " + f.Name + " of " + s.Customer + " may do"),
	})
	name := s.FunctionName(f.Name)
	for _, statement := range append(l.permissions(f, logs), l.joinPermissions(name)...) {
		role.AddToPolicy(statement)
	}
	architecture := awslambda.Architecture_ARM_64()
	if s.Arch == "x86_64" {
		architecture = awslambda.Architecture_X86_64()
	}
	loop := awslambda.RecursiveLoop_TERMINATE
	if f.Loops() {
		loop = awslambda.RecursiveLoop_ALLOW
	}
	fn := awslambda.NewFunction(l.stack, jsii.String(topology.Title(f.Name)+"Function"), &awslambda.FunctionProps{
		FunctionName: jsii.String(name),
		Code:         awslambda.Code_FromAsset(jsii.String(filepath.Dir(s.Bootstrap(f.Program()))), nil),
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Architecture: architecture,
		Handler:      jsii.String("bootstrap"),
		MemorySize:   jsii.Number(float64(f.Memory)),
		Timeout:      seconds(f.Timeout),
		Environment:  l.environment(f),
		Role:         role,
		LogGroup:     logs,
		// The functions write their own log lines for each run. Lambda only adds errors of its
		// own.
		LoggingFormat:    awslambda.LoggingFormat_JSON,
		SystemLogLevelV2: awslambda.SystemLogLevel_WARN,
		Tracing:          awslambda.Tracing_ACTIVE,
		// Lambda would end a chain of about 16 calls. A long generation has more.
		RecursiveLoop:                loop,
		EphemeralStorageSize:         awscdk.Size_Mebibytes(jsii.Number(float64(max(f.Storage, leastStorage)))),
		ReservedConcurrentExecutions: reserved(s, f),
		// An alias can move back to an earlier version.
		CurrentVersionOptions: &awslambda.VersionOptions{RemovalPolicy: kept(s)},
	})
	if l.made != nil {
		l.made[f.Name] = fn
	}
	if l.data.network != nil {
		l.data.network.join(fn)
	}
	if f.May(topology.RunFFmpeg, topology.DecodePictures, topology.ReadManifests) && !s.Local() {
		fn.AddLayers(l.tools(architecture))
	}
	accept(fn,
		finding{"Serverless-LambdaDLQ", "The queue, the stream or the schedule that calls it has dead letters; the " +
			"gateway waits for its answer."})
	accept(role.Node().FindChild(jsii.String("DefaultPolicy")),
		finding{"AwsSolutions-IAM5", "X-Ray, Polly and network interfaces that do not exist yet have no resources to " +
			"name. Objects of the bucket, invocations and trainings of models and the roles of customers have no " +
			"names yet. An inference profile of Bedrock chooses among the regions of its geography."})
	return l.releases.alias(f, fn, l.alarms)
}

// tools returns the layer with ffmpeg, the fonts and the library of C2PA, for the architecture of the functions.
func (l lambdas) tools(architecture awslambda.Architecture) awslambda.LayerVersion {
	const id = "MediaTools"
	if made := l.stack.Node().TryFindChild(jsii.String(id)); made != nil {
		return made.(awslambda.LayerVersion)
	}
	return awslambda.NewLayerVersion(l.stack, jsii.String(id), &awslambda.LayerVersionProps{
		Code:                    awslambda.Code_FromAsset(jsii.String(l.data.settings.Layer()), nil),
		CompatibleArchitectures: &[]awslambda.Architecture{architecture},
		CompatibleRuntimes:      &[]awslambda.Runtime{awslambda.Runtime_PROVIDED_AL2023()},
		Description:             jsii.String("ffmpeg, fonts and the library of C2PA, with their licences in NOTICE"),
	})
}

// leastStorage is the size of the smallest /tmp, in MiB.
const leastStorage = 512

// reserved returns the concurrency that is kept free for the function, or nil if it shares
// the account's concurrency.
func reserved(s customer.Settings, f topology.Function) *float64 {
	if n := s.Reserved(f); n > 0 {
		return jsii.Number(float64(n))
	}
	return nil
}

func newLogGroup(stack awscdk.Stack, s customer.Settings, key awskms.Key, id string) awslogs.LogGroup {
	return awslogs.NewLogGroup(stack, jsii.String(id), &awslogs.LogGroupProps{
		Retention:     retentions[s.LogRetentionDays],
		EncryptionKey: key,
		RemovalPolicy: kept(s),
	})
}

// environment returns the variables of the function, without the names of resources that it may
// not use.
func (l lambdas) environment(f topology.Function) *map[string]*string {
	s := l.data.settings
	env := map[string]*string{
		"CUSTOMER":  jsii.String(s.Customer),
		"STAGE":     jsii.String(s.Stage),
		"LOG_LEVEL": jsii.String(s.LogLevel),
		// Several functions have the same program.
		needs.FunctionName: jsii.String(f.Name),
	}
	if name := s.Domains[s.Region].PublicName; name != "" && f.Trigger == topology.ByGateway {
		env["PUBLIC_URL"] = jsii.String("https://" + name)
	}
	if l.showsCertificate(f) {
		env["API_URL"] = jsii.String("https://" + s.Domains[s.Region].Name)
		env["CALLER_SECRET"] = arnOf(l.data.caller)
	}
	l.mail(f, env)
	if f.State != nil {
		env["TABLE_NAME"] = l.data.state.TableName()
	}
	if f.Audit != nil {
		env["AUDIT_TABLE_NAME"] = l.data.audit.TableName()
	}
	if f.Media != topology.None || l.trains(f) {
		env["MEDIA_BUCKET"] = l.data.media.BucketName()
	}
	if f.May(topology.SealSecrets, topology.OpenSecrets, topology.CallPlatforms) {
		env["SECRETS_KEY_ARN"] = l.data.secrets.KeyArn()
	}
	if f.ReadsSeal() || f.Trigger == topology.ByRotation {
		env["SEAL_SECRET_ARN"] = arnOf(l.data.seal)
	}
	if f.May(topology.OfferProviders, topology.ForgetPeople) && l.data.federates() {
		env["USER_POOL_ID"] = l.data.signOn.pool.UserPoolId()
	}
	if f.May(topology.PublishEvents) {
		env["BUS_NAME"] = l.data.bus.EventBusName()
	}
	if f.May(topology.ReachAddresses) {
		env["ALLOW_LOOPBACK_WEBHOOKS"] = jsii.String(strconv.FormatBool(s.AllowLoopbackWebhooks))
	}
	if f.May(topology.NameDeliverRole) {
		env["DELIVER_ROLE_ARN"] = jsii.String(fmt.Sprintf("arn:%s:iam::%s:role/%s", *l.stack.Partition(),
			*l.stack.Account(), s.RoleName(topology.Assumer().Name)))
	}
	if f.May(topology.KnowProviders) && len(s.Providers) > 0 { // Lambda takes no empty variables
		env["PROVIDERS"] = jsii.String(strings.Join(s.ProviderList(), ","))
	}
	if f.May(topology.CallProviders) {
		env["PROVIDER_SECRET"] = arnOf(l.data.providers)
	}
	if f.May(topology.ModerateTexts) && s.Guardrail != "" {
		env["GUARDRAIL"] = jsii.String(s.Guardrail)
	}
	if f.May(topology.CallPlatforms) {
		env["PLATFORM_SECRET"] = arnOf(l.data.platforms)
		if s.PlatformEndpoint != "" {
			env["PLATFORM_ENDPOINT"] = jsii.String(s.PlatformEndpoint)
		}
		if s.YouTubeDailyUploads > 0 {
			env["YOUTUBE_DAILY_UPLOADS"] = jsii.String(strconv.Itoa(s.YouTubeDailyUploads))
		}
		if s.XDailyCents > 0 {
			env["X_DAILY_CENTS"] = jsii.String(strconv.Itoa(s.XDailyCents))
		}
		if list := s.PlatformList(); len(list) > 0 {
			env["PLATFORMS"] = jsii.String(strings.Join(list, ","))
		}
	}
	if f.May(topology.ProbeAPI) {
		env["CANARY_SECRET"] = arnOf(l.data.canary)
	}
	if f.May(topology.CallProviders, topology.CallTextModels, topology.ModerateTexts) && s.ProviderEndpoint != "" {
		env["PROVIDER_ENDPOINT"] = jsii.String(s.ProviderEndpoint)
	}
	if l.trains(f) {
		env["TRAINING_ROLE_ARN"] = l.trainer.RoleArn()
		if s.ProviderEndpoint != "" {
			env["PROVIDER_ENDPOINT"] = jsii.String(s.ProviderEndpoint)
		}
	}
	ffmpeg, fonts, library := s.MediaTools()
	if f.May(topology.RunFFmpeg, topology.DecodePictures) {
		env["FFMPEG_PATH"] = jsii.String(ffmpeg)
	}
	if f.May(topology.RunFFmpeg) {
		env["FONTS_PATH"] = jsii.String(fonts)
	}
	if f.May(topology.ReadManifests) {
		env["C2PA_PATH"] = jsii.String(library)
	}
	if f.May(topology.SignMedia, topology.SignDossiers) && l.data.signing != nil {
		env["MEDIA_KEY_ARN"] = l.data.signing.KeyArn()
	}
	for _, q := range f.QueueAddresses() {
		env[q.EnvName()] = l.queues[q].QueueUrl()
	}
	return &env
}

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
	case topology.Add, topology.Write:
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
	case topology.Changes(f.State) || topology.Changes(f.Audit) || f.Media >= topology.Add ||
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

// writesMedia permits to read and list all files of the bucket, to put the function's own files and, if it may write,
// to remove them. Without the permission to list, S3 answers that an object that does not exist is forbidden.
func (l lambdas) writesMedia(f topology.Function) []awsiam.PolicyStatement {
	bucket := l.data.media
	all, list := bucket.ArnForObjects(jsii.String("*")), allow([]string{"s3:ListBucket"}, bucket.BucketArn())
	changes := []string{"s3:PutObject"}
	if f.Media == topology.Write {
		changes = []string{"s3:DeleteObject", "s3:PutObject"}
	}
	if len(f.Files) == 0 {
		return []awsiam.PolicyStatement{allow(append([]string{"s3:GetObject"}, changes...), all), list}
	}
	var own []*string
	for _, pattern := range f.Files {
		own = append(own, bucket.ArnForObjects(jsii.String(pattern)))
	}
	return []awsiam.PolicyStatement{
		allow([]string{"s3:GetObject"}, all), allow(changes, own...), list,
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

// trainable returns the provider's ids of the models that the customer's stack can train.
func trainable(s customer.Settings) (ids []string) {
	if !slices.Contains(s.Providers, bedrock.Name) {
		return nil
	}
	for _, m := range catalog.Models(catalog.Filter{Provider: bedrock.Name}) {
		if m.State == catalog.Available && m.Training != nil && slices.Contains(m.Training.Regions, s.Region) {
			ids = append(ids, m.Training.ProviderModel)
		}
	}
	return ids
}

// trains reports whether the function trains models in this stack.
func (l lambdas) trains(f topology.Function) bool {
	return f.May(topology.TrainModels) && l.trainer != nil
}

// inBedrock returns the ARN of a Bedrock resource in the stack's region and account.
func (l lambdas) inBedrock(resource string) *string {
	return l.bedrockARN(l.data.settings.Region, *l.stack.Account(), resource)
}

// deployments returns the ARN of all deployments of trained models. Bedrock chooses their names.
func (l lambdas) deployments() *string { return l.inBedrock("custom-model-deployment/*") }

// training returns the permissions of the function that trains models.
func (l lambdas) training() []awsiam.PolicyStatement {
	jobs, models := l.inBedrock("model-customization-job/*"), l.inBedrock("custom-model/*")
	created := []*string{jobs, models}
	for _, id := range trainable(l.data.settings) {
		created = append(created, l.bedrockARN(l.data.settings.Region, "", "foundation-model/"+id))
	}
	toBedrock := condition("StringEquals", "iam:PassedToService", bedrockService)
	return []awsiam.PolicyStatement{
		allow([]string{"bedrock:CreateModelCustomizationJob"}, created...),
		allow([]string{"bedrock:GetModelCustomizationJob", "bedrock:StopModelCustomizationJob"}, jobs),
		allow([]string{"bedrock:CreateCustomModelDeployment", "bedrock:DeleteCustomModel"}, models),
		allow([]string{"bedrock:DeleteCustomModelDeployment", "bedrock:GetCustomModelDeployment"}, l.deployments()),
		toBedrock(allow([]string{"iam:PassRole"}, l.trainer.RoleArn())),
		allow([]string{"s3:DeleteObject", "s3:PutObject"}, l.data.media.ArnForObjects(jsii.String(training.Prefix+"*"))),
	}
}

const bedrockService = "bedrock.amazonaws.com"

// newTrainingRole makes the role by which Bedrock reads the samples of trainings and writes
// their metrics, or returns nil if no model can be trained. Only jobs of this account can use
// it.
func (l lambdas) newTrainingRole() awsiam.Role {
	s := l.data.settings
	if len(trainable(s)) == 0 {
		return nil
	}
	role := awsiam.NewRole(l.stack, jsii.String("TrainingRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String(bedrockService),
			&awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
				"StringEquals": map[string]any{"aws:SourceAccount": l.stack.Account()},
				"ArnLike":      map[string]any{"aws:SourceArn": l.inBedrock("model-customization-job/*")},
			}}),
		Description: jsii.String("What Bedrock may do when it trains models of " + s.Customer),
	})
	files := l.data.media.ArnForObjects(jsii.String(training.Prefix + "*"))
	listed := condition("StringLike", "s3:prefix", training.Prefix+"*")
	through := condition("StringEquals", "kms:ViaService", "s3."+s.Region+".amazonaws.com")
	for _, statement := range []awsiam.PolicyStatement{
		allow([]string{"s3:GetObject", "s3:PutObject"}, files),
		listed(allow([]string{"s3:ListBucket"}, l.data.media.BucketArn())),
		through(allow([]string{"kms:Decrypt", "kms:GenerateDataKey"}, l.data.key.KeyArn())),
	} {
		role.AddToPolicy(statement)
	}
	accept(role.Node().FindChild(jsii.String("DefaultPolicy")),
		finding{"AwsSolutions-IAM5", "The files of trainings have no names yet."})
	return role
}

// mailSet is the name of the configuration set of Amazon SES.
func mailSet(s customer.Settings) string { return s.Short() + "-mail" }

// newMailSet makes the rules that e-mails follow: an address that has bounced for good, or whose owner has complained,
// gets no more e-mails of the AWS account.
func newMailSet(stack awscdk.Stack, s customer.Settings) {
	if s.MailSender == "" {
		return
	}
	awscdk.NewCfnResource(stack, jsii.String("MailSet"), &awscdk.CfnResourceProps{
		Type: jsii.String("AWS::SES::ConfigurationSet"),
		Properties: &map[string]any{
			"Name":               mailSet(s),
			"SuppressionOptions": map[string]any{"SuppressedReasons": []string{"BOUNCE", "COMPLAINT"}},
			"ReputationOptions":  map[string]any{"ReputationMetricsEnabled": true},
			"DeliveryOptions":    map[string]any{"TlsPolicy": "REQUIRE"},
		},
	})
}

// mail sets the variables of e-mails.
func (l lambdas) mail(f topology.Function, env map[string]*string) {
	s := l.data.settings
	if s.MailSender == "" {
		return
	}
	if f.May(topology.KnowMail) {
		env["MAIL_SENDER"] = jsii.String(s.MailSender)
	}
	if f.May(topology.SendMail) {
		env["MAIL_SET"], env["PUBLIC_URL"] = jsii.String(mailSet(s)), jsii.String(s.PublicURL())
	}
}

// sendsMail permits sending e-mails from the address of the settings alone.
func (l lambdas) sendsMail() awsiam.PolicyStatement {
	s := l.data.settings
	_, domain, _ := strings.Cut(s.MailSender, "@")
	arn := func(what string) *string {
		return jsii.String(fmt.Sprintf("arn:%s:ses:%s:%s:%s", *l.stack.Partition(), s.Region, *l.stack.Account(), what))
	}
	from := condition("StringEquals", "ses:FromAddress", s.MailSender)
	return from(allow([]string{"ses:SendEmail"}, arn("identity/"+domain), arn("configuration-set/"+mailSet(s))))
}
