// Package tune trains models with Amazon Bedrock: a customization job learns from samples in a bucket, and a deployment
// makes its model callable on demand. Job, model and deployment all have the name of the training, so that each is
// found without a handle, and is made only once. Start with Trainer.
package tune

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/area/training"
)

// timeout bounds each call: none of them waits for the work.
const timeout = 20 * time.Second

// Config is the configuration of the trainer.
type Config struct {
	// AWS has region and credentials. Its endpoint, retries and HTTP client are not used: see wire.AWSConfig.
	AWS aws.Config
	// Fakes is the address of the fakes of all providers. If it is empty, calls go to Bedrock itself.
	Fakes string
	// Client makes the calls. If it is nil, they go to AWS.
	Client Client
	// Bucket holds the samples, and Role is the ARN of the role by which Bedrock reads them.
	Bucket, Role string
}

// Trainer trains models with Bedrock.
type Trainer struct {
	client       Client
	bucket, role string
}

var _ training.Trainer = (*Trainer)(nil)

// New makes the trainer. It makes no call.
func New(cfg Config) *Trainer {
	if cfg.Client == nil {
		endpoint := ""
		if cfg.Fakes != "" {
			endpoint = cfg.Fakes + "/bedrock"
		}
		cfg.Client = newClient(cfg.AWS, endpoint)
	}
	return &Trainer{cfg.Client, cfg.Bucket, cfg.Role}
}

// The codes of refusals that the trainer acts on.
const (
	conflict = "training_conflict" // there is one already, or it is in use
	missing  = "training_missing"
)

// call makes one call of the API.
func call(ctx context.Context, name string, do func(context.Context) error) error {
	c := wire.AWSCall{Name: "bedrock: " + name, Timeout: timeout, Classify: func(code, _ string) *provider.Error {
		switch code {
		case "Conflict":
			return &provider.Error{Kind: provider.Transient, Code: conflict,
				Message: "The provider is still busy with the model."}
		case "ResourceNotFound":
			return &provider.Error{Kind: provider.BadInput, Code: missing,
				Message: "The provider does not know the training."}
		}
		return nil
	}}
	return c.Do(ctx, do)
}

func is(err error, code string) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Code == code
}

// Begin implements training.Trainer. The name is also the client token. If the token has been
// forgotten, the name of the job is taken, which means that the training has begun.
func (t *Trainer) Begin(ctx context.Context, o training.Order) error {
	err := call(ctx, "CreateModelCustomizationJob", func(ctx context.Context) error {
		return t.client.CreateModelCustomizationJob(ctx, NewJob{
			Name: o.Name, ModelName: o.Name, Token: o.Name, Model: o.Model, CustomizationType: fineTuning,
			HyperParameters: o.Parameters, Role: t.role, Samples: t.at(o.Samples), Output: t.at(o.Output),
		})
	})
	if is(err, conflict) {
		return nil
	}
	return err
}

// at is the address of a key in the bucket.
func (t *Trainer) at(key string) Place { return Place{"s3://" + t.bucket + "/" + key} }

// Find implements training.Trainer.
func (t *Trainer) Find(ctx context.Context, name string) (s training.Status, err error) {
	out, err := t.job(ctx, name)
	if err != nil {
		return s, err
	}
	switch out.Status {
	case JobCompleted:
		s.Progress, s.Model = 100, out.Model
		if s.Model == "" {
			return s, wire.AWSCall{Name: "bedrock: GetModelCustomizationJob"}.Garbled(
				errors.New("a completed job has no model"))
		}
	case JobFailed, JobStopping, JobStopped:
		s.Failure = fmt.Sprintf("the job is %s: %s", out.Status, out.FailureMessage)
	default:
		s.Progress = progress(out)
	}
	return s, nil
}

func (t *Trainer) job(ctx context.Context, name string) (out Job, err error) {
	err = call(ctx, "GetModelCustomizationJob", func(ctx context.Context) (err error) {
		out, err = t.client.GetModelCustomizationJob(ctx, name)
		return err
	})
	return out, err
}

// progress returns the progress of a running job, estimated from its phase.
func progress(j Job) int {
	switch JobCompleted {
	case j.Phases.DataProcessing.Status:
		return 30
	case j.Phases.Validation.Status:
		return 10
	}
	return 0
}

// Deploy implements training.Trainer.
func (t *Trainer) Deploy(ctx context.Context, name, model string) (endpoint string, err error) {
	out, err := t.deployment(ctx, name)
	if is(err, missing) {
		return "", call(ctx, "CreateCustomModelDeployment", func(ctx context.Context) error {
			return t.client.CreateCustomModelDeployment(ctx, NewDeployment{Model: model, Name: name, Token: name})
		})
	}
	if err != nil {
		return "", err
	}
	switch out.Status {
	case DeploymentActive:
		return out.ARN, nil
	case DeploymentFailed:
		return "", &provider.Error{
			Kind: provider.Rejected, Code: "deployment_failed",
			Message: "The provider could not deploy the trained model.",
			Cause:   errors.New(out.FailureMessage),
		}
	}
	return "", nil
}

func (t *Trainer) deployment(ctx context.Context, name string) (out Deployment, err error) {
	err = call(ctx, "GetCustomModelDeployment", func(ctx context.Context) (err error) {
		out, err = t.client.GetCustomModelDeployment(ctx, name)
		return err
	})
	return out, err
}

// Remove implements training.Trainer. A model that is deployed cannot be deleted, and a deployment takes a while to go.
func (t *Trainer) Remove(ctx context.Context, name string) (gone bool, err error) {
	running, err := t.job(ctx, name)
	switch {
	case is(err, missing):
		return true, nil
	case err != nil:
		return false, err
	case running.Status == JobStopping:
		return false, nil
	case running.Status == JobInProgress:
		return false, except(conflict, call(ctx, "StopModelCustomizationJob", func(ctx context.Context) error {
			return t.client.StopModelCustomizationJob(ctx, name)
		}))
	case running.Status != JobCompleted:
		return true, nil // no model was made
	}
	err = call(ctx, "DeleteCustomModelDeployment", func(ctx context.Context) error {
		return t.client.DeleteCustomModelDeployment(ctx, name)
	})
	if !is(err, missing) {
		return false, except(conflict, err)
	}
	err = call(ctx, "DeleteCustomModel", func(ctx context.Context) error {
		return t.client.DeleteCustomModel(ctx, name)
	})
	if is(err, missing) {
		return true, nil
	}
	return false, except(conflict, err)
}

// except returns the error unless it has the code.
func except(code string, err error) error {
	if is(err, code) {
		return nil
	}
	return err
}
