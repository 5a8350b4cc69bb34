package stack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/polly"
	"github.com/content-automation/api/pkg/generate/catalog"
)

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
