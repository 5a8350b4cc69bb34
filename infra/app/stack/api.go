package stack

import (
	"strconv"

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
	d := newData(app, s)
	if s.Replicated() {
		// The replicas of the tables and files are encrypted with the key of that stack.
		d.stack.AddDependency(newData(app, s.There()).stack, nil)
	}
	newWork(app, d)
	return newAPI(app, d, routes)
}

// newAPI makes the stack of the public interface: the gateway, its authorizer
// and a function for each area.
func newAPI(app constructs.Construct, d *data, routes []httpapi.Route) error {
	stack := newStack(app, d.settings, "api", "the public interface: the gateway and the functions of its areas")
	watch := d.alarmsIn(stack)
	functions := lambdas{stack: stack, data: d, alarms: watch, releases: &releases{stack: stack, settings: d.settings},
		made: map[string]awslambda.Function{}}
	areas := map[string]awslambda.IFunction{}
	var authorizer awslambda.IFunction
	for _, f := range topology.Functions {
		switch f.Trigger {
		case topology.ByGateway:
			areas[f.Name] = functions.new(f)
		case topology.AsAuthorizer:
			authorizer = functions.new(f)
		}
	}
	g := newGateway(stack, d, authorizer)
	if d.signOn != nil {
		d.signOn.introduce(functions, g)
	}
	if err := g.serve(areas, routes); err != nil {
		return err
	}
	g.respond()
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
	return nil
}
