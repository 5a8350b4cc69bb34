package stack

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// gateway is the REST API in front of the functions.
type gateway struct {
	api        awsapigateway.RestApi
	authorizer awsapigateway.IAuthorizer
	named      bool // has the customer's own domain
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
		api:   api,
		named: named,
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

// serve adds a resource for every path. Each path that needs a key also gets the method ANY,
// so that its function can tell a method that is not allowed from a path that does not
// exist.
func (g *gateway) serve(areas map[string]awslambda.IFunction, routes []httpapi.Route) error {
	integrations := map[string]awsapigateway.LambdaIntegration{}
	for name, fn := range areas {
		integrations[name] = awsapigateway.NewLambdaIntegration(fn, &awsapigateway.LambdaIntegrationOptions{
			Proxy: jsii.Bool(true),
			// One permission for the function, not one for each method (nor any for the console's
			// test button): a stack can hold 500 resources.
			ScopePermissionToMethod: jsii.Bool(false),
		})
	}
	open := &awsapigateway.MethodOptions{AuthorizationType: awsapigateway.AuthorizationType_NONE}
	keyed := &awsapigateway.MethodOptions{
		AuthorizationType: awsapigateway.AuthorizationType_CUSTOM,
		Authorizer:        g.authorizer,
	}
	add := func(path, function string, options *awsapigateway.MethodOptions) error {
		integration, ok := integrations[function]
		if !ok {
			return fmt.Errorf("%s is answered by %q, which is no function of the gateway", path, function)
		}
		method := g.resource(path).AddMethod(jsii.String("ANY"), integration, options)
		accept(method, finding{"AwsSolutions-COG4", "Callers are systems with API keys, which the authorizer checks."})
		if options == open {
			accept(method, finding{"AwsSolutions-APIG4", "The API reference, the health check and the callback of " +
				"platforms are public. SCIM has a token of its own."})
		}
		return nil
	}
	for _, r := range api.PublicRoutes {
		if err := add(r.Path, r.Function, open); err != nil {
			return err
		}
	}
	functions := map[string]string{api.UnknownPath: api.UnknownFunction}
	if err := add(api.UnknownPath, api.UnknownFunction, keyed); err != nil {
		return err
	}
	for _, r := range routes {
		switch function, ok := functions[r.Path]; {
		case !ok:
			functions[r.Path] = r.Function
			if err := add(r.Path, r.Function, keyed); err != nil {
				return err
			}
		case function != r.Function:
			return fmt.Errorf("%s is answered by both %q and %q, but a path has one function", r.Path,
				function, r.Function)
		}
	}
	return nil
}

func (g *gateway) resource(path string) awsapigateway.IResource {
	at := g.api.Root()
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' }) {
		next := at.GetResource(jsii.String(part))
		if next == nil {
			next = at.AddResource(jsii.String(part), nil)
		}
		at = next
	}
	return at
}
