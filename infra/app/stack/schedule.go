package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// everyLocally is the period of schedules in the local system, because a developer waits for
// them.
const everyLocally = time.Minute

// schedule calls the function periodically. EventBridge gives up a call soon, because the next
// call does the same work.
func (w *work) schedule(fn awslambda.IFunction, f topology.Function, s customer.Settings) {
	every := f.Every
	if s.Local() {
		every = everyLocally
	}
	period := awscdk.Duration_Minutes(jsii.Number(every.Minutes()))
	dead := w.newDeadLetterQueue(f.Name)
	// EventBridge calls the function asynchronously, so Lambda reports the function's own
	// failures. It does not try again, because the next call does the same work.
	fn.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		MaxEventAge: period, RetryAttempts: jsii.Number(0), OnFailure: awslambdadestinations.NewSqsDestination(dead),
	})
	rule := awsevents.NewRule(w.stack, jsii.String(topology.Title(f.Name)+"Schedule"), &awsevents.RuleProps{
		Description: jsii.String("Calls the function " + f.Name + " regularly"),
		Schedule:    awsevents.Schedule_Rate(period),
	})
	target(rule, awsevents.CfnRule_TargetProperty{
		Arn: fn.FunctionArn(),
		RetryPolicy: &awsevents.CfnRule_RetryPolicyProperty{MaximumEventAgeInSeconds: period.ToSeconds(nil),
			MaximumRetryAttempts: jsii.Number(2)},
	}, dead)
	fn.AddPermission(jsii.String("Schedule"), &awslambda.Permission{
		Principal: awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil), SourceArn: rule.RuleArn(),
	})
}
