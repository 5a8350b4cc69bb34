package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/service/api"
)

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
