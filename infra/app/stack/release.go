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

	"github.com/content-automation/api/infra/app/customer"
	counts "github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
)

// LiveAlias is the alias by which functions are called. A release moves it to a new version.
const LiveAlias = "live"

// releases move the aliases of one stack's functions by CodeDeploy: a tenth of the calls
// first, and the rest after CanaryMinutes. An alarm of the new version moves them back.
type releases struct {
	stack    awscdk.Stack
	settings customer.Settings
	aliases  []released
	// All aliases share application and role.
	application awscdk.CfnResource
	role        awsiam.Role
	// gated is the condition under which the stack has gates.
	gated awscdk.CfnCondition
}

// released is an alias with its new version and the alarms of its stack.
type released struct {
	function topology.Function
	alias    awslambda.Alias
	version  awslambda.Version
	alarms   alarms
}

// alias returns the function as its callers call it: by its alias. The local system has no
// aliases, nor has a function that Secrets Manager calls twice a month.
func (r *releases) alias(f topology.Function, fn awslambda.Function, alarms alarms) awslambda.IFunction {
	if r.settings.Local() || f.Trigger == topology.ByRotation {
		return fn
	}
	id := topology.Title(f.Name) + "Alias"
	alias := awslambda.NewAlias(r.stack, jsii.String(id), &awslambda.AliasProps{
		AliasName: jsii.String(LiveAlias), Version: fn.CurrentVersion(), Description: jsii.String("The version in use"),
	})
	r.provision(f, alias)
	r.aliases = append(r.aliases, released{f, alias, fn.CurrentVersion(), alarms})
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
		alias.Node().DefaultChild().(awslambda.CfnAlias).SetProvisionedConcurrencyConfig(
			&awslambda.CfnAlias_ProvisionedConcurrencyConfigurationProperty{
				ProvisionedConcurrentExecutions: jsii.Number(least),
			})
		return
	}
	from, to := c.Schedule.Times()
	action := func(name string, at time.Time,
		instances float64) *awsapplicationautoscaling.CfnScalableTarget_ScheduledActionProperty {
		return &awsapplicationautoscaling.CfnScalableTarget_ScheduledActionProperty{
			ScheduledActionName: jsii.String(name), Timezone: jsii.String(c.Schedule.TimeZone),
			Schedule: jsii.String(fmt.Sprintf("cron(%d %d ? * %s *)", at.Minute(), at.Hour(), c.Schedule.Days)),
			ScalableTargetAction: &awsapplicationautoscaling.CfnScalableTarget_ScalableTargetActionProperty{
				MinCapacity: jsii.Number(instances), MaxCapacity: jsii.Number(instances),
			},
		}
	}
	name := r.settings.FunctionName(f.Name)
	target := awsapplicationautoscaling.NewCfnScalableTarget(r.stack, jsii.String(topology.Title(f.Name)+"Instances"),
		&awsapplicationautoscaling.CfnScalableTargetProps{
			ServiceNamespace:  jsii.String("lambda"),
			ScalableDimension: jsii.String("lambda:function:ProvisionedConcurrency"),
			ResourceId:        jsii.String("function:" + name + ":" + LiveAlias), MinCapacity: jsii.Number(0),
			MaxCapacity:      jsii.Number(least),
			ScheduledActions: &[]any{action("start", from, least), action("end", to, 0)},
		})
	target.Node().AddDependency(alias)
}

// guard releases new versions step by step. It moves an alias back if its new version fails.
func (r *releases) guard() {
	if r.settings.CanaryMinutes == 0 || len(r.aliases) == 0 {
		return
	}
	r.prepare()
	parameter := awscdk.NewCfnParameter(r.stack, jsii.String(customer.GatesParameter), &awscdk.CfnParameterProps{
		Type: jsii.String("String"), AllowedValues: jsii.Strings("on", "off"), Default: "on",
		Description: jsii.String("Whether alarms watch the versions of a release; off between releases"),
	})
	r.gated = awscdk.NewCfnCondition(r.stack, jsii.String("Gated"), &awscdk.CfnConditionProps{
		Expression: awscdk.Fn_ConditionEquals(parameter.ValueAsString(), jsii.String("on"))})
	for _, a := range r.aliases {
		r.step(a, r.gate(a))
	}
}

// tolerated is the greatest part of a new version's calls that may fail, in percent.
const tolerated = 1

// gate makes the alarm for a new version that fails. Errors of the previous version neither
// raise it nor prevent a release that corrects them. The alarm has no action.
func (r *releases) gate(a released) awscloudwatch.Alarm {
	name := r.settings.FunctionName(a.function.Name)
	sum := metric("Sum")
	of := func(metric string) awscloudwatch.IMetric {
		return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String("AWS/Lambda"), MetricName: jsii.String(metric), Statistic: sum.Statistic,
			Period: sum.Period,
			DimensionsMap: &map[string]*string{
				"FunctionName": jsii.String(name), "Resource": jsii.String(name + ":" + LiveAlias),
				"ExecutedVersion": a.version.Version(),
			},
		})
	}
	rate, metrics := "100 * errors / calls", map[string]awscloudwatch.IMetric{"errors": of("Errors"),
		"calls": of("Invocations")}
	if a.function.Trigger == topology.ByGateway {
		rate = "100 * SUM([errors, answers]) / calls"
		metrics["answers"] = awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(a.alarms.namespace), MetricName: jsii.String(httpapi.ServerErrors),
			Statistic: sum.Statistic, Period: sum.Period,
			DimensionsMap: &map[string]*string{"release": awscdk.Fn_Join(jsii.String(":"),
				&[]*string{jsii.String(name), a.version.Version()})},
		})
	}
	if f := a.function; f.Trigger == topology.ByQueue || f.Follows() || f.FollowsAudit() {
		rate = a.handled(name, rate, metrics)
	}
	gate := a.alarms.make(topology.Title(a.function.Name)+"GateAlarm", alarm{
		says: fmt.Sprintf("More than %d of 100 calls of the new version of %s fail. CodeDeploy ends its release.",
			tolerated, a.function.Name),
		runbook: "a-release-is-stopped", above: tolerated,
		metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String(rate), Label: jsii.String("Percent of calls that failed"), Period: sum.Period,
			UsingMetrics: &metrics,
		}),
	})
	gate.Node().DefaultChild().(awscloudwatch.CfnAlarm).CfnOptions().SetCondition(r.gated)
	return gate
}

// handled extends the expression of a gate by the failures that a background function handles itself. Its Errors stay
// at 0 even if all its work fails. Those of the other versions are all less its own.
func (a released) handled(name, rate string, metrics map[string]awscloudwatch.IMetric) string {
	sum := metric("Sum")
	failures := func(dimension string, value *string) awscloudwatch.IMetric {
		return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(a.alarms.namespace), MetricName: jsii.String(counts.HandledFailures),
			Statistic: sum.Statistic, Period: sum.Period, DimensionsMap: &map[string]*string{dimension: value},
		})
	}
	metrics["own"] = failures("release", awscdk.Fn_Join(jsii.String(":"),
		&[]*string{jsii.String(name), a.version.Version()}))
	metrics["all"] = failures("function", jsii.String(name))
	metrics["allCalls"] = awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String("AWS/Lambda"), MetricName: jsii.String("Invocations"), Statistic: sum.Statistic,
		Period: sum.Period, DimensionsMap: &map[string]*string{"FunctionName": jsii.String(name)},
	})
	// The metric of failures has no values while there are none; that of errors has.
	own, others := "SUM([own, 0 * errors])", "(SUM([all, 0 * errors]) - SUM([own, 0 * errors]))"
	return fmt.Sprintf("MAX([%s, IF(%s >= %d AND %s > %g * calls AND %s * (allCalls - calls) >= 2 * %s * calls, "+
		"100 * %s / calls, 0 * calls)])", rate, own, customer.LeastFailures, own, customer.FailedPart, own, others, own)
}

// step makes the deployment group of an alias.
func (r *releases) step(a released, gate awscloudwatch.Alarm) {
	// The CDK package for CodeDeploy would link the packages of EC2, ECS and load balancers.
	group := awscdk.NewCfnResource(r.stack, jsii.String(topology.Title(a.function.Name)+"Release"),
		&awscdk.CfnResourceProps{
			Type: jsii.String("AWS::CodeDeploy::DeploymentGroup"),
			Properties: &map[string]any{
				"ApplicationName": r.application.Ref(), "ServiceRoleArn": r.role.RoleArn(),
				"DeploymentConfigName": fmt.Sprintf("CodeDeployDefault.LambdaCanary10Percent%dMinutes",
					r.settings.CanaryMinutes),
				"DeploymentStyle": map[string]any{"DeploymentType": "BLUE_GREEN",
					"DeploymentOption": "WITH_TRAFFIC_CONTROL"},
				"AlarmConfiguration": awscdk.Fn_ConditionIf(r.gated.LogicalId(), map[string]any{"Enabled": true,
					"Alarms": []any{map[string]any{"Name": gate.AlarmName()}}}, map[string]any{"Enabled": false}),
				"AutoRollbackConfiguration": map[string]any{"Enabled": true,
					"Events": []string{"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM", "DEPLOYMENT_STOP_ON_REQUEST"}},
			},
		})
	a.alias.Node().DefaultChild().(awslambda.CfnAlias).CfnOptions().SetUpdatePolicy(&awscdk.CfnUpdatePolicy{
		CodeDeployLambdaAliasUpdate: &awscdk.CfnCodeDeployLambdaAliasUpdate{ApplicationName: r.application.Ref(),
			DeploymentGroupName: group.Ref()},
	})
	// The alarm must watch the new version before the alias moves to it. The group names the alarm if there is one:
	// an alias that depended on the alarm itself would depend on nothing between releases.
	a.alias.Node().AddDependency(group)
}

// prepare makes the resources that the releases of the stack share.
func (r *releases) prepare() {
	r.application = awscdk.NewCfnResource(r.stack, jsii.String("Releases"), &awscdk.CfnResourceProps{
		Type: jsii.String("AWS::CodeDeploy::Application"), Properties: &map[string]any{"ComputePlatform": "Lambda"},
	})
	r.role = awsiam.NewRole(r.stack, jsii.String("ReleaseRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("codedeploy.amazonaws.com"),
			&awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
				"StringEquals": map[string]any{"aws:SourceAccount": r.stack.Account()},
			}}),
		Description: jsii.String("Moves the aliases of functions of " + r.settings.Customer + " to new versions"),
	})
	functions := jsii.String(fmt.Sprintf("arn:%s:lambda:%s:%s:function:%s-*", *r.stack.Partition(), r.settings.Region,
		*r.stack.Account(), r.settings.Short()))
	r.role.AddToPolicy(allow([]string{"lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig",
		"lambda:UpdateAlias"}, functions))
	r.role.AddToPolicy(allow([]string{"cloudwatch:DescribeAlarms"},
		jsii.String(fmt.Sprintf("arn:%s:cloudwatch:%s:%s:alarm:*", *r.stack.Partition(), r.settings.Region,
			*r.stack.Account()))))
	accept(r.role.Node().FindChild(jsii.String("DefaultPolicy")),
		finding{"AwsSolutions-IAM5", "It moves the aliases of all functions of the stack, and looks at alarms, whose " +
			"names CloudFormation gives."})
}
