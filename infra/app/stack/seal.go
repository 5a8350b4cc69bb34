package stack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/topology"
)

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
