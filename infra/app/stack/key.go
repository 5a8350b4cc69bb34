package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
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
