package stack

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// finding is a finding of a static analyser that does not apply to a resource, with the
// reason. Rules of checkov begin with CKV; all others belong to cdk-nag.
type finding struct{ rule, reason string }

// accept marks the findings as accepted in the template, in the form that the analysers
// read.
func accept(c constructs.IConstruct, findings ...finding) {
	resource, ok := c.(awscdk.CfnResource)
	if !ok {
		resource = c.Node().DefaultChild().(awscdk.CfnResource)
	}
	skip, suppress := accepted(resource, "checkov", "skip"), accepted(resource, "cdk_nag", "rules_to_suppress")
	for _, f := range findings {
		if strings.HasPrefix(f.rule, "CKV") {
			skip = append(skip, map[string]any{"id": f.rule, "comment": f.reason})
		} else {
			suppress = append(suppress, map[string]any{"id": f.rule, "reason": f.reason})
		}
	}
	if skip != nil {
		resource.AddMetadata(jsii.String("checkov"), map[string]any{"skip": skip})
	}
	if suppress != nil {
		resource.AddMetadata(jsii.String("cdk_nag"), map[string]any{"rules_to_suppress": suppress})
	}
}

// accepted returns the findings that the resource has accepted so far.
func accepted(resource awscdk.CfnResource, analyser, member string) []any {
	metadata, _ := resource.GetMetadata(jsii.String(analyser)).(map[string]any)
	all, _ := metadata[member].([]any)
	return all
}
