package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

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
