package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"
)

// newSealSecret makes the secret that answers are sealed with while they are kept for
// repeats: the table alone does not reveal them.
// CloudFormation generates it and puts it into the functions' environment, so that no
// template holds it, and no call waits for it.
func newSealSecret(stack awscdk.Stack, s Settings, key awskms.Key) awssecretsmanager.Secret {
	return awssecretsmanager.NewSecret(stack, jsii.String("SealSecret"), &awssecretsmanager.SecretProps{
		Description:   jsii.String("What " + s.Customer + "'s stored answers are sealed with"),
		EncryptionKey: key,
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			PasswordLength: jsii.Number(64), ExcludePunctuation: jsii.Bool(true),
		},
		RemovalPolicy: kept(s),
	})
}
