package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/gatewayresponse"
)

// protect limits the calls from one address, which is that of its connection: all of them, those on paths that take no
// key, and those on other paths without a key, because each of them calls the authorizer. The authorizer itself counts
// calls with a key; the firewall cannot see which keys it refuses. The gateway answers for the firewall with
// gatewayresponse.Filtered. In the local system, the proxy counts the calls.
func (g *gateway) protect(s customer.Settings) {
	if s.Local() {
		return
	}
	stack := awscdk.Stack_Of(g.api)
	seen := func(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
		return &awswafv2.CfnWebACL_VisibilityConfigProperty{
			MetricName: jsii.String(name), CloudWatchMetricsEnabled: jsii.Bool(true),
			// Samples would show requests in the console, with their headers.
			SampledRequestsEnabled: jsii.Bool(false),
		}
	}
	has := func(header, where, text string) *awswafv2.CfnWebACL_StatementProperty {
		return &awswafv2.CfnWebACL_StatementProperty{ByteMatchStatement: &awswafv2.CfnWebACL_ByteMatchStatementProperty{
			FieldToMatch:         &awswafv2.CfnWebACL_FieldToMatchProperty{SingleHeader: map[string]any{"Name": header}},
			PositionalConstraint: jsii.String(where),
			SearchString:         jsii.String(text),
			TextTransformations: &[]any{&awswafv2.CfnWebACL_TextTransformationProperty{Priority: jsii.Number(0),
				Type: jsii.String("LOWERCASE")}},
		}}
	}
	withKey := &awswafv2.CfnWebACL_StatementProperty{OrStatement: &awswafv2.CfnWebACL_OrStatementProperty{
		Statements: &[]any{
			has("authorization", "STARTS_WITH", gatewayresponse.KeyPrefix),
			has("authorization", "STARTS_WITH", gatewayresponse.TokenPrefix),
			has("authorization", "STARTS_WITH", gatewayresponse.DirectoryPrefix),
			has("cookie", "CONTAINS", gatewayresponse.SessionCookie),
		}}}
	var paths []any
	for _, path := range gatewayresponse.KeylessPaths {
		paths = append(paths, &awswafv2.CfnWebACL_StatementProperty{
			ByteMatchStatement: &awswafv2.CfnWebACL_ByteMatchStatementProperty{
				FieldToMatch:         &awswafv2.CfnWebACL_FieldToMatchProperty{UriPath: map[string]any{}},
				PositionalConstraint: jsii.String("CONTAINS"), // the path may begin with the stage
				SearchString:         jsii.String(path),
				TextTransformations: &[]any{&awswafv2.CfnWebACL_TextTransformationProperty{Priority: jsii.Number(0),
					Type: jsii.String("URL_DECODE")}},
			}})
	}
	rule := func(name string, place, limit int, of *awswafv2.CfnWebACL_StatementProperty) any {
		return &awswafv2.CfnWebACL_RuleProperty{
			Name: jsii.String(name), Priority: jsii.Number(float64(place)),
			Action:           &awswafv2.CfnWebACL_RuleActionProperty{Block: map[string]any{}},
			VisibilityConfig: seen(name),
			Statement: &awswafv2.CfnWebACL_StatementProperty{
				RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
					AggregateKeyType:    jsii.String("IP"),
					EvaluationWindowSec: jsii.Number(gatewayresponse.FilterWindow.Seconds()),
					Limit:               jsii.Number(float64(limit)),
					ScopeDownStatement:  of,
				}},
		}
	}
	acl := awswafv2.NewCfnWebACL(stack, jsii.String("Firewall"), &awswafv2.CfnWebACLProps{
		Description:      jsii.String("Limits calls by address"),
		Scope:            jsii.String("REGIONAL"),
		DefaultAction:    &awswafv2.CfnWebACL_DefaultActionProperty{Allow: map[string]any{}},
		VisibilityConfig: seen("firewall"),
		Rules: &[]any{
			rule("keyless", 0, s.KeylessLimit,
				&awswafv2.CfnWebACL_StatementProperty{
					NotStatement: &awswafv2.CfnWebACL_NotStatementProperty{Statement: withKey}}),
			rule("public", 1, s.KeylessLimit, &awswafv2.CfnWebACL_StatementProperty{
				OrStatement: &awswafv2.CfnWebACL_OrStatementProperty{Statements: &paths}}),
			rule("address", 2, gatewayresponse.AllCalls(s.KeylessLimit), nil),
		},
	})
	awswafv2.NewCfnWebACLAssociation(stack, jsii.String("FirewallAssociation"), &awswafv2.CfnWebACLAssociationProps{
		ResourceArn: g.api.DeploymentStage().StageArn(), WebAclArn: acl.AttrArn(),
	})
}
