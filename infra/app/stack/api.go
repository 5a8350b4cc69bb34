package stack

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
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
