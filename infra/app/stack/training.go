package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// trainable returns the provider's ids of the models that the customer's stack can train.
func trainable(s customer.Settings) (ids []string) {
	if !slices.Contains(s.Providers, bedrock.Name) {
		return nil
	}
	for _, m := range catalog.Models(catalog.Filter{Provider: bedrock.Name}) {
		if m.State == catalog.Available && m.Training != nil && slices.Contains(m.Training.Regions, s.Region) {
			ids = append(ids, m.Training.ProviderModel)
		}
	}
	return ids
}

// trains reports whether the function trains models in this stack.
func (l lambdas) trains(f topology.Function) bool {
	return f.May(topology.TrainModels) && l.trainer != nil
}

// inBedrock returns the ARN of a Bedrock resource in the stack's region and account.
func (l lambdas) inBedrock(resource string) *string {
	return l.bedrockARN(l.data.settings.Region, *l.stack.Account(), resource)
}

// deployments returns the ARN of all deployments of trained models. Bedrock chooses their names.
func (l lambdas) deployments() *string { return l.inBedrock("custom-model-deployment/*") }

// training returns the permissions of the function that trains models.
func (l lambdas) training() []awsiam.PolicyStatement {
	jobs, models := l.inBedrock("model-customization-job/*"), l.inBedrock("custom-model/*")
	created := []*string{jobs, models}
	for _, id := range trainable(l.data.settings) {
		created = append(created, l.bedrockARN(l.data.settings.Region, "", "foundation-model/"+id))
	}
	toBedrock := condition("StringEquals", "iam:PassedToService", bedrockService)
	return []awsiam.PolicyStatement{
		allow([]string{"bedrock:CreateModelCustomizationJob"}, created...),
		allow([]string{"bedrock:GetModelCustomizationJob", "bedrock:StopModelCustomizationJob"}, jobs),
		allow([]string{"bedrock:CreateCustomModelDeployment", "bedrock:DeleteCustomModel"}, models),
		allow([]string{"bedrock:DeleteCustomModelDeployment", "bedrock:GetCustomModelDeployment"}, l.deployments()),
		toBedrock(allow([]string{"iam:PassRole"}, l.trainer.RoleArn())),
		allow([]string{"s3:DeleteObject", "s3:PutObject"}, l.data.media.ArnForObjects(jsii.String(training.Prefix+"*"))),
	}
}

const bedrockService = "bedrock.amazonaws.com"

// newTrainingRole makes the role by which Bedrock reads the samples of trainings and writes
// their metrics, or returns nil if no model can be trained. Only jobs of this account can use
// it.
func (l lambdas) newTrainingRole() awsiam.Role {
	s := l.data.settings
	if len(trainable(s)) == 0 {
		return nil
	}
	role := awsiam.NewRole(l.stack, jsii.String("TrainingRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String(bedrockService),
			&awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
				"StringEquals": map[string]any{"aws:SourceAccount": l.stack.Account()},
				"ArnLike":      map[string]any{"aws:SourceArn": l.inBedrock("model-customization-job/*")},
			}}),
		Description: jsii.String("What Bedrock may do when it trains models of " + s.Customer),
	})
	files := l.data.media.ArnForObjects(jsii.String(training.Prefix + "*"))
	listed := condition("StringLike", "s3:prefix", training.Prefix+"*")
	through := condition("StringEquals", "kms:ViaService", "s3."+s.Region+".amazonaws.com")
	for _, statement := range []awsiam.PolicyStatement{
		allow([]string{"s3:GetObject", "s3:PutObject"}, files),
		listed(allow([]string{"s3:ListBucket"}, l.data.media.BucketArn())),
		through(allow([]string{"kms:Decrypt", "kms:GenerateDataKey"}, l.data.key.KeyArn())),
	} {
		role.AddToPolicy(statement)
	}
	accept(role.Node().FindChild(jsii.String("DefaultPolicy")),
		finding{"AwsSolutions-IAM5", "The files of trainings have no names yet."})
	return role
}
