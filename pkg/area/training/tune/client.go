package tune

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/awsapi"
)

// Client makes the calls of Bedrock's API that the trainer needs. Names are those of jobs, deployments and models.
type Client interface {
	CreateModelCustomizationJob(context.Context, NewJob) error
	GetModelCustomizationJob(ctx context.Context, name string) (Job, error)
	StopModelCustomizationJob(ctx context.Context, name string) error
	CreateCustomModelDeployment(context.Context, NewDeployment) error
	GetCustomModelDeployment(ctx context.Context, name string) (Deployment, error)
	DeleteCustomModelDeployment(ctx context.Context, name string) error
	DeleteCustomModel(ctx context.Context, name string) error
}

// NewJob is the request of a customization job. Its members and those of the other types are those of Bedrock's API.
type NewJob struct {
	Name              string            `json:"jobName"`
	ModelName         string            `json:"customModelName"`
	Token             string            `json:"clientRequestToken"`
	Model             string            `json:"baseModelIdentifier"`
	CustomizationType string            `json:"customizationType"`
	HyperParameters   map[string]string `json:"hyperParameters,omitempty"`
	Role              string            `json:"roleArn"`
	Samples           Place             `json:"trainingDataConfig"`
	Output            Place             `json:"outputDataConfig"`
}

// Place is an address in a bucket.
type Place struct {
	URI string `json:"s3Uri"`
}

// fineTuning is the customization that learns from samples with answers.
const fineTuning = "FINE_TUNING"

// The statuses of jobs and of their phases that the trainer acts on.
const (
	JobInProgress = "InProgress"
	JobCompleted  = "Completed"
	JobFailed     = "Failed"
	JobStopping   = "Stopping"
	JobStopped    = "Stopped"
)

// Job is a customization job.
type Job struct {
	Status         string `json:"status"`
	Model          string `json:"outputModelArn"`
	FailureMessage string `json:"failureMessage"`
	Phases         struct {
		Validation     Phase `json:"validationDetails"`
		DataProcessing Phase `json:"dataProcessingDetails"`
	} `json:"statusDetails"`
}

// Phase is a phase of a job.
type Phase struct {
	Status string `json:"status"`
}

// NewDeployment is the request of a deployment.
type NewDeployment struct {
	Model string `json:"modelArn"`
	Name  string `json:"modelDeploymentName"`
	Token string `json:"clientRequestToken"`
}

// The statuses of deployments.
const (
	DeploymentCreating = "Creating"
	DeploymentActive   = "Active"
	DeploymentFailed   = "Failed"
)

// Deployment is a deployment of a model.
type Deployment struct {
	Status         string `json:"status"`
	ARN            string `json:"customModelDeploymentArn"`
	FailureMessage string `json:"failureMessage"`
}

// client calls Bedrock. The client of the SDK would add five megabytes to each program that trains.
type client struct{ api *awsapi.Client }

func newClient(cfg aws.Config, endpoint string) client {
	return client{awsapi.New(wire.AWSConfig(cfg, endpoint), "bedrock", "bedrock")}
}

// The paths of jobs, deployments and models.
const (
	jobs        = "/model-customization-jobs"
	deployments = "/model-customization/custom-model-deployments"
	models      = "/custom-models"
)

func at(path, name string) string { return path + "/" + httpbinding.EscapePath(name, true) }

func (c client) CreateModelCustomizationJob(ctx context.Context, in NewJob) error {
	return c.api.Do(ctx, http.MethodPost, jobs, in, nil)
}

func (c client) GetModelCustomizationJob(ctx context.Context, name string) (out Job, err error) {
	return out, c.api.Do(ctx, http.MethodGet, at(jobs, name), nil, &out)
}

func (c client) StopModelCustomizationJob(ctx context.Context, name string) error {
	return c.api.Do(ctx, http.MethodPost, at(jobs, name)+"/stop", nil, nil)
}

func (c client) CreateCustomModelDeployment(ctx context.Context, in NewDeployment) error {
	return c.api.Do(ctx, http.MethodPost, deployments, in, nil)
}

func (c client) GetCustomModelDeployment(ctx context.Context, name string) (out Deployment, err error) {
	return out, c.api.Do(ctx, http.MethodGet, at(deployments, name), nil, &out)
}

func (c client) DeleteCustomModelDeployment(ctx context.Context, name string) error {
	return c.api.Do(ctx, http.MethodDelete, at(deployments, name), nil, nil)
}

func (c client) DeleteCustomModel(ctx context.Context, name string) error {
	return c.api.Do(ctx, http.MethodDelete, at(models, name), nil, nil)
}
