package stack

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapplicationautoscaling"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/customer"
	"github.com/content-automation/api/pkg/topology"
)

// LiveAlias is the alias by which functions are called. A release moves it to a new version.
const LiveAlias = "live"

// releases move the aliases of one stack's functions by CodeDeploy: a tenth of the calls
// first, the rest after the customer's number of minutes. An alarm moves them back.
type releases struct {
	stack    awscdk.Stack
	settings customer.Settings
	aliases  []released
	// application and role are those of all its aliases.
	application awscdk.CfnResource
	role        awsiam.Role
}

// released is an alias, with the alarm of its function.
type released struct {
	function topology.Function
	alias    awslambda.Alias
	alarm    awscloudwatch.Alarm
}

// alias returns what callers of the function call: its alias, but in the local system and
// for a function that Secrets Manager calls twice in a month.
func (r *releases) alias(f topology.Function, fn awslambda.Function, alarm awscloudwatch.Alarm) awslambda.IFunction {
	if r.settings.Local() || f.Trigger == topology.ByRotation {
		return fn
	}
	id := topology.Title(f.Name) + "Alias"
	alias := awslambda.NewAlias(r.stack, jsii.String(id), &awslambda.AliasProps{
		AliasName: jsii.String(LiveAlias), Version: fn.CurrentVersion(), Description: jsii.String("The version in use"),
	})
	r.provision(f, alias)
	r.aliases = append(r.aliases, released{f, alias, alarm})
	return alias
}

// provision keeps instances of the alias started, always or in the customer's hours.
func (r *releases) provision(f topology.Function, alias awslambda.Alias) {
	c := r.settings.Concurrency
	if c == nil || c.Provisioned[f.Name] == 0 {
		return
	}
	least := float64(c.Provisioned[f.Name])
	if c.Schedule == nil {
		alias.Node().DefaultChild().(awslambda.CfnAlias).SetProvisionedConcurrencyConfig(&awslambda.CfnAlias_ProvisionedConcurrencyConfigurationProperty{
			ProvisionedConcurrentExecutions: jsii.Number(least),
		})
		return
	}
	from, to := c.Schedule.Times()
	action := func(name string, at time.Time, instances float64) *awsapplicationautoscaling.CfnScalableTarget_ScheduledActionProperty {
		return &awsapplicationautoscaling.CfnScalableTarget_ScheduledActionProperty{
			ScheduledActionName: jsii.String(name), Timezone: jsii.String(c.Schedule.TimeZone),
			Schedule: jsii.String(fmt.Sprintf("cron(%d %d ? * %s *)", at.Minute(), at.Hour(), c.Schedule.Days)),
			ScalableTargetAction: &awsapplicationautoscaling.CfnScalableTarget_ScalableTargetActionProperty{
				MinCapacity: jsii.Number(instances), MaxCapacity: jsii.Number(instances),
			},
		}
	}
	name := r.settings.Customer + "-" + r.settings.Stage + "-" + f.Name
	target := awsapplicationautoscaling.NewCfnScalableTarget(r.stack, jsii.String(topology.Title(f.Name)+"Instances"), &awsapplicationautoscaling.CfnScalableTargetProps{
		ServiceNamespace: jsii.String("lambda"), ScalableDimension: jsii.String("lambda:function:ProvisionedConcurrency"),
		ResourceId: jsii.String("function:" + name + ":" + LiveAlias), MinCapacity: jsii.Number(0), MaxCapacity: jsii.Number(least),
		ScheduledActions: &[]any{action("start", from, least), action("end", to, 0)},
	})
	target.Node().AddDependency(alias)
}

// guard lets new versions in step by step. It moves an alias back when the alarm of its
// function, or one that is of all functions, is raised meanwhile.
func (r *releases) guard(ofAll ...awscloudwatch.Alarm) {
	if r.settings.CanaryMinutes == 0 || len(r.aliases) == 0 {
		return
	}
	r.open()
	for _, a := range r.aliases {
		r.step(a, append(ofAll, a.alarm))
	}
}

// step makes the deployment group of an alias.
func (r *releases) step(a released, alarms []awscloudwatch.Alarm) {
	var watched []any
	for _, alarm := range alarms {
		watched = append(watched, map[string]any{"Name": alarm.AlarmName()})
	}
	// The package of the CDK for CodeDeploy links those of EC2, ECS and load balancers.
	group := awscdk.NewCfnResource(r.stack, jsii.String(topology.Title(a.function.Name)+"Release"), &awscdk.CfnResourceProps{
		Type: jsii.String("AWS::CodeDeploy::DeploymentGroup"),
		Properties: &map[string]any{
			"ApplicationName": r.application.Ref(), "ServiceRoleArn": r.role.RoleArn(),
			"DeploymentConfigName":      fmt.Sprintf("CodeDeployDefault.LambdaCanary10Percent%dMinutes", r.settings.CanaryMinutes),
			"DeploymentStyle":           map[string]any{"DeploymentType": "BLUE_GREEN", "DeploymentOption": "WITH_TRAFFIC_CONTROL"},
			"AlarmConfiguration":        map[string]any{"Enabled": true, "Alarms": watched},
			"AutoRollbackConfiguration": map[string]any{"Enabled": true, "Events": []string{"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM", "DEPLOYMENT_STOP_ON_REQUEST"}},
		},
	})
	a.alias.Node().DefaultChild().(awslambda.CfnAlias).CfnOptions().SetUpdatePolicy(&awscdk.CfnUpdatePolicy{
		CodeDeployLambdaAliasUpdate: &awscdk.CfnCodeDeployLambdaAliasUpdate{ApplicationName: r.application.Ref(), DeploymentGroupName: group.Ref()},
	})
}

// open makes what the releases of the stack have in common.
func (r *releases) open() {
	r.application = awscdk.NewCfnResource(r.stack, jsii.String("Releases"), &awscdk.CfnResourceProps{
		Type: jsii.String("AWS::CodeDeploy::Application"), Properties: &map[string]any{"ComputePlatform": "Lambda"},
	})
	r.role = awsiam.NewRole(r.stack, jsii.String("ReleaseRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("codedeploy.amazonaws.com"), &awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": r.stack.Account()},
		}}),
		Description: jsii.String("Moves the aliases of functions of " + r.settings.Customer + " to new versions"),
	})
	functions := jsii.String(fmt.Sprintf("arn:%s:lambda:%s:%s:function:%s-%s-*", *r.stack.Partition(), r.settings.Region, *r.stack.Account(), r.settings.Customer, r.settings.Stage))
	r.role.AddToPolicy(allow([]string{"lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"}, functions))
	r.role.AddToPolicy(allow([]string{"cloudwatch:DescribeAlarms"}, jsii.String(fmt.Sprintf("arn:%s:cloudwatch:%s:%s:alarm:*", *r.stack.Partition(), r.settings.Region, *r.stack.Account()))))
	accept(r.role.Node().FindChild(jsii.String("DefaultPolicy")),
		finding{"AwsSolutions-IAM5", "It moves the aliases of all functions of the stack, and looks at alarms, whose names CloudFormation gives."})
}
