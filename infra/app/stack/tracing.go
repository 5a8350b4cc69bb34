package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsxray"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/publishing"
)

// traced is the part of the calls that are traced. X-Ray's own rule traces five of a
// hundred, which cost as much as all reads of the table, and a reservoir of one call a
// second would trace nearly all calls of a small customer.
const traced = 0.01

// trace sets the part of the calls that are traced. The gateway decides for each call, and the
// functions behind it follow. A function that a queue calls is matched by its own name. A trace
// records the path of its call, so that calls with a secret in the path are not traced.
func trace(stack awscdk.Stack, s customer.Settings) {
	if s.Local() {
		return
	}
	rule := func(suffix, path string, rate float64, priority int) {
		any := jsii.String("*")
		awsxray.NewCfnSamplingRule(stack, jsii.String("Sampling"+suffix), &awsxray.CfnSamplingRuleProps{
			SamplingRule: &awsxray.CfnSamplingRule_SamplingRuleProperty{
				RuleName: jsii.String(s.Short() + suffix), ServiceName: jsii.String(s.Short() + "*"),
				FixedRate: jsii.Number(rate), ReservoirSize: jsii.Number(0), Priority: jsii.Number(priority),
				Version:     jsii.Number(1),
				ServiceType: any, Host: any, HttpMethod: any, UrlPath: &path, ResourceArn: any,
			},
		})
	}
	rule("", "*", traced, 1000)
	rule("-r", "*"+publishing.PagePath+"*", 0, 900) // X-Ray may see the stage before the path.
	rule("-h", "*"+crm.HooksPath+"*", 0, 901)
}
