// Package stack has the constructs of the CDK app. One customer in one region has four stacks, each deployed after the
// one before it: the stored data (data), the asynchronous path (work), the functions that answer calls (areas), and the
// gateway with its authorizer and the account area (api).
//
// # The size of the stacks
//
// CloudFormation takes 500 resources in a stack, and a test bounds each of these at 400. Most of api are paths of the
// gateway: a new path takes about two resources. A function takes about ten: its role, policy and log, its version and
// alias, the release with its alarm, and the alarm of its errors. The permission of the gateway to call it is in api.
//
// A function stays in its stack, as names of functions are fixed and no resource moves between stacks in a deployment.
package stack

import (
	"fmt"
	"os"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsxray"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
)

// Add adds the customer's stacks to the app. The routes are the operations that need a key;
// api.PublicRoutes has the others.
func Add(app constructs.Construct, s customer.Settings, routes []httpapi.Route) error {
	if err := s.Built(); err != nil {
		return err
	}
	if err := s.Ready(); err != nil {
		return err
	}
	functions, err := functionOf(routes)
	if err != nil {
		return err
	}
	d := newData(app, s)
	if s.Replicated() {
		// The replicas of the tables and files are encrypted with the key of that stack.
		d.stack.AddDependency(newData(app, s.There()).stack, nil)
	}
	work := newWork(app, d)
	areas := newAreas(app, d)
	// The API has an operation once there are the functions that do its work.
	areas.AddDependency(work.stack, nil)
	newAPI(app, d, areas, functions)
	return nil
}

// besideGateway reports whether a function is in the stack of the gateway. The authorizer is, and so are functions that
// know the client of the user pool, which redirects to an address of the gateway.
func besideGateway(f topology.Function) bool {
	return f.Trigger == topology.AsAuthorizer || f.May(topology.SignPeopleIn)
}

// newAreas makes the stack of the functions that answer calls of the gateway, but for those beside it.
func newAreas(app constructs.Construct, d *data) awscdk.Stack {
	stack := newStack(app, d.settings, "areas", "the functions that answer calls of the public interface")
	functions := d.lambdasIn(stack)
	for _, f := range topology.Functions {
		if f.Trigger == topology.ByGateway && !besideGateway(f) {
			functions.new(f)
		}
	}
	if d.signOn != nil {
		d.signOn.nameIssuer(functions)
	}
	functions.releases.guard()
	return stack
}

// lambdasIn returns the functions of a stack of the public interface, with none made.
func (d *data) lambdasIn(stack awscdk.Stack) lambdas {
	return lambdas{stack: stack, data: d, alarms: d.alarmsIn(stack),
		releases: &releases{stack: stack, settings: d.settings}, made: map[string]awslambda.Function{}}
}

// elsewhere returns a function of another stack as the gateway calls it. Its ARN is made of names that stay the same,
// so that neither stack keeps the other from a change, as an import would.
func (l lambdas) elsewhere(f topology.Function) awslambda.IFunction {
	s := l.data.settings
	arn := fmt.Sprintf("arn:%s:lambda:%s:%s:function:%s", *l.stack.Partition(), s.Region, *l.stack.Account(),
		s.FunctionName(f.Name))
	if !s.Local() {
		arn += ":" + LiveAlias
	}
	return awslambda.Function_FromFunctionAttributes(l.stack, jsii.String(topology.Title(f.Name)+"Function"),
		&awslambda.FunctionAttributes{FunctionArn: jsii.String(arn), SameEnvironment: jsii.Bool(true)})
}

// newAPI makes the stack of the public interface: the gateway and the functions beside it. It is deployed after the
// stack of the areas. Each path that needs a key has a function.
func newAPI(app constructs.Construct, d *data, after awscdk.Stack, keyed map[string]string) {
	stack := newStack(app, d.settings, "api", "the public interface: the gateway, its authorizer and the account area")
	stack.AddDependency(after, nil)
	functions := d.lambdasIn(stack)
	watch := functions.alarms
	areas := map[string]awslambda.IFunction{}
	var authorizer awslambda.IFunction
	for _, f := range topology.Functions {
		switch {
		case f.Trigger == topology.AsAuthorizer:
			authorizer = functions.new(f)
		case f.Trigger != topology.ByGateway:
		case besideGateway(f):
			areas[f.Name] = functions.new(f)
		default:
			areas[f.Name] = functions.elsewhere(f)
		}
	}
	g := newGateway(stack, d, authorizer)
	if d.signOn != nil {
		d.signOn.introduce(functions, g)
	}
	g.serve(areas, keyed)
	g.respond(d)
	g.addDomain(d.settings)
	g.addProbeName(d)
	g.protect(d)
	if d.signOn != nil {
		d.signOn.protect(stack, d.settings)
	}
	trace(stack, d.settings)
	functions.releases.guard()
	watch.serverErrors(g.api)
	watch.burns(g.api)
	watch.slow(g.api)
	watch.refused()
	if d.settings.Version != "" {
		// This stack is deployed last, so its output shows that the deployment is complete.
		output(stack, customer.VersionOutput, jsii.String(d.settings.Version))
	}
	output(stack, "ApiId", g.api.RestApiId())
	output(stack, "ApiUrl", g.api.Url())
	output(stack, "KeylessLimit", jsii.String(strconv.Itoa(d.settings.KeylessLimit)))
}

// CloseKernel ends the Node process of the CDK. Two of its goroutines wait for that process at
// once, and the second prints an error. CloseKernel therefore discards all later output on
// standard error.
func CloseKernel() {
	if quiet, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = quiet
	}
	jsii.Close()
}

// finding is a finding of cdk-nag that does not apply to a resource, with the reason.
type finding struct{ rule, reason string }

// accept marks the findings as accepted in the template, in the form that cdk-nag reads.
func accept(c constructs.IConstruct, findings ...finding) {
	resource, ok := c.(awscdk.CfnResource)
	if !ok {
		resource = c.Node().DefaultChild().(awscdk.CfnResource)
	}
	metadata, _ := resource.GetMetadata(jsii.String("cdk_nag")).(map[string]any)
	suppress, _ := metadata["rules_to_suppress"].([]any)
	for _, f := range findings {
		suppress = append(suppress, map[string]any{"id": f.rule, "reason": f.reason})
	}
	resource.AddMetadata(jsii.String("cdk_nag"), map[string]any{"rules_to_suppress": suppress})
}

// retentions maps customer.Retentions to the values of the CDK.
var retentions = map[int]awslogs.RetentionDays{
	7:   awslogs.RetentionDays_ONE_WEEK,
	14:  awslogs.RetentionDays_TWO_WEEKS,
	30:  awslogs.RetentionDays_ONE_MONTH,
	60:  awslogs.RetentionDays_TWO_MONTHS,
	90:  awslogs.RetentionDays_THREE_MONTHS,
	180: awslogs.RetentionDays_SIX_MONTHS,
	365: awslogs.RetentionDays_ONE_YEAR,
}

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
