package stack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/polly"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// The actions with the key that a principal needs to use data encrypted with it.
var (
	keyReads  = []string{"kms:Decrypt", "kms:DescribeKey"}
	keyWrites = []string{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom",
		"kms:ReEncryptTo"}
)

// newKey makes the customer's key. All of the customer's data is encrypted with it, so that
// nobody can read the data without the key.
func newKey(stack awscdk.Stack, s customer.Settings) awskms.Key {
	key := awskms.NewKey(stack, jsii.String("Key"), &awskms.KeyProps{
		Description:       jsii.String("Data of " + s.Customer + " in " + s.Region),
		Alias:             jsii.String(s.KeyAlias()),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     kept(s),
	})
	// CloudWatch Logs uses the key as its own principal, only for the log groups of this account.
	key.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid: jsii.String("LogGroups"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("logs."+s.Region+
			".amazonaws.com"), nil)},
		// CloudWatch Logs also requests data keys without their plain text.
		Actions: jsii.Strings("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*",
			"kms:ReEncrypt*"),
		Resources: jsii.Strings("*"),
		Conditions: &map[string]any{
			"ArnLike": map[string]any{
				"kms:EncryptionContext:aws:logs:arn": stack.FormatArn(&awscdk.ArnComponents{
					Service:      jsii.String("logs"),
					Resource:     jsii.String("log-group"),
					ResourceName: jsii.String("*"),
					ArnFormat:    awscdk.ArnFormat_COLON_RESOURCE_NAME,
				}),
			},
		},
	}), nil)
	return key
}

// newAlarmKey makes the key of the topic of the alarms. It is not the customer's key, so that
// alarms arrive even if that key is disabled.
func newAlarmKey(stack awscdk.Stack, s customer.Settings) awskms.Key {
	key := awskms.NewKey(stack, jsii.String("AlarmKey"), &awskms.KeyProps{
		Description: jsii.String("Alarms of " + s.Customer + " in " + s.Region), EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy: kept(s),
	})
	// A service can send messages to the encrypted topic only if it may use the topic's key.
	key.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("Alarms"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("kms:Decrypt", "kms:GenerateDataKey"),
		Resources:  jsii.Strings("*"),
		Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": stack.Account()},
		},
	}), nil)
	key.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("Keys"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil)},
		Actions:    jsii.Strings("kms:Decrypt", "kms:GenerateDataKey"),
		Resources:  jsii.Strings("*"),
	}), nil)
	return key
}

// newMediaKey makes the key that signs the Content Credentials of media and the dossiers of posts. Its private half
// never leaves KMS. Such keys cannot rotate by themselves: another key would need another certificate.
func newMediaKey(stack awscdk.Stack, s customer.Settings) awskms.Key {
	key := awskms.NewKey(stack, jsii.String("MediaKey"), &awskms.KeyProps{
		Description:   jsii.String("Content Credentials and dossiers of " + s.Customer + " in " + s.Region),
		Alias:         jsii.String(s.MediaKeyAlias()),
		KeySpec:       awskms.KeySpec_ECC_NIST_P256,
		KeyUsage:      awskms.KeyUsage_SIGN_VERIFY,
		RemovalPolicy: kept(s),
	})
	accept(key, finding{"AwsSolutions-KMS5", "Asymmetric keys of KMS do not rotate."})
	return key
}

// newSecretsKey makes the key that wraps the data keys of customers' secrets. It is not the
// customer's key: whoever may read the tables must use that key through DynamoDB, and cannot
// use this one.
func newSecretsKey(stack awscdk.Stack, s customer.Settings) awskms.Key {
	return awskms.NewKey(stack, jsii.String("SecretsKey"), &awskms.KeyProps{
		Description:       jsii.String("Secrets of " + s.Customer + " in " + s.Region),
		Alias:             jsii.String(s.SecretsKeyAlias()),
		EnableKeyRotation: jsii.Bool(true),
		MultiRegion:       replicated(s),
		RemovalPolicy:     kept(s),
	})
}

// newSealSecret makes the secret that seals the stored answers for repeated calls, so that the
// table alone does not reveal them. CloudFormation generates its value, so that no template
// holds it. The functions read it when they first need it.
func newSealSecret(stack awscdk.Stack, s customer.Settings, key awskms.Key) awssecretsmanager.Secret {
	secret := awssecretsmanager.NewSecret(stack, jsii.String("SealSecret"), &awssecretsmanager.SecretProps{
		Description:   jsii.String("What " + s.Customer + "'s stored answers are sealed with"),
		EncryptionKey: key,
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			PasswordLength: jsii.Number(64), ExcludePunctuation: jsii.Bool(true),
		},
		RemovalPolicy: kept(s),
	})
	accept(secret, finding{"AwsSolutions-SMG4", "The stack of the function that rotates it has the schedule."})
	return secret
}

// rotate makes Secrets Manager rotate the sealing secret by the function. The local AWS does
// not call functions for rotations.
func (w *work) rotate(fn awslambda.IFunction, f topology.Function, d *data) {
	if d.settings.Local() {
		return
	}
	permission := awslambda.NewCfnPermission(w.stack, jsii.String(topology.Title(f.Name)+"Permission"),
		&awslambda.CfnPermissionProps{
			Action: jsii.String("lambda:InvokeFunction"), FunctionName: fn.FunctionArn(),
			Principal: jsii.String("secretsmanager.amazonaws.com"), SourceAccount: w.stack.Account(),
		})
	schedule := awssecretsmanager.NewCfnRotationSchedule(w.stack, jsii.String(topology.Title(f.Name)+"Schedule"),
		&awssecretsmanager.CfnRotationScheduleProps{
			SecretId: arnOf(d.seal), RotationLambdaArn: fn.FunctionArn(), RotateImmediatelyOnUpdate: jsii.Bool(false),
			RotationRules: &awssecretsmanager.CfnRotationSchedule_RotationRulesProperty{
				ScheduleExpression: jsii.String(fmt.Sprintf("rate(%d days)", int(f.Every.Hours())/24)),
			},
		})
	// Secrets Manager checks that it may call the function.
	schedule.AddDependency(permission)
}

// newFilledSecret makes an empty secret that an operator fills, so that no template ever
// holds its value. The reason says why nothing rotates it.
func newFilledSecret(stack awscdk.Stack, s customer.Settings, key awskms.Key, id, description,
	reason string) awssecretsmanager.Secret {
	secret := awssecretsmanager.NewSecret(stack, jsii.String(id), &awssecretsmanager.SecretProps{
		Description:       jsii.String(description),
		EncryptionKey:     key,
		SecretStringValue: awscdk.SecretValue_UnsafePlainText(jsii.String("{}")),
		RemovalPolicy:     kept(s),
	})
	accept(secret, finding{"AwsSolutions-SMG4", reason})
	return secret
}

// arnOf returns the ARN of a secret. On AWS, a reference would be the same. On the local
// system, a reference is a name, which no permission matches.
func arnOf(secret awssecretsmanager.ISecret) *string {
	if secret.Node().DefaultChild() == nil { // the secret is a replica
		return secret.SecretArn()
	}
	return secret.Node().DefaultChild().(awssecretsmanager.CfnSecret).AttrId()
}

// providers returns the permissions that a function needs to call the configured providers.
func (l lambdas) providers() []awsiam.PolicyStatement {
	all := []awsiam.PolicyStatement{
		allow([]string{"secretsmanager:GetSecretValue"}, arnOf(l.data.providers)),
	}
	configured := l.data.settings.Providers
	if slices.Contains(configured, bedrock.Name) {
		all = append(all, l.bedrock()...)
	}
	if slices.Contains(configured, polly.Name) {
		// The actions for speech have no resource type.
		all = append(all, allow(speechActions, jsii.String("*")))
	}
	return all
}

var speechActions = []string{"polly:GetSpeechSynthesisTask", "polly:StartSpeechSynthesisTask", "polly:SynthesizeSpeech"}

// bedrock permits the use of the catalog's models in the region. An asynchronous
// invocation, which makes a video, has its own ARN.
func (l lambdas) bedrock() []awsiam.PolicyStatement {
	invocations := l.bedrockARN(l.data.settings.Region, *l.stack.Account(), "async-invoke/*")
	return []awsiam.PolicyStatement{
		// StartAsyncInvoke is permitted by the action InvokeModel.
		allow([]string{"bedrock:InvokeModel"}, append(l.bedrockModels(""), invocations)...),
		allow([]string{"bedrock:GetAsyncInvoke"}, invocations),
	}
}

// guardrail permits moderating texts, if the stack has a guardrail.
func (l lambdas) guardrail() []awsiam.PolicyStatement {
	id, _, ok := strings.Cut(l.data.settings.Guardrail, ":")
	if !ok {
		return nil
	}
	return []awsiam.PolicyStatement{allow([]string{"bedrock:ApplyGuardrail"},
		l.bedrockARN(l.data.settings.Region, *l.stack.Account(), "guardrail/"+id))}
}

// bedrockModels returns the region's models of a kind, or of all kinds if it is empty, with the
// trained models of factories.
func (l lambdas) bedrockModels(kind provider.Kind) (models []*string) {
	region, everywhere := l.data.settings.Region, l.data.settings.GlobalProfiles
	for _, m := range catalog.Models(catalog.Filter{Provider: bedrock.Name, Kind: kind}) {
		if m.State == catalog.Retired || !m.In(region, everywhere) {
			continue
		}
		arns := []*string{l.bedrockARN(region, "", "foundation-model/"+m.ProviderModel)}
		if name := provider.ProfileIn(region, m.ProviderOptions, everywhere); name != "" {
			arns = []*string{l.bedrockARN(region, *l.stack.Account(), "inference-profile/"+name+"."+m.ProviderModel)}
			// AWS chooses a region of the profile, and calls the model itself there.
			for _, to := range provider.RegionsOf(name) {
				arns = append(arns, l.bedrockARN(to, "", "foundation-model/"+m.ProviderModel))
			}
		}
		models = append(models, arns...)
	}
	if kind == "" && len(trainable(l.data.settings)) > 0 {
		models = append(models, l.deployments())
	}
	return models
}

func (l lambdas) bedrockARN(region, account, resource string) *string {
	return jsii.String(fmt.Sprintf("arn:%s:bedrock:%s:%s:%s", *l.stack.Partition(), region, account, resource))
}
