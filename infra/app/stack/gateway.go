package stack

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
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

// respond gives the gateway's own responses the envelope of the API. Challenges name the metadata of the service if
// people sign in. The templates of these responses know the gateway's variables, but their headers take one alone or a
// fixed text, so that the address is a fixed one: the customer's name, or that of the gateway.
func (g *gateway) respond(d *data) {
	base := "https://$context.domainName"
	if !g.named {
		base += "/$context.stage"
	}
	for _, a := range gatewayresponse.All {
		headers := map[string]*string{"X-Request-Id": jsii.String("context.requestId")}
		own := a.Headers()
		if d.signOn != nil || d.settings.Local() {
			own = a.HeadersAt(g.address(d))
		}
		for name, value := range own {
			headers[name] = jsii.String("'" + value + "'")
		}
		g.api.AddGatewayResponse(jsii.String(a.Type), &awsapigateway.GatewayResponseOptions{
			Type:            awsapigateway.ResponseType_Of(jsii.String(a.Type)),
			StatusCode:      jsii.String(strconv.Itoa(a.Status())),
			ResponseHeaders: &headers,
			Templates:       &map[string]*string{"application/json": jsii.String(a.Body("$context.requestId", base))},
		})
	}
}

// address returns the address of the API, which is a reference to the gateway if the customer has no name. The proxy of
// the local system puts its own address there.
func (g *gateway) address(d *data) string {
	if d.settings.Local() {
		return "https://$context.domainName/" + d.settings.Stage
	}
	if domain, named := d.settings.Domains[d.settings.Region]; named {
		return "https://" + domain.Name
	}
	return fmt.Sprintf("https://%s.execute-api.%s.%s/%s", *g.api.RestApiId(), d.settings.Region,
		*awscdk.Stack_Of(g.api).UrlSuffix(), d.settings.Stage)
}

func endpointType(s customer.Settings) awsapigateway.EndpointType {
	if len(s.PrivateEndpoints) > 0 {
		return awsapigateway.EndpointType_PRIVATE
	}
	return awsapigateway.EndpointType_REGIONAL
}

// callerEndpoints returns the VPC endpoints that may call a private API: the customer's endpoints
// and the canary's. It returns none for a public API.
func callerEndpoints(d *data) (endpoints []*string) {
	for _, id := range d.settings.PrivateEndpoints {
		endpoints = append(endpoints, jsii.String(id))
	}
	if d.probeEndpoint() != nil {
		endpoints = append(endpoints, d.probeEndpoint())
	}
	return endpoints
}

// probeEndpoint returns the id of the endpoint by which the canary calls a private API, or nil if there
// is none.
func (d *data) probeEndpoint() *string {
	if d.network == nil {
		return nil
	}
	return d.network.probe
}

// admit returns the policy of a private API, which admits calls by its callers' endpoints
// alone. It returns nil for a public API, whose callers are known by their keys.
func admit(d *data) awsiam.PolicyDocument {
	if len(d.settings.PrivateEndpoints) == 0 {
		return nil
	}
	// A relative resource is a resource of the API itself.
	statement := func(effect awsiam.Effect, operator string) awsiam.PolicyStatement {
		return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Effect: effect, Principals: &[]awsiam.IPrincipal{awsiam.NewAnyPrincipal()},
			Actions: jsii.Strings("execute-api:Invoke"), Resources: jsii.Strings("execute-api:/*"),
			Conditions: &map[string]any{operator: map[string]any{"aws:SourceVpce": callerEndpoints(d)}},
		})
	}
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
		statement(awsiam.Effect_ALLOW, "StringEquals"), statement(awsiam.Effect_DENY, "StringNotEquals"),
	}})
}

// addProbeName gives a private API a name by which the canary calls it from the customer's network.
func (g *gateway) addProbeName(d *data) {
	if d.probeEndpoint() == nil {
		return
	}
	stack := awscdk.Stack_Of(g.api)
	g.api.Node().DefaultChild().(awsapigateway.CfnRestApi).SetEndpointConfiguration(
		&awsapigateway.CfnRestApi_EndpointConfigurationProperty{
			Types: jsii.Strings("PRIVATE"), VpcEndpointIds: &[]*string{d.probeEndpoint()},
		})
	output(stack, "ProbeUrl", awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://"), g.api.RestApiId(), jsii.String("-"), d.probeEndpoint(),
		jsii.String(".execute-api." + d.settings.Region + "."), stack.UrlSuffix(), jsii.String("/" + d.settings.Stage),
	}))
}

// addDomain gives the API the customer's own domain in this region, if there is one.
func (g *gateway) addDomain(s customer.Settings) {
	domain, ok := s.Domains[s.Region]
	if !ok {
		return
	}
	options := &awsapigateway.DomainNameOptions{
		DomainName:     jsii.String(domain.Name),
		Certificate:    g.certificate("", domain),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	}
	if domain.Truststore != "" {
		bucket, key, _ := strings.Cut(strings.TrimPrefix(domain.Truststore, "s3://"), "/")
		options.Mtls = &awsapigateway.MTLSConfig{Bucket: awss3.Bucket_FromBucketName(g.api, jsii.String("Truststore"),
			jsii.String(bucket)), Key: jsii.String(key)}
		if domain.TruststoreVersion != "" {
			options.Mtls.Version = jsii.String(domain.TruststoreVersion)
		}
	}
	if domain.Truststore == "" {
		// The policy of the API, as AWS recommends: a name with a truststore takes TLS_1_2 alone, and so does its API.
		options.SecurityPolicy = awsapigateway.SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09
		options.EndpointAccessMode = awsapigateway.EndpointAccessMode_STRICT
	}
	made := g.api.AddDomainName(jsii.String("Domain"), options)
	if domain.OwnershipCertificateArn != "" {
		made.Node().DefaultChild().(awsapigateway.CfnDomainName).SetOwnershipVerificationCertificateArn(
			jsii.String(domain.OwnershipCertificateArn))
	}
	g.point(made, "Domain", domain.Name, domain.HostedZoneID)
	if domain.PublicName == "" {
		return
	}
	public := customer.Domain{Name: domain.PublicName, CertificateArn: domain.PublicCertificateArn,
		HostedZoneID: domain.HostedZoneID}
	g.point(g.api.AddDomainName(jsii.String("PublicDomain"), &awsapigateway.DomainNameOptions{
		DomainName: jsii.String(public.Name), Certificate: g.certificate("Public", public),
		EndpointType: awsapigateway.EndpointType_REGIONAL, SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	}), "PublicDomain", public.Name, public.HostedZoneID)
}

// point shows what the customer's DNS record of a name points to, and makes the record in the customer's zone.
func (g *gateway) point(name awsapigateway.DomainName, id, host, zone string) {
	stack := awscdk.Stack_Of(g.api)
	output(stack, id+"Target", name.DomainNameAliasDomainName())
	if zone == "" {
		return
	}
	awsroute53.NewCfnRecordSet(stack, jsii.String(id+"Record"), &awsroute53.CfnRecordSetProps{
		HostedZoneId: jsii.String(zone), Name: jsii.String(host), Type: jsii.String("A"),
		AliasTarget: &awsroute53.CfnRecordSet_AliasTargetProperty{DnsName: name.DomainNameAliasDomainName(),
			HostedZoneId: name.DomainNameAliasHostedZoneId()},
	})
}

// certificate returns the customer's certificate, or a new one that a record in the customer's
// zone validates. AWS renews it as long as the record exists.
func (g *gateway) certificate(id string, domain customer.Domain) awscertificatemanager.ICertificate {
	if domain.CertificateArn != "" {
		return awscertificatemanager.Certificate_FromCertificateArn(g.api, jsii.String(id+"Certificate"),
			jsii.String(domain.CertificateArn))
	}
	zone := awsroute53.HostedZone_FromHostedZoneId(g.api, jsii.String(id+"Zone"), jsii.String(domain.HostedZoneID))
	return awscertificatemanager.NewCertificate(awscdk.Stack_Of(g.api), jsii.String(id+"Certificate"),
		&awscertificatemanager.CertificateProps{
			DomainName: jsii.String(domain.Name), Validation: awscertificatemanager.CertificateValidation_FromDns(zone),
			// The default, RSA of 2048 bits, is weaker: 112 bits of security.
			KeyAlgorithm: awscertificatemanager.KeyAlgorithm_EC_PRIME256V1(),
		})
}

// protect limits the calls from one address, which is that of its connection: all of them, those of each group of
// paths that take no key, and those on other paths without a key, because each of them calls the authorizer. AWS counts
// a call in each rule that it matches. The
// authorizer itself counts calls with a key; the firewall cannot see which keys it refuses. The gateway answers for the
// firewall with gatewayresponse.Filtered. In the local system, the proxy counts the calls.
func (g *gateway) protect(d *data) {
	s := d.settings
	if s.Local() {
		return
	}
	has := func(header, where, text string) *awswafv2.CfnWebACL_StatementProperty {
		// RFC 9110, 11.4: any number of spaces may stand between a scheme and its credential.
		return matches(&awswafv2.CfnWebACL_FieldToMatchProperty{SingleHeader: map[string]any{"Name": header}}, where, text,
			"COMPRESS_WHITE_SPACE", "LOWERCASE")
	}
	withKey := &awswafv2.CfnWebACL_StatementProperty{OrStatement: &awswafv2.CfnWebACL_OrStatementProperty{
		Statements: &[]any{
			has("authorization", "STARTS_WITH", gatewayresponse.KeyPrefix),
			has("authorization", "STARTS_WITH", gatewayresponse.TokenPrefix),
			has("authorization", "STARTS_WITH", gatewayresponse.DirectoryPrefix),
			has("cookie", "CONTAINS", gatewayresponse.SessionCookie),
		}}}
	var others []any
	rules := []any{nil}
	for i, group := range gatewayresponse.Groups {
		of := either(pathsWith(group.Parts))
		others = append(others, of)
		if group.Strangers {
			of = &awswafv2.CfnWebACL_StatementProperty{AndStatement: &awswafv2.CfnWebACL_AndStatementProperty{
				Statements: &[]any{of, not(has("cookie", "CONTAINS", gatewayresponse.SessionCookie))}}}
		}
		rule := limit(group.Name, i+1, group.Times*s.KeylessLimit, of)
		if group.OAuth {
			rule.Action = &awswafv2.CfnWebACL_RuleActionProperty{Block: &awswafv2.CfnWebACL_BlockActionProperty{
				CustomResponse: &awswafv2.CfnWebACL_CustomResponseProperty{
					ResponseCode:          jsii.Number(float64(gatewayresponse.Filtered.Status())),
					CustomResponseBodyKey: jsii.String(programBody),
					ResponseHeaders: &[]any{&awswafv2.CfnWebACL_CustomHTTPHeaderProperty{Name: jsii.String("Retry-After"),
						Value: jsii.String(gatewayresponse.Filtered.Headers()["Retry-After"])}},
				}}}
		}
		rules = append(rules, rule)
	}
	rules[0] = limit("keyless", 0, s.KeylessLimit, not(either(append([]any{withKey}, others...))))
	rules = append(rules, limit("address", len(rules), gatewayresponse.AllCalls(s.KeylessLimit), nil))
	stack := awscdk.Stack_Of(g.api)
	if name := s.Domains[s.Region].PublicName; name != "" {
		rules = append(rules, publicOnly(name, len(rules)))
	}
	firewall(stack, "Firewall", "Limits calls by address", g.api.DeploymentStage().StageArn(), rules...).
		SetCustomResponseBodies(map[string]any{programBody: &awswafv2.CfnWebACL_CustomResponseBodyProperty{
			ContentType: jsii.String("APPLICATION_JSON"), Content: jsii.String(gatewayresponse.FilteredProgram)}})
}

// programBody is the name of the firewall's answer to programs.
const programBody = "program"

// publicOnly returns a rule that closes the name for callers without a client certificate, but for their paths. Nobody
// calls the API by it.
func publicOnly(name string, place int) any {
	open := []any{}
	for _, path := range api.OutsidePaths() {
		open = append(open, matches(&awswafv2.CfnWebACL_FieldToMatchProperty{UriPath: map[string]any{}}, "STARTS_WITH",
			path, "URL_DECODE"))
	}
	return &awswafv2.CfnWebACL_RuleProperty{
		Name: jsii.String("public"), Priority: jsii.Number(float64(place)), VisibilityConfig: seen("public"),
		Action: &awswafv2.CfnWebACL_RuleActionProperty{Block: &awswafv2.CfnWebACL_BlockActionProperty{
			CustomResponse: &awswafv2.CfnWebACL_CustomResponseProperty{ResponseCode: jsii.Number(404)}}},
		Statement: &awswafv2.CfnWebACL_StatementProperty{AndStatement: &awswafv2.CfnWebACL_AndStatementProperty{
			Statements: &[]any{
				matches(&awswafv2.CfnWebACL_FieldToMatchProperty{SingleHeader: map[string]any{"Name": "host"}}, "EXACTLY",
					name, "LOWERCASE"),
				not(either(open)),
			}}},
	}
}

// pathsWith returns a statement for each part of a path. The path may begin with the stage.
func pathsWith(parts []string) (all []any) {
	for _, part := range parts {
		all = append(all, matches(&awswafv2.CfnWebACL_FieldToMatchProperty{UriPath: map[string]any{}}, "CONTAINS", part,
			"URL_DECODE"))
	}
	return all
}

// either describes requests that one of the statements describes.
func either(statements []any) *awswafv2.CfnWebACL_StatementProperty {
	if len(statements) == 1 {
		return statements[0].(*awswafv2.CfnWebACL_StatementProperty) //nolint:forcetypeassert // all are
	}
	return &awswafv2.CfnWebACL_StatementProperty{
		OrStatement: &awswafv2.CfnWebACL_OrStatementProperty{Statements: &statements}}
}

// protect limits the forms that one address sends to the pages of the pool, and its calls of the pool's API: a guess at
// a password or code is one of them. The token endpoint is left out, because the account area calls it for all people
// from one address, and so are the answers of customers' providers, which are signed. Cognito itself locks a person out
// after five wrong passwords, for longer each time, which suffices for the few people of a customer: only a dedicated
// customer, or one that asks for it, has this firewall.
func (o *signOn) protect(stack constructs.Construct, s customer.Settings) {
	if s.Local() || !s.Dedicated && !s.SignInFirewall {
		return
	}
	firewall(stack, "PoolFirewall", "Limits guesses by address", o.pool.UserPoolArn(),
		limit("guesses", 0, gatewayresponse.PoolTimes*s.KeylessLimit, &awswafv2.CfnWebACL_StatementProperty{
			AndStatement: &awswafv2.CfnWebACL_AndStatementProperty{Statements: &[]any{
				matches(&awswafv2.CfnWebACL_FieldToMatchProperty{Method: map[string]any{}}, "EXACTLY", "POST", "NONE"),
				not(matches(&awswafv2.CfnWebACL_FieldToMatchProperty{UriPath: map[string]any{}}, "EXACTLY", "/oauth2/token",
					"NONE")),
				not(matches(&awswafv2.CfnWebACL_FieldToMatchProperty{UriPath: map[string]any{}}, "EXACTLY", "/oauth2/revoke",
					"NONE")),
				not(matches(&awswafv2.CfnWebACL_FieldToMatchProperty{UriPath: map[string]any{}}, "ENDS_WITH", "/idpresponse",
					"NONE")),
			}}}))
}

// firewall makes a firewall with rules for a resource. All calls that no rule blocks pass.
func firewall(stack constructs.Construct, name, description string, resource *string,
	rules ...any) awswafv2.CfnWebACL {
	acl := awswafv2.NewCfnWebACL(stack, jsii.String(name), &awswafv2.CfnWebACLProps{
		Description:      jsii.String(description),
		Scope:            jsii.String("REGIONAL"),
		DefaultAction:    &awswafv2.CfnWebACL_DefaultActionProperty{Allow: map[string]any{}},
		VisibilityConfig: seen("firewall"),
		Rules:            &rules,
	})
	awswafv2.NewCfnWebACLAssociation(stack, jsii.String(name+"Association"), &awswafv2.CfnWebACLAssociationProps{
		ResourceArn: resource, WebAclArn: acl.AttrArn(),
	})
	return acl
}

// limit returns a rule that blocks an address which sends more than most requests within gatewayresponse.FilterWindow.
// Only requests that a statement describes count, or all if it is nil.
func limit(name string, place, most int, of *awswafv2.CfnWebACL_StatementProperty) *awswafv2.CfnWebACL_RuleProperty {
	return &awswafv2.CfnWebACL_RuleProperty{
		Name: jsii.String(name), Priority: jsii.Number(float64(place)),
		Action:           &awswafv2.CfnWebACL_RuleActionProperty{Block: map[string]any{}},
		VisibilityConfig: seen(name),
		Statement: &awswafv2.CfnWebACL_StatementProperty{
			RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
				AggregateKeyType:    jsii.String("IP"),
				EvaluationWindowSec: jsii.Number(gatewayresponse.FilterWindow.Seconds()),
				Limit:               jsii.Number(float64(most)),
				ScopeDownStatement:  of,
			}},
	}
}

// seen returns the metric of a rule.
func seen(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
	return &awswafv2.CfnWebACL_VisibilityConfigProperty{
		MetricName: jsii.String(name), CloudWatchMetricsEnabled: jsii.Bool(true),
		// Samples would show requests in the console, with their headers.
		SampledRequestsEnabled: jsii.Bool(false),
	}
}

// matches describes requests of which a part has a text.
func matches(part *awswafv2.CfnWebACL_FieldToMatchProperty, where, text string, changed ...string,
) *awswafv2.CfnWebACL_StatementProperty {
	var changes []any
	for i, change := range changed {
		changes = append(changes, &awswafv2.CfnWebACL_TextTransformationProperty{Priority: jsii.Number(float64(i)),
			Type: jsii.String(change)})
	}
	return &awswafv2.CfnWebACL_StatementProperty{ByteMatchStatement: &awswafv2.CfnWebACL_ByteMatchStatementProperty{
		FieldToMatch:         part,
		PositionalConstraint: jsii.String(where),
		SearchString:         jsii.String(text),
		TextTransformations:  &changes,
	}}
}

// not describes all other requests.
func not(s *awswafv2.CfnWebACL_StatementProperty) *awswafv2.CfnWebACL_StatementProperty {
	return &awswafv2.CfnWebACL_StatementProperty{
		NotStatement: &awswafv2.CfnWebACL_NotStatementProperty{Statement: s}}
}
