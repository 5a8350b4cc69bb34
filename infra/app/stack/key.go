package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
)

// What a principal needs of the key to use something encrypted with it.
var (
	keyReads  = []string{"kms:Decrypt", "kms:DescribeKey"}
	keyWrites = []string{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"}
)

// newKey makes the customer's key. Everything with the customer's data in it is
// encrypted with it, so that taking the key away takes the data away.
func newKey(stack awscdk.Stack, s customer.Settings) awskms.Key {
	key := awskms.NewKey(stack, jsii.String("Key"), &awskms.KeyProps{
		Description:       jsii.String("Data of " + s.Customer + " in " + s.Region),
		Alias:             jsii.String(s.KeyAlias()),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     kept(s),
	})
	// CloudWatch Logs uses the key under its own name, for this account's log groups alone.
	key.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("LogGroups"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("logs."+s.Region+".amazonaws.com"), nil)},
		// CloudWatch Logs asks for data keys without their plain text, too.
		Actions:   jsii.Strings("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"),
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

// newAlarmKey makes the key of the topic of the alarms. It is apart from the customer's key:
// if that is disabled, the alarms still arrive.
func newAlarmKey(stack awscdk.Stack, s customer.Settings) awskms.Key {
	key := awskms.NewKey(stack, jsii.String("AlarmKey"), &awskms.KeyProps{
		Description: jsii.String("Alarms of " + s.Customer + " in " + s.Region), EnableKeyRotation: jsii.Bool(true), RemovalPolicy: kept(s),
	})
	// Messages reach the encrypted topic only if who sends them may use its key.
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

// newSecretsKey makes the key that the data keys of customers' secrets are wrapped under.
// It is apart from the customer's key: who may read the tables must use that one, by way
// of DynamoDB, and cannot use this one.
func newSecretsKey(stack awscdk.Stack, s customer.Settings) awskms.Key {
	return awskms.NewKey(stack, jsii.String("SecretsKey"), &awskms.KeyProps{
		Description:       jsii.String("Secrets of " + s.Customer + " in " + s.Region),
		Alias:             jsii.String(s.SecretsKeyAlias()),
		EnableKeyRotation: jsii.Bool(true),
		MultiRegion:       replicated(s),
		RemovalPolicy:     kept(s),
	})
}
