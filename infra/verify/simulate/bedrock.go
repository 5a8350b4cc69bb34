package simulate

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

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

func (c *customization) status() string {
	switch now := time.Now(); {
	case !c.stopped.IsZero() && now.Before(c.stopped):
		return tune.JobStopping
	case !c.stopped.IsZero():
		return tune.JobStopped
	case now.Before(c.over):
		return tune.JobInProgress
	case c.fails:
		return tune.JobFailed
	default:
		return tune.JobCompleted
	}
}

// hasModel reports whether there is a model, deployed or not.
func (c *customization) hasModel() bool {
	return c.status() == tune.JobCompleted && !c.deleted
}

// exists reports whether there is a deployment.
func (d *deployment) exists() bool {
	return !d.over.IsZero() && (d.gone.IsZero() || time.Now().Before(d.gone))
}

func (d *deployment) status() string {
	switch {
	case time.Now().Before(d.over):
		return tune.DeploymentCreating
	case d.fails:
		return tune.DeploymentFailed
	default:
		return tune.DeploymentActive
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
func control(ctx context.Context, call string, name string, do func(*world, *customization) error) error {
	w := invocationOf(ctx).world
	return pass(ctx, newControl(w, call, name, do))
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
func (bedrockAPI) CreateModelCustomizationJob(ctx context.Context, in tune.NewJob) error {
	return control(ctx, "CreateModelCustomizationJob", in.Name, func(w *world, job *customization) error {
		switch {
		case job == nil:
			samples := strings.TrimPrefix(in.Samples.URI, "s3://media/")
			job = &customization{token: in.Token, over: w.takes(tuning), fails: w.fails(), unread: !w.files[samples]}
			job.fails = job.fails || job.unread
			w.jobs[in.Name] = job
		case in.Token == "" || in.Token != job.token:
			return errConflict()
		}
		return nil
	})
}

// GetModelCustomizationJob implements tune.Client.
func (bedrockAPI) GetModelCustomizationJob(ctx context.Context, name string) (out tune.Job, err error) {
	err = control(ctx, "GetModelCustomizationJob", name, func(_ *world, job *customization) error {
		if job == nil {
			return errMissing()
		}
		if out.Status = job.status(); out.Status == tune.JobCompleted {
			out.Model = name
		}
		return nil
	})
	return out, err
}

// StopModelCustomizationJob implements tune.Client.
func (bedrockAPI) StopModelCustomizationJob(ctx context.Context, name string) error {
	return control(ctx, "StopModelCustomizationJob", name, func(w *world, job *customization) error {
		switch {
		case job == nil:
			return errMissing()
		case job.status() != tune.JobInProgress:
			return errConflict()
		}
		job.stopped = w.takes(stopping)
		return nil
	})
}

// CreateCustomModelDeployment implements tune.Client.
func (bedrockAPI) CreateCustomModelDeployment(ctx context.Context, in tune.NewDeployment) error {
	return control(ctx, "CreateCustomModelDeployment", in.Name, func(w *world, job *customization) error {
		switch {
		case job == nil || !job.hasModel():
			return errMissing()
		case !job.exists():
			job.deployment = deployment{token: in.Token, over: w.takes(deploying), fails: w.fails()}
		case in.Token == "" || in.Token != job.deployment.token:
			return apiError(http.StatusBadRequest, "ValidationException") // the name is taken
		}
		return nil
	})
}

// GetCustomModelDeployment implements tune.Client.
func (bedrockAPI) GetCustomModelDeployment(ctx context.Context, name string) (out tune.Deployment, err error) {
	out.ARN = name
	err = control(ctx, "GetCustomModelDeployment", name, func(_ *world, job *customization) error {
		if job == nil || !job.exists() {
			return errMissing()
		}
		out.Status = job.deployment.status()
		return nil
	})
	return out, err
}

// DeleteCustomModelDeployment implements tune.Client. The deletion takes a while.
func (bedrockAPI) DeleteCustomModelDeployment(ctx context.Context, name string) error {
	return control(ctx, "DeleteCustomModelDeployment", name, func(w *world, job *customization) error {
		switch {
		case job == nil || !job.exists():
			return errMissing()
		case !job.gone.IsZero() || job.deployment.status() == tune.DeploymentCreating:
			return errConflict()
		}
		job.gone = w.takes(stopping)
		return nil
	})
}

// DeleteCustomModel implements tune.Client. It does not delete a deployed model.
func (bedrockAPI) DeleteCustomModel(ctx context.Context, name string) error {
	return control(ctx, "DeleteCustomModel", name, func(_ *world, job *customization) error {
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
