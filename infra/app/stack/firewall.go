package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/gatewayresponse"
)

// protect limits the calls without a key from one address, because each of them calls the
// authorizer. The authorizer itself counts calls with a key. The gateway answers for the
// firewall with gatewayresponse.Filtered. In the local system, the proxy counts the calls.
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
	acl := awswafv2.NewCfnWebACL(stack, jsii.String("Firewall"), &awswafv2.CfnWebACLProps{
		Description:      jsii.String("Limits calls without a key by address"),
		Scope:            jsii.String("REGIONAL"),
		DefaultAction:    &awswafv2.CfnWebACL_DefaultActionProperty{Allow: map[string]any{}},
		VisibilityConfig: seen("firewall"),
		Rules: &[]any{&awswafv2.CfnWebACL_RuleProperty{
			Name: jsii.String("keyless"), Priority: jsii.Number(0),
			Action:           &awswafv2.CfnWebACL_RuleActionProperty{Block: map[string]any{}},
			VisibilityConfig: seen("keyless"),
			Statement: &awswafv2.CfnWebACL_StatementProperty{
				RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
					AggregateKeyType:    jsii.String("IP"),
					EvaluationWindowSec: jsii.Number(gatewayresponse.FilterWindow.Seconds()),
					Limit:               jsii.Number(float64(s.KeylessLimit)),
					ScopeDownStatement: &awswafv2.CfnWebACL_StatementProperty{
						NotStatement: &awswafv2.CfnWebACL_NotStatementProperty{Statement: withKey}},
				}},
		}},
	})
	accept(acl, finding{"CKV_AWS_192", "Nothing here runs on Java, and so nothing logs by Log4j."})
	awswafv2.NewCfnWebACLAssociation(stack, jsii.String("FirewallAssociation"), &awswafv2.CfnWebACLAssociationProps{
		ResourceArn: g.api.DeploymentStage().StageArn(), WebAclArn: acl.AttrArn(),
	})
}
