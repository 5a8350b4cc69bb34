package orchestrator

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Operators are the settings of the operators' account.
type Operators struct {
	Account string `json:"account"`
	// Organization may read the templates and the code.
	Organization string `json:"organization"`
}

var (
	accountShape      = regexp.MustCompile(`^\d{12}$`)
	organizationShape = regexp.MustCompile(`^o-[a-z0-9]{10,32}$`)
)

// Read reads the settings from the context value operators.
func Read(context func(key string) any) (o Operators, err error) {
	text, err := json.Marshal(context("operators"))
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	switch {
	case err != nil:
		return o, fmt.Errorf("operators is no object with account and organization: %w", err)
	case !accountShape.MatchString(o.Account):
		return o, fmt.Errorf("operators.account is the number of an AWS account, not %q", o.Account)
	case !organizationShape.MatchString(o.Organization):
		return o, fmt.Errorf("operators.organization is the id of an organization such as o-1a2b3c4d5e, not %q",
			o.Organization)
	}
	return o, nil
}

// Buckets is the beginning of the names of the buckets, which end with their regions.
func (o Operators) Buckets() string { return "content-automation-releases-" + o.Account }

// Bucket is the name of the bucket of a region.
func (o Operators) Bucket(region string) string {
	return o.Buckets() + "-" + region
}

// The names in the account of the operators. RoleName is the one that the deploy roles of cells trust.
const (
	TableName = "content-automation-cells"
	RoleName  = "content-automation-orchestrator"
	machine   = "content-automation-waves"
	deploying = "deploy"
)

// StackName is the name of the stack of a region.
func StackName(region string) string { return "content-automation-orchestrator-" + region }

// MachineARN is the ARN of the state machine of a region.
func (o Operators) MachineARN(region string) string {
	return fmt.Sprintf("arn:aws:states:%s:%s:stateMachine:%s", region, o.Account, machine)
}

// keepDays is the age at which templates and code of earlier releases go.
const keepDays = 90

// Add adds the stack of a region to the app.
func Add(app constructs.Construct, o Operators, region string) awscdk.Stack {
	stack := awscdk.NewStack(app, jsii.String(StackName(region)), &awscdk.StackProps{
		StackName:             jsii.String(StackName(region)),
		Description:           jsii.String("Content-Automation API: the orchestrator of the cells in " + region),
		Env:                   &awscdk.Environment{Account: &o.Account, Region: &region},
		TerminationProtection: jsii.Bool(true),
	})
	bucket := awss3.NewBucket(stack, jsii.String("Releases"), &awss3.BucketProps{
		BucketName: jsii.String(o.Bucket(region)), EnforceSSL: jsii.Bool(true),
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(), RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
		LifecycleRules: &[]*awss3.LifecycleRule{{Expiration: awscdk.Duration_Days(jsii.Number(keepDays)),
			AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1))}},
	})
	// CloudFormation and Lambda read as the role of a cell.
	bucket.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("s3:GetObject"), Resources: &[]*string{bucket.ArnForObjects(jsii.String("*"))},
		Principals: &[]awsiam.IPrincipal{awsiam.NewOrganizationPrincipal(&o.Organization)},
	}))
	table := awsdynamodb.NewTable(stack, jsii.String("Cells"), &awsdynamodb.TableProps{
		TableName: jsii.String(TableName), BillingMode: awsdynamodb.BillingMode_PAY_PER_REQUEST,
		PartitionKey:  &awsdynamodb.Attribute{Name: jsii.String("cell"), Type: awsdynamodb.AttributeType_STRING},
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true)},
	})
	role := awsiam.NewRole(stack, jsii.String("Role"), &awsiam.RoleProps{
		RoleName: jsii.String(RoleName + "-" + region),
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("states.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": o.Account}}}),
	})
	allow := func(actions []string, resources ...*string) {
		role.AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...),
			Resources: &resources}))
	}
	allow([]string{"sts:AssumeRole"}, jsii.String("arn:aws:iam::*:role/"+deploying))
	allow([]string{"s3:GetObject"}, bucket.ArnForObjects(jsii.String("waves/*")))
	allow([]string{"dynamodb:UpdateItem"}, table.TableArn())
	// A distributed map starts executions of its own machine.
	allow([]string{"states:StartExecution"}, jsii.String(o.MachineARN(region)))
	execution := fmt.Sprintf("arn:aws:states:%s:%s:execution:%s", region, o.Account, machine)
	allow([]string{"states:DescribeExecution", "states:StopExecution"}, jsii.String(execution+"/*"),
		jsii.String(execution+":*"))
	made := awsstepfunctions.NewCfnStateMachine(stack, jsii.String("Waves"), &awsstepfunctions.CfnStateMachineProps{
		StateMachineName: jsii.String(machine), StateMachineType: jsii.String("STANDARD"), RoleArn: role.RoleArn(),
		DefinitionString: jsii.String(Text(TableName)),
		TracingConfiguration: &awsstepfunctions.CfnStateMachine_TracingConfigurationProperty{
			Enabled: jsii.Bool(false)},
	})
	made.Node().AddDependency(role)
	return stack
}
