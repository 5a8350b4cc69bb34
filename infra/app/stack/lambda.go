package stack

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
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
