package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsxray"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
)

// traced is the part of the calls that are traced. X-Ray's own rule traces five of a
// hundred, which cost as much as all reads of the table, and a reservoir of one call a
// second would trace nearly all calls of a small customer.
const traced = 0.01

// trace sets the part of the calls that are traced. The gateway decides for each call, and the
// functions behind it follow. A function that a queue calls is matched by its own name.
func trace(stack awscdk.Stack, s customer.Settings) {
	if s.Local() {
		return
	}
	any := jsii.String("*")
	awsxray.NewCfnSamplingRule(stack, jsii.String("Sampling"), &awsxray.CfnSamplingRuleProps{
		SamplingRule: &awsxray.CfnSamplingRule_SamplingRuleProperty{
			RuleName: jsii.String(s.Short()), ServiceName: jsii.String(s.Short() + "*"),
			FixedRate: jsii.Number(traced), ReservoirSize: jsii.Number(0), Priority: jsii.Number(1000),
			Version:     jsii.Number(1),
			ServiceType: any, Host: any, HttpMethod: any, UrlPath: any, ResourceArn: any,
		},
	})
}
