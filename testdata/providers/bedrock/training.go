package bedrock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
)

// The operations of training models, for use in faults.
const (
	Train       = "train"        // CreateModelCustomizationJob
	TrainStatus = "train_status" // GetModelCustomizationJob, GetCustomModelDeployment
	Deploy      = "deploy"       // CreateCustomModelDeployment
	Remove      = "remove"       // StopModelCustomizationJob, and deletions
)

// trainings has the customization jobs, with their models and deployments. All are found by
// their names; models and deployments also by their ARNs.
type trainings struct {
	mu          sync.Mutex
	jobs        map[string]*customization
	deployments map[string]*deployment
}

type customization struct {
	name, token string
	sent        map[string]any
	region      string
	base        string // id of the base model
	arn, model  string // ARNs
	began       time.Time
	message     string // the error, if it fails
	// stopping counts the answers since the job was stopped. 0 means that it was not.
	stopping int
	deleted  bool // the model was deleted
}

type deployment struct {
	name, token, arn string
	job              *customization
	began            time.Time
	fails            bool
}

// limits are the bounds of a hyperparameter.
type limits struct{ least, most float64 }

var novaParameters = map[string]limits{"epochCount": {1, 5}, "learningRate": {1e-6, 1e-4},
	"learningRateWarmupSteps": {0, 100}}

// customizable are the models that can be trained and deployed on demand.
var customizable = map[string]struct {
	region     string
	parameters map[string]limits
}{
	"amazon.nova-micro-v1:0:128k": {"us-east-1", novaParameters},
	"amazon.nova-lite-v1:0:300k":  {"us-east-1", novaParameters},
	"amazon.nova-pro-v1:0:300k":   {"us-east-1", novaParameters},
	"meta.llama3-3-70b-instruct-v1:0:128k": {"us-west-2", map[string]limits{"epochCount": {1, 10}, "batchSize": {1, 1},
		"learningRate": {5e-6, 0.1}}},
}

var (
	jobName   = regexp.MustCompile(`^[a-zA-Z0-9](-*[a-zA-Z0-9+.-])*$`)
	modelName = regexp.MustCompile(`^([0-9a-zA-Z][_-]?){1,63}$`)
	roleARN   = regexp.MustCompile(`^arn:aws(-[^:]+)?:iam::[0-9]{12}:role/.+$`)
	s3URI     = regexp.MustCompile(
		`^s3://([a-z0-9][-.a-z0-9]{1,61}[a-z0-9])/([-!_*'().a-z0-9A-Z]+(?:/[-!_*'().a-z0-9A-Z]+)*)/?$`)
	modelARN     = regexp.MustCompile(`^arn:aws:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:custom-model/.+/[a-z0-9]{12}$`)
	signedRegion = regexp.MustCompile(`Credential=[^/ ]+/\d{8}/([a-z0-9-]+)/`)
)

// longestName is the greatest length of a name, in characters.
const longestName = 63

// routes adds the operations of training.
func (f *fake) routes(handle func(pattern, operation string, h http.HandlerFunc)) {
	handle("POST /model-customization-jobs", Train, f.train)
	handle("GET /model-customization-jobs/{name}", TrainStatus, f.trained)
	handle("POST /model-customization-jobs/{name}/stop", Remove, f.stopTraining)
	handle("POST /model-customization/custom-model-deployments", Deploy, f.deploy)
	handle("GET /model-customization/custom-model-deployments/{name}", TrainStatus, f.deployed)
	handle("DELETE /model-customization/custom-model-deployments/{name}", Remove, f.undeploy)
	handle("DELETE /custom-models/{name}", Remove, f.deleteModel)
}

type uri struct {
	S3URI string `json:"s3Uri"`
}

// train serves POST /model-customization-jobs.
func (f *fake) train(w http.ResponseWriter, r *http.Request) {
	var body struct {
		JobName             string            `json:"jobName"`
		CustomModelName     string            `json:"customModelName"`
		RoleARN             string            `json:"roleArn"`
		ClientRequestToken  *string           `json:"clientRequestToken"`
		BaseModelIdentifier string            `json:"baseModelIdentifier"`
		CustomizationType   string            `json:"customizationType"`
		TrainingDataConfig  uri               `json:"trainingDataConfig"`
		OutputDataConfig    uri               `json:"outputDataConfig"`
		HyperParameters     map[string]string `json:"hyperParameters"`
	}
	sent, ok := read(w, r, &body)
	if !ok {
		return
	}
	region := ""
	if match := signedRegion.FindStringSubmatch(r.Header.Get("Authorization")); match != nil {
		region = match[1]
	}
	base, known := customizable[body.BaseModelIdentifier]
	samples := s3URI.FindStringSubmatch(body.TrainingDataConfig.S3URI)
	switch {
	case len(body.JobName) > longestName || !jobName.MatchString(body.JobName):
		invalid(w, "jobName: does not match the pattern")
	case len(body.CustomModelName) > longestName || !modelName.MatchString(body.CustomModelName):
		invalid(w, "customModelName: does not match the pattern")
	case !roleARN.MatchString(body.RoleARN):
		invalid(w, "roleArn: does not match the pattern")
	case body.ClientRequestToken != nil && !clientToken.MatchString(*body.ClientRequestToken):
		invalid(w, "clientRequestToken: does not match the pattern")
	case !known || base.region != region:
		invalid(w, "The provided model identifier is invalid.")
	case body.CustomizationType != "FINE_TUNING":
		invalid(w, "customizationType: "+body.CustomizationType+" is not supported for the model")
	case samples == nil || !s3URI.MatchString(body.OutputDataConfig.S3URI):
		invalid(w, "s3Uri: does not match the pattern")
	default:
		if message := checkParameters(base.parameters, body.HyperParameters); message != "" {
			invalid(w, message)
			return
		}
		token := ""
		if body.ClientRequestToken != nil {
			token = *body.ClientRequestToken
		}
		f.beginTraining(w, r, sent, samples, &customization{name: body.JobName, token: token, sent: sent,
			region: region, base: body.BaseModelIdentifier})
	}
}

func checkParameters(known map[string]limits, given map[string]string) string {
	for name, text := range given {
		bounds, ok := known[name]
		value, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil || value < bounds.least || value > bounds.most {
			return fmt.Sprintf("hyperParameters: %s is invalid for the model", name)
		}
	}
	return ""
}

// beginTraining begins a job, unless its token has already begun one.
func (f *fake) beginTraining(w http.ResponseWriter, r *http.Request, sent map[string]any, samples []string,
	job *customization) {
	f.training.mu.Lock()
	defer f.training.mu.Unlock()
	if was := f.training.jobs[job.name]; was != nil {
		if job.token == "" || was.token != job.token || !same(was.sent, sent) {
			refuse(w, http.StatusBadRequest, "ConflictException", "The provided job name is currently in use.")
			return
		}
		write(w, http.StatusCreated, map[string]string{"jobArn": was.arn})
		return
	}
	id := fmt.Sprintf("fake%08x", len(f.training.jobs)+1)
	job.arn = fmt.Sprintf("arn:aws:bedrock:%s:000000000000:model-customization-job/%s/%s", job.region, job.base, id)
	job.model = fmt.Sprintf("arn:aws:bedrock:%s:000000000000:custom-model/%s/%s", job.region, job.base, id)
	job.began = f.Now()
	job.message = f.checkSamples(r.Context(), samples[1], samples[2])
	if control.JobFails(r.Context()) {
		job.message = "The training has not converged."
	}
	f.training.jobs[job.name] = job
	f.Control.Accept(control.Acceptance{Provider: Name, Operation: Train, ID: job.arn, Model: job.base,
		ClientToken: job.token, Prompt: job.name, Input: sent})
	write(w, http.StatusCreated, map[string]string{"jobArn": job.arn})
}

// leastSamples is the least number of samples for a job.
const leastSamples = 8

// checkSamples returns the reason why a job fails because of its samples, or "".
func (f *fake) checkSamples(ctx context.Context, bucket, key string) string {
	if f.Read == nil {
		return "The training data could not be read."
	}
	content, err := f.Read(ctx, bucket, key)
	if err != nil {
		return "The training data could not be read: " + err.Error()
	}
	count := 0
	for line := range bytes.Lines(content) {
		count++
		var sample struct {
			SchemaVersion string    `json:"schemaVersion"`
			System        []block   `json:"system"`
			Messages      []message `json:"messages"`
		}
		err := decode(json.RawMessage(line), &sample)
		switch {
		case err != nil || sample.SchemaVersion != "bedrock-conversation-2024":
			return fmt.Sprintf("Line %d of the training data is malformed.", count)
		case len(sample.Messages) != 2 || sample.Messages[0].Role != "user" || sample.Messages[1].Role != "assistant":
			return fmt.Sprintf("The turns of line %d of the training data are malformed.", count)
		case slices.ContainsFunc([]string{"User:", "Bot:", "Assistant:", "System:", "<image>", "<video>", "[EOS]"},
			func(word string) bool { return strings.Contains(string(line), word) }):
			return fmt.Sprintf("Line %d of the training data contains a reserved keyword.", count)
		}
	}
	if count < leastSamples {
		return fmt.Sprintf("The training data has %d records, fewer than %d.", count, leastSamples)
	}
	return ""
}

// took returns the time that a job or a deployment takes.
func (f *fake) took() time.Duration {
	if f.Took > 0 {
		return f.Took
	}
	return control.JobTime
}

// statusOf returns the status of a job.
func (f *fake) statusOf(job *customization) string {
	switch over := f.Now().Sub(job.began) >= f.took(); {
	case job.stopping == 1:
		return "Stopping"
	case job.stopping > 1:
		return "Stopped"
	case over && job.message != "":
		return "Failed"
	case over:
		return "Completed"
	}
	return "InProgress"
}

// named returns the job of a request by its name or ARN.
func (f *fake) named(w http.ResponseWriter, r *http.Request) *customization {
	for _, job := range f.training.jobs {
		if name := r.PathValue("name"); job.name == name || job.arn == name {
			return job
		}
	}
	refuse(w, http.StatusNotFound, "ResourceNotFoundException", "The provided job identifier is not found.")
	return nil
}

// trained serves GET /model-customization-jobs/{name}.
func (f *fake) trained(w http.ResponseWriter, r *http.Request) {
	f.training.mu.Lock()
	defer f.training.mu.Unlock()
	job := f.named(w, r)
	if job == nil {
		return
	}
	if job.stopping > 0 {
		defer func() { job.stopping++ }()
	}
	status, at := f.statusOf(job), func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	answer := map[string]any{
		"jobArn": job.arn, "jobName": job.name, "outputModelName": job.sent["customModelName"],
		"roleArn": job.sent["roleArn"], "status": status,
		"creationTime": at(job.began), "lastModifiedTime": at(f.Now()), "hyperParameters": job.sent["hyperParameters"],
		"customizationType":  "FINE_TUNING",
		"baseModelArn":       "arn:aws:bedrock:" + job.region + "::foundation-model/" + job.base,
		"trainingDataConfig": job.sent["trainingDataConfig"], "outputDataConfig": job.sent["outputDataConfig"],
		"validationDataConfig": map[string]any{"validators": []any{}},
	}
	switch status {
	case "Completed":
		answer["outputModelArn"], answer["endTime"] = job.model, at(job.began.Add(f.took()))
	case "Failed":
		answer["failureMessage"], answer["endTime"] = job.message, at(job.began.Add(f.took()))
	case "InProgress":
		answer["statusDetails"] = map[string]any{"validationDetails": map[string]string{"status": "Completed"},
			"dataProcessingDetails": map[string]string{"status": "InProgress"}}
	}
	write(w, http.StatusOK, answer)
}

// stopTraining serves POST /model-customization-jobs/{name}/stop.
func (f *fake) stopTraining(w http.ResponseWriter, r *http.Request) {
	f.training.mu.Lock()
	defer f.training.mu.Unlock()
	job := f.named(w, r)
	switch {
	case job == nil:
	case f.statusOf(job) != "InProgress":
		refuse(w, http.StatusBadRequest, "ConflictException", "The job is not in progress.")
	default:
		job.stopping = 1
		write(w, http.StatusOK, map[string]string{})
	}
}
