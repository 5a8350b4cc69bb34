package stack_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// paths returns the path of each resource of the API, by its logical id.
func paths(t *testing.T, gateway template) map[string]string {
	t.Helper()
	found := map[string]string{}
	var path func(id string) string
	path = func(id string) string {
		r := gateway.Resources[id]
		parent := r.Properties.at("ParentId", "Ref")
		above := ""
		if id, ok := parent.(string); ok {
			above = path(id)
		}
		return above + "/" + fmt.Sprint(r.Properties["PathPart"])
	}
	for id, r := range gateway.Resources {
		if r.Type == "AWS::ApiGateway::Resource" {
			found[id] = path(id)
		}
	}
	return found
}

// methods returns the methods of the API, each by its HTTP method and path.
func methods(t *testing.T, gateway template) map[string]properties {
	t.Helper()
	at, found := paths(t, gateway), map[string]properties{}
	for _, r := range gateway.Resources {
		if r.Type != "AWS::ApiGateway::Method" {
			continue
		}
		path := "/"
		if id, ok := r.Properties.at("ResourceId", "Ref").(string); ok {
			path = at[id]
		}
		found[fmt.Sprint(r.Properties["HttpMethod"])+" "+path] = r.Properties
	}
	return found
}

func TestEveryMethodAsksTheAuthorizerButThePublicOnes(t *testing.T) {
	public := map[string]bool{}
	for _, r := range api.PublicRoutes {
		public["ANY "+r.Path] = true
	}
	if len(public) != 23 {
		t.Errorf("%d paths are public", len(public))
	}
	all := methods(t, acme["acme-prod-eu-central-1-api"])
	for call, m := range all {
		want := "CUSTOM"
		if public[call] {
			want = "NONE"
			delete(public, call)
		}
		if m["AuthorizationType"] != want {
			t.Errorf("%s has the authorization %v, want %s", call, m["AuthorizationType"], want)
		}
		if want == "CUSTOM" && m.at("AuthorizerId", "Ref") == nil {
			t.Errorf("%s names no authorizer", call)
		}
		if m.at("Integration", "Type") != "AWS_PROXY" {
			t.Errorf("%s is not a proxy integration", call)
		}
	}
	if len(public) > 0 {
		t.Errorf("the gateway does not serve %v", public)
	}
}

func TestGatewayServesEveryOperation(t *testing.T) {
	gateway := acme["acme-prod-eu-central-1-api"]
	all := methods(t, gateway)
	serves := func(path, function string) {
		t.Helper()
		m, ok := all["ANY "+path]
		if !ok {
			t.Errorf("the gateway does not serve %s", path)
			return
		}
		uri, _ := json.Marshal(m.at("Integration", "Uri"))
		name := "function:acme-prod-" + function + ":live/"
		if f := topology.FunctionNamed(function); f.May(topology.SignPeopleIn) {
			name = called(t, gateway, topology.Title(function)) // in the stack of the gateway
		}
		if !mentions(m.at("Integration", "Uri"), name) {
			t.Errorf("%s goes to %s, not to %s", path, uri, function)
		}
	}
	// Each of those functions is in the stack that is deployed before, and may be called by the gateway.
	for _, f := range topology.Functions {
		if f.Trigger == topology.ByGateway && !f.May(topology.SignPeopleIn) {
			called(t, acme["acme-prod-eu-central-1-areas"], topology.Title(f.Name))
			permitted := false
			for _, r := range gateway.Resources {
				permitted = permitted || r.Type == "AWS::Lambda::Permission" && pointsAt(r.Properties["FunctionName"],
					"arn:aws:lambda:eu-central-1:111122223333:function:acme-prod-"+f.Name+":live")
			}
			if !permitted {
				t.Errorf("the gateway may not call %s", f.Name)
			}
		}
	}
	paths := map[string]bool{}
	for _, r := range slices.Concat(api.Routes(), api.PublicRoutes, api.GuardedRoutes) {
		serves(r.Path, r.Function)
		paths[r.Path] = true
	}
	// A method that is not allowed is answered by the function of the path, too.
	if got, want := len(all), len(paths); got != want {
		t.Errorf("the gateway has %d methods, want one for each of %d paths", got, want)
	}
}

func TestAPathHasOneFunction(t *testing.T) {
	for _, c := range []struct {
		function, want string
	}{
		{"factory", `/v1/me is answered by both "account" and "factory"`},
		{"relay", `/v1/me/x is answered by "relay", which is no function of the gateway`},
	} {
		path, _, _ := strings.Cut(c.want, " ")
		routes := append(api.Routes(), httpapi.Route{Method: "PUT", Path: path, Function: c.function})
		_, err := assemble(t.TempDir(), map[string]any{"customer": "acme"}, routes)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.function, err)
		}
	}
}

func TestAuthorizerIsAskedOnEveryCall(t *testing.T) {
	for id, r := range acme.of("AWS::ApiGateway::Authorizer") {
		if r.Properties["Type"] != "REQUEST" {
			t.Errorf("%s has the type %v", id, r.Properties["Type"])
		}
		if r.Properties["AuthorizerResultTtlInSeconds"] != float64(0) {
			t.Errorf("%s keeps its answers for %v s", id, r.Properties["AuthorizerResultTtlInSeconds"])
		}
		// Calls without a key are no errors of the function.
		if source := r.Properties["IdentitySource"]; source != "method.request.header.Authorization" {
			t.Errorf("%s is asked for calls without %v", id, source)
		}
	}
	if n := len(acme.of("AWS::ApiGateway::Authorizer")); n != 1 {
		t.Errorf("there are %d authorizers", n)
	}
}

func TestOnePermissionForEachFunction(t *testing.T) {
	permissions := acme.of("AWS::Lambda::Permission")
	called := map[string]bool{"authorizer": true, "account": true}
	for _, r := range slices.Concat(api.Routes(), api.PublicRoutes, api.GuardedRoutes) {
		called[r.Function] = true
	}
	for _, f := range topology.Functions {
		if f.Trigger == topology.BySchedule || f.Trigger == topology.ByRotation {
			called[f.Name] = true
		}
	}
	if len(permissions) != len(called) {
		t.Errorf("there are %d permissions for the %d functions that the gateway, a schedule or a rotation calls",
			len(permissions), len(called))
	}
	for id, p := range permissions {
		if p.Properties["SourceArn"] == nil && p.Properties["SourceAccount"] == nil {
			t.Errorf("%s lets any API or rule call the function", id)
		}
	}
}

func TestGatewayAnswersInTheEnvelope(t *testing.T) {
	found := map[string]properties{}
	for _, r := range acme.of("AWS::ApiGateway::GatewayResponse") {
		found[fmt.Sprint(r.Properties["ResponseType"])] = r.Properties
	}
	for _, a := range gatewayresponse.All {
		r, ok := found[a.Type]
		if !ok {
			t.Errorf("there is no gateway response %s", a.Type)
			continue
		}
		if r["StatusCode"] != fmt.Sprint(a.Status()) {
			t.Errorf("%s has the status %v, want %d", a.Type, r["StatusCode"], a.Status())
		}
		if r.at("ResponseParameters", "gatewayresponse.header.X-Request-Id") != "context.requestId" {
			t.Errorf("%s does not tell the request's id", a.Type)
		}
		for name, value := range a.Headers() {
			if name == "WWW-Authenticate" {
				continue // TestChallengesOfTheGatewayNameTheMetadata
			}
			if got := r.at("ResponseParameters", "gatewayresponse.header."+name); got != "'"+value+"'" {
				t.Errorf("%s has %s: %v, want '%s'", a.Type, name, got, value)
			}
		}
		if got := r.at("ResponseTemplates", "application/json"); got != a.Body("$context.requestId",
			"https://$context.domainName/$context.stage") {
			t.Errorf("%s answers %v", a.Type, got)
		}
		delete(found, a.Type)
	}
	if len(found) > 0 {
		t.Errorf("these gateway responses are not among the answers: %v", found)
	}
}

func TestGatewayIsRegionalTracedAndLogged(t *testing.T) {
	for id, r := range acme.of("AWS::ApiGateway::RestApi") {
		types, _ := r.Properties.at("EndpointConfiguration", "Types").([]any)
		if !slices.Equal(types, []any{"REGIONAL"}) {
			t.Errorf("%s has the endpoint types %v", id, types)
		}
		if policy := fmt.Sprint(r.Properties["SecurityPolicy"]); !strings.HasPrefix(policy,
			"SecurityPolicy_TLS13_1_2_") || r.Properties["EndpointAccessMode"] != "STRICT" {
			t.Errorf("%s takes connections by %s, %v", id, policy, r.Properties["EndpointAccessMode"])
		}
		if binary, _ := r.Properties["BinaryMediaTypes"].([]any); !slices.Equal(binary, []any{"*/*"}) {
			t.Errorf("%s passes %v as bytes", id, binary)
		}
		if least := r.Properties["MinimumCompressionSize"]; least != 1024.0 {
			t.Errorf("%s compresses from %v bytes", id, least)
		}
	}
	stages := acme.of("AWS::ApiGateway::Stage")
	if len(stages) != 1 {
		t.Errorf("there are %d stages", len(stages))
	}
	for id, r := range stages {
		if r.Properties["TracingEnabled"] != true {
			t.Errorf("%s is not traced", id)
		}
		if r.Properties.at("AccessLogSetting", "DestinationArn") == nil {
			t.Errorf("%s keeps no access log", id)
		}
		format := fmt.Sprint(r.Properties.at("AccessLogSetting", "Format"))
		if !json.Valid([]byte(format)) || strings.Contains(strings.ToLower(format), "authorization") {
			t.Errorf("%s logs %s", id, format)
		}
		// A refusal of the firewall, of the authorizer and of a function must differ.
		for _, cause := range []string{"$context.wafResponseCode", "$context.authorizer.error",
			"$context.integrationErrorMessage", "$context.error.responseType"} {
			if !strings.Contains(format, `"`+cause+`"`) {
				t.Errorf("%s does not log %s", id, cause)
			}
		}
		if strings.Contains(format, "$context.path") {
			t.Errorf("%s logs paths, and so the secrets of links: %s", id, format)
		}
		settings, _ := r.Properties["MethodSettings"].([]any)
		if len(settings) != 1 {
			t.Fatalf("%s has the settings %v", id, settings)
		}
		s := properties(settings[0].(map[string]any))
		if s["DataTraceEnabled"] != false && s["DataTraceEnabled"] != nil {
			t.Errorf("%s writes bodies and headers, and so keys, into its log", id)
		}
		if s["ThrottlingRateLimit"] == nil || s["ThrottlingBurstLimit"] == nil || s["LoggingLevel"] != "OFF" ||
			s["MetricsEnabled"] != false {
			t.Errorf("%s has the settings %v", id, s)
		}
	}
}

func TestANameOfItsOwn(t *testing.T) {
	domains := initech.of("AWS::ApiGateway::DomainName")
	if len(domains) != 1 {
		t.Fatalf("there are %d names", len(domains))
	}
	for id, r := range domains {
		// The name has the policy of its API.
		if r.Properties["DomainName"] != "api.initech.example" ||
			r.Properties["SecurityPolicy"] != "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09" ||
			r.Properties["EndpointAccessMode"] != "STRICT" ||
			r.Properties["RegionalCertificateArn"] != "arn:aws:acm:eu-west-1:111122223333:certificate/x" {
			t.Errorf("%s is %v", id, r.Properties)
		}
	}
	if n := len(initech.of("AWS::ApiGateway::BasePathMapping")); n != 1 {
		t.Errorf("there are %d mappings", n)
	}
	if initech["initech-prod-eu-west-1-api"].Outputs["DomainTarget"] == nil {
		t.Error("nobody is told what the name must point at")
	}
	for id, r := range initech.of("AWS::ApiGateway::RestApi") {
		if r.Properties["DisableExecuteApiEndpoint"] != true {
			t.Errorf("%s is also reached by the gateway's own name", id)
		}
	}
	for id, r := range initech.of("AWS::ApiGateway::GatewayResponse") {
		if text := fmt.Sprint(r.Properties.at("ResponseTemplates", "application/json")); !strings.Contains(text,
			`"https://$context.domainName/api-docs/errors/`) {
			t.Errorf("%s answers %s: the page of the error is not below the name", id, text)
		}
	}
	if n := len(acme.of("AWS::ApiGateway::DomainName")); n != 0 {
		t.Errorf("acme has %d names and asked for none", n)
	}
}

// The gateway renames the header in answers of functions, so that its own answers alone lead agents to the sign-in.
func TestChallengesOfTheGatewayNameTheMetadata(t *testing.T) {
	for name, c := range map[string]struct {
		stacks stacks
		at     []string
	}{
		"acme":    {acme, []string{"https://", ".execute-api.eu-central-1.", "/prod/.well-known/oauth-protected-resource/mcp"}},
		"initech": {initech, []string{"https://api.initech", "/.well-known/oauth-protected-resource/mcp"}},
	} {
		found := 0
		for _, r := range c.stacks.of("AWS::ApiGateway::GatewayResponse") {
			raw, err := json.Marshal(r.Properties.at("ResponseParameters", "gatewayresponse.header.WWW-Authenticate"))
			if err != nil {
				t.Fatal(err)
			}
			kind, text := fmt.Sprint(r.Properties["ResponseType"]), string(raw)
			if kind != "UNAUTHORIZED" && kind != "ACCESS_DENIED" {
				if text != "null" {
					t.Errorf("%s: %s has the challenge %s", name, kind, text)
				}
				continue
			}
			found++
			for _, part := range append(c.at, `'Bearer `, `resource_metadata=`, `scope=`, "content:publish") {
				if !strings.Contains(text, part) {
					t.Errorf("%s: the challenge of %s is %s, without %s", name, kind, text, part)
				}
			}
			if strings.Contains(text, "error=") != (kind == "ACCESS_DENIED") || strings.Contains(text, "account:manage") {
				t.Errorf("%s: the challenge of %s is %s", name, kind, text)
			}
		}
		if found != 2 {
			t.Errorf("%s has %d challenges", name, found)
		}
	}
}
