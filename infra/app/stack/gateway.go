package stack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// gateway is the REST API in front of the functions.
type gateway struct {
	api        awsapigateway.RestApi
	authorizer awsapigateway.IAuthorizer
	named      bool                               // has the customer's own domain
	resources  map[string]awsapigateway.IResource // by path
}

func newGateway(stack awscdk.Stack, d *data, authorizer awslambda.IFunction) *gateway {
	s := d.settings
	domain, named := s.Domains[s.Region]
	api := awsapigateway.NewRestApi(stack, jsii.String("Api"), &awsapigateway.RestApiProps{
		RestApiName: jsii.String(s.Short()),
		Description: jsii.String("Content-Automation API of " + s.Customer),
		EndpointConfiguration: &awsapigateway.EndpointConfiguration{Types: &[]awsapigateway.EndpointType{endpointType(
			s)}},
		Policy: admit(d),
		// With the customer's own domain, the gateway's default name is closed.
		DisableExecuteApiEndpoint: jsii.Bool(named),
		// Bodies pass unchanged in both directions: a body that is not UTF-8 is refused rather
		// than repaired, and assets may be compressed.
		BinaryMediaTypes: jsii.Strings("*/*"),
		// The gateway does not compress a response that a function has compressed.
		MinCompressionSize: awscdk.Size_Bytes(jsii.Number(gatewayresponse.CompressedFrom)),
		// The role belongs to the account and the region, not to the stack. The role of the
		// last customer deployed serves all stacks, and must outlive its own.
		CloudWatchRole:              jsii.Bool(true),
		CloudWatchRoleRemovalPolicy: kept(s),
		DeployOptions: &awsapigateway.StageOptions{
			StageName:      jsii.String(s.Stage),
			TracingEnabled: jsii.Bool(true),
			// No alarm needs the metrics of each method. Execution logs would be kept forever,
			// under AWS's key; the access log has the errors.
			MetricsEnabled:       jsii.Bool(false),
			LoggingLevel:         awsapigateway.MethodLoggingLevel_OFF,
			ThrottlingRateLimit:  jsii.Number(s.StageThrottle()),
			ThrottlingBurstLimit: jsii.Number(s.StageThrottle() / 2),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(newLogGroup(stack, s, d.key, "AccessLog")),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLogFormat)),
		},
	})
	// A private API is called by several names, and requires TLS 1.2 anyway. The API's policy
	// counts for its domain too. Without one, it would be TLS 1.0.
	rest := api.Node().DefaultChild().(awsapigateway.CfnRestApi)
	switch {
	case len(s.PrivateEndpoints) > 0:
	case domain.Truststore != "":
		// A domain with client certificates takes none of the newer policies.
		rest.SetSecurityPolicy(jsii.String("TLS_1_2"))
	default:
		rest.SetSecurityPolicy(jsii.String("SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09"))
		rest.SetEndpointAccessMode(jsii.String("STRICT"))
	}
	accept(api, finding{"AwsSolutions-APIG2", "The functions validate requests against the same schemas, and answer " +
		"in the envelope with the name of the field."})
	accept(api.Node().FindChild(jsii.String("CloudWatchRole")),
		finding{"AwsSolutions-IAM4", "AWS requires this policy of the role that writes the gateway's logs."})
	accept(api.DeploymentStage(),
		finding{"AwsSolutions-APIG6", "The access log has every request with its error. Execution logs would be kept " +
			"without end or encryption by the customer's key."})
	return &gateway{
		api:       api,
		named:     named,
		resources: map[string]awsapigateway.IResource{},
		authorizer: awsapigateway.NewRequestAuthorizer(stack, jsii.String("Authorizer"),
			&awsapigateway.RequestAuthorizerProps{
				Handler: authorizer,
				// The gateway itself refuses a call without the header. The authorizer could do so
				// only by an error, which raises an alarm. There is no cache, because revocation, rate
				// limits and allowed addresses apply to every call.
				IdentitySources: &[]*string{awsapigateway.IdentitySource_Header(jsii.String("Authorization"))},
				ResultsCacheTtl: seconds(0),
			}),
	}
}

// accessLogFormat is one JSON object for each call. It has no headers, so it reveals no key. It has the resource, not
// the path, which would reveal the secret of a review link or of a CRM's webhook.
const accessLogFormat = `{"request_id":"$context.requestTimeEpoch-$context.requestId","at":"$context.requestTime","ip":"$context.identity.sourceIp",` +
	`"method":"$context.httpMethod","resource":"$context.resourcePath","status":"$context.status",` +
	`"latency_ms":"$context.responseLatency","integration_ms":"$context.integrationLatency","authorizer_ms":"$context.authorizer.latency",` +
	`"bytes":"$context.responseLength","error":"$context.error.responseType","waf":"$context.wafResponseCode",` +
	`"authorizer_error":"$context.authorizer.error","integration_error":"$context.integrationErrorMessage",` +
	`"trace_id":"$context.xrayTraceId"}`

// functionOf returns the function of each path that needs a key. It fails if a path, public ones included, has none or
// two.
func functionOf(routes []httpapi.Route) (map[string]string, error) {
	functions := map[string]string{}
	keyed := slices.Concat(api.GuardedRoutes, routes)
	for _, r := range slices.Concat(api.PublicRoutes, keyed) {
		if !slices.ContainsFunc(topology.Functions, func(f topology.Function) bool {
			return f.Name == r.Function && f.Trigger == topology.ByGateway
		}) {
			return nil, fmt.Errorf("%s is answered by %q, which is no function of the gateway", r.Path, r.Function)
		}
	}
	for _, r := range keyed {
		if other, taken := functions[r.Path]; taken && other != r.Function {
			return nil, fmt.Errorf("%s is answered by both %q and %q, but a path has one function", r.Path, other,
				r.Function)
		}
		functions[r.Path] = r.Function
	}
	return functions, nil
}

// serve adds a resource for every path. Each path that needs a key also gets the method ANY,
// so that its function can tell a method that is not allowed from a path that does not
// exist.
func (g *gateway) serve(areas map[string]awslambda.IFunction, keyed map[string]string) {
	integrations := map[string]awsapigateway.LambdaIntegration{}
	for name, fn := range areas {
		integrations[name] = awsapigateway.NewLambdaIntegration(fn, &awsapigateway.LambdaIntegrationOptions{
			Proxy: jsii.Bool(true),
			// One permission for the function, not one for each method (nor any for the console's
			// test button): a stack can hold 500 resources.
			ScopePermissionToMethod: jsii.Bool(false),
		})
	}
	add := func(path, function string, options *awsapigateway.MethodOptions, findings ...finding) {
		method := g.resource(path).AddMethod(jsii.String("ANY"), integrations[function], options)
		accept(method, append(findings, finding{"AwsSolutions-COG4",
			"Callers are systems with API keys, which the authorizer checks."})...)
	}
	for _, r := range api.PublicRoutes {
		add(r.Path, r.Function,
			&awsapigateway.MethodOptions{AuthorizationType: awsapigateway.AuthorizationType_NONE},
			finding{"AwsSolutions-APIG4", "The API reference, the health check and the callback of " +
				"platforms are public. SCIM has a token of its own."})
	}
	for _, path := range slices.Sorted(maps.Keys(keyed)) {
		add(path, keyed[path], &awsapigateway.MethodOptions{
			AuthorizationType: awsapigateway.AuthorizationType_CUSTOM, Authorizer: g.authorizer})
	}
}

// resource returns the resource of a path. It keeps those that it has made, because each question to the CDK is a call
// of another process.
func (g *gateway) resource(path string) awsapigateway.IResource {
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		return g.api.Root()
	}
	if g.resources[path] == nil {
		at := strings.LastIndexByte(path, '/')
		g.resources[path] = g.resource(path[:at]).AddResource(jsii.String(path[at+1:]), nil)
	}
	return g.resources[path]
}
