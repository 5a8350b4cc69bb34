package simulate

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrock"
	"github.com/aws/aws-sdk-go-v2/service/bedrock/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
)

// bedrockAPI is the part of Bedrock's API that trains models.
type bedrockAPI struct{}

var _ tune.Client = bedrockAPI{}

// customization is a job that trains a model, with its model and deployment. All three have the same name.
type customization struct {
	token string
	// over is the time at which the job ends, unless it is stopped before; stopped is the time at which the stop is
	// complete.
	over, stopped time.Time
	fails         bool
	// unread reports whether its samples were missing.
	unread  bool
	deleted bool // whether the model was deleted
	deployment
}

// deployment makes the model of a job callable. Its zero value means that there is none.
type deployment struct {
	token string
	over  time.Time
	fails bool
	// gone is the time at which its deletion is complete.
	gone time.Time
}

const (
	// tuning is the longest time of a job, and deploying that of a deployment.
	tuning    = 90 * time.Second
	deploying = 20 * time.Second
	// stopping is the longest time until a job has stopped, or a deployment is gone.
	stopping = 10 * time.Second
)

func (c *customization) status() types.ModelCustomizationJobStatus {
	switch now := time.Now(); {
	case !c.stopped.IsZero() && now.Before(c.stopped):
		return types.ModelCustomizationJobStatusStopping
	case !c.stopped.IsZero():
		return types.ModelCustomizationJobStatusStopped
	case now.Before(c.over):
		return types.ModelCustomizationJobStatusInProgress
	case c.fails:
		return types.ModelCustomizationJobStatusFailed
	default:
		return types.ModelCustomizationJobStatusCompleted
	}
}

// hasModel reports whether there is a model, deployed or not.
func (c *customization) hasModel() bool {
	return c.status() == types.ModelCustomizationJobStatusCompleted && !c.deleted
}

// exists reports whether there is a deployment.
func (d *deployment) exists() bool {
	return !d.over.IsZero() && (d.gone.IsZero() || time.Now().Before(d.gone))
}

func (d *deployment) status() types.CustomModelDeploymentStatus {
	switch {
	case time.Now().Before(d.over):
		return types.CustomModelDeploymentStatusCreating
	case d.fails:
		return types.CustomModelDeploymentStatusFailed
	default:
		return types.CustomModelDeploymentStatusActive
	}
}

// apiError returns the SDK's error for a call that the API refuses.
func apiError(status int, code string) error {
	return &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: "Simulated."},
	}
}

func errMissing() error  { return apiError(http.StatusNotFound, "ResourceNotFoundException") }
func errConflict() error { return apiError(http.StatusBadRequest, "ConflictException") }

// control makes a call about the job with a name. The job is nil if there is none.
func control(ctx context.Context, call string, name *string, do func(*world, *customization) error) error {
	w := invocationOf(ctx).world
	return pass(ctx, newControl(w, call, *name, do))
}

func newControl(w *world, name, of string, do func(*world, *customization) error) *call {
	return &call{
		kind: toProvider, key: name + " " + of, refused: apiError(http.StatusTooManyRequests, "ThrottlingException"),
		lost: errLost,
		do:   func() error { return do(w, w.jobs[of]) },
	}
}

// takes draws the end of an operation.
func (w *world) takes(most time.Duration) time.Time {
	return time.Now().Add(between(w.random, time.Second, most))
}

// fails draws whether the provider fails.
func (w *world) fails() bool { return !w.calm && chance(w.random, w.faults.Provider) }

// CreateModelCustomizationJob implements tune.Client. A known token starts no second job, and a name is used once.
func (bedrockAPI) CreateModelCustomizationJob(ctx context.Context, in *bedrock.CreateModelCustomizationJobInput,
	_ ...func(*bedrock.Options)) (*bedrock.CreateModelCustomizationJobOutput, error) {
	return &bedrock.CreateModelCustomizationJobOutput{JobArn: in.JobName}, control(ctx, "CreateModelCustomizationJob",
		in.JobName, func(w *world, job *customization) error {
			token := aws.ToString(in.ClientRequestToken)
			switch {
			case job == nil:
				samples := strings.TrimPrefix(*in.TrainingDataConfig.S3Uri, "s3://media/")
				job = &customization{token: token, over: w.takes(tuning), fails: w.fails(), unread: !w.files[samples]}
				job.fails = job.fails || job.unread
				w.jobs[*in.JobName] = job
			case token == "" || token != job.token:
				return errConflict()
			}
			return nil
		})
}

// GetModelCustomizationJob implements tune.Client.
func (bedrockAPI) GetModelCustomizationJob(ctx context.Context, in *bedrock.GetModelCustomizationJobInput,
	_ ...func(*bedrock.Options)) (*bedrock.GetModelCustomizationJobOutput, error) {
	out := &bedrock.GetModelCustomizationJobOutput{}
	return out, control(ctx, "GetModelCustomizationJob", in.JobIdentifier, func(_ *world, job *customization) error {
		if job == nil {
			return errMissing()
		}
		if out.Status = job.status(); out.Status == types.ModelCustomizationJobStatusCompleted {
			out.OutputModelArn = in.JobIdentifier
		}
		return nil
	})
}

// StopModelCustomizationJob implements tune.Client.
func (bedrockAPI) StopModelCustomizationJob(ctx context.Context, in *bedrock.StopModelCustomizationJobInput,
	_ ...func(*bedrock.Options)) (*bedrock.StopModelCustomizationJobOutput, error) {
	return &bedrock.StopModelCustomizationJobOutput{}, control(ctx, "StopModelCustomizationJob", in.JobIdentifier,
		func(w *world, job *customization) error {
			switch {
			case job == nil:
				return errMissing()
			case job.status() != types.ModelCustomizationJobStatusInProgress:
				return errConflict()
			}
			job.stopped = w.takes(stopping)
			return nil
		})
}

// CreateCustomModelDeployment implements tune.Client.
func (bedrockAPI) CreateCustomModelDeployment(ctx context.Context, in *bedrock.CreateCustomModelDeploymentInput,
	_ ...func(*bedrock.Options)) (*bedrock.CreateCustomModelDeploymentOutput, error) {
	return &bedrock.CreateCustomModelDeploymentOutput{}, control(ctx, "CreateCustomModelDeployment",
		in.ModelDeploymentName, func(w *world, job *customization) error {
			token := aws.ToString(in.ClientRequestToken)
			switch {
			case job == nil || !job.hasModel():
				return errMissing()
			case !job.exists():
				job.deployment = deployment{token: token, over: w.takes(deploying), fails: w.fails()}
			case token == "" || token != job.deployment.token:
				return apiError(http.StatusBadRequest, "ValidationException") // the name is taken
			}
			return nil
		})
}

// GetCustomModelDeployment implements tune.Client.
func (bedrockAPI) GetCustomModelDeployment(ctx context.Context, in *bedrock.GetCustomModelDeploymentInput,
	_ ...func(*bedrock.Options)) (*bedrock.GetCustomModelDeploymentOutput, error) {
	out := &bedrock.GetCustomModelDeploymentOutput{CustomModelDeploymentArn: in.CustomModelDeploymentIdentifier}
	return out, control(ctx, "GetCustomModelDeployment", in.CustomModelDeploymentIdentifier,
		func(_ *world, job *customization) error {
			if job == nil || !job.exists() {
				return errMissing()
			}
			out.Status = job.deployment.status()
			return nil
		})
}

// DeleteCustomModelDeployment implements tune.Client. The deletion takes a while.
func (bedrockAPI) DeleteCustomModelDeployment(ctx context.Context, in *bedrock.DeleteCustomModelDeploymentInput,
	_ ...func(*bedrock.Options)) (*bedrock.DeleteCustomModelDeploymentOutput, error) {
	return &bedrock.DeleteCustomModelDeploymentOutput{}, control(ctx, "DeleteCustomModelDeployment",
		in.CustomModelDeploymentIdentifier, func(w *world, job *customization) error {
			switch {
			case job == nil || !job.exists():
				return errMissing()
			case !job.gone.IsZero() || job.deployment.status() == types.CustomModelDeploymentStatusCreating:
				return errConflict()
			}
			job.gone = w.takes(stopping)
			return nil
		})
}

// DeleteCustomModel implements tune.Client. It does not delete a deployed model.
func (bedrockAPI) DeleteCustomModel(ctx context.Context, in *bedrock.DeleteCustomModelInput,
	_ ...func(*bedrock.Options)) (*bedrock.DeleteCustomModelOutput, error) {
	return &bedrock.DeleteCustomModelOutput{}, control(ctx, "DeleteCustomModel", in.ModelIdentifier,
		func(_ *world, job *customization) error {
			switch {
			case job == nil || !job.hasModel():
				return errMissing()
			case job.exists():
				return errConflict()
			}
			job.deleted = true
			return nil
		})
}

// Put implements training.Objects.
func (objects) Put(ctx context.Context, f media.File, _ io.ReadSeeker) error {
	w := invocationOf(ctx).world
	return pass(ctx, &call{kind: toObjects, key: "Put " + f.Key, refused: errRefused, lost: errLost, do: func() error {
		w.files[f.Key], w.sums[f.Key] = true, f.SHA256
		return nil
	}})
}

// PutNew implements transfer.Objects. No import brings a file.
func (o objects) PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error {
	return o.Put(ctx, f, content)
}

// Sum implements publication.Sums.
func (objects) Sum(ctx context.Context, key string) (sum string, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toObjects, key: "Sum " + key, refused: errRefused, do: func() error {
		var ok bool
		if sum, ok = w.sums[key]; !ok {
			return errs.New(errs.NotFound, "There is no file %s.", key)
		}
		return nil
	}})
	return sum, err
}

// Delete implements training.Objects.
func (objects) Delete(ctx context.Context, key string) error {
	w := invocationOf(ctx).world
	return pass(ctx, &call{kind: toObjects, key: "Delete " + key, refused: errRefused, lost: errLost, do: func() error {
		delete(w.files, key)
		return nil
	}})
}
