package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// everyLocally is how often, in minutes, the local system calls what a schedule
// calls elsewhere: nobody waits there for long.
const everyLocally = 1

// schedule calls the function again and again. A call that EventBridge cannot
// make is not worth much of an effort, because the next one does the same.
func (w *work) schedule(fn awslambda.Function, f Function, s Settings) {
	every := f.Every
	if s.Local() {
		every = everyLocally
	}
	period := awscdk.Duration_Minutes(jsii.Number(float64(every)))
	awsevents.NewRule(w.stack, jsii.String(title(f.Name)+"Schedule"), &awsevents.RuleProps{
		Description: jsii.String("Calls the function " + f.Name + " regularly"),
		Schedule:    awsevents.Schedule_Rate(period),
		Targets: &[]awsevents.IRuleTarget{
			awseventstargets.NewLambdaFunction(fn, &awseventstargets.LambdaFunctionProps{
				DeadLetterQueue: w.newDeadLetterQueue(f.Name),
				MaxEventAge:     period,
				RetryAttempts:   jsii.Number(2),
			}),
		},
	})
}
