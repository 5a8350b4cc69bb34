package bedrock

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
)

// deploy serves POST /model-customization/custom-model-deployments.
func (f *fake) deploy(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ModelARN            string  `json:"modelArn"`
		ModelDeploymentName string  `json:"modelDeploymentName"`
		ClientRequestToken  *string `json:"clientRequestToken"`
		Description         *string `json:"description"`
	}
	sent, ok := read(w, r, &body)
	if !ok {
		return
	}
	token := ""
	if body.ClientRequestToken != nil {
		token = *body.ClientRequestToken
	}
	switch {
	case !modelARN.MatchString(body.ModelARN):
		invalid(w, "modelArn: does not match the pattern")
		return
	case len(body.ModelDeploymentName) > longestName || !modelName.MatchString(body.ModelDeploymentName):
		invalid(w, "modelDeploymentName: does not match the pattern")
		return
	case token != "" && !clientToken.MatchString(token):
		invalid(w, "clientRequestToken: does not match the pattern")
		return
	}
	f.training.mu.Lock()
	defer f.training.mu.Unlock()
	if was := f.training.deployments[body.ModelDeploymentName]; was != nil {
		if token == "" || was.token != token {
			invalid(w, "The deployment name is already in use.")
			return
		}
		write(w, http.StatusAccepted, map[string]string{"customModelDeploymentArn": was.arn})
		return
	}
	var of *customization
	for _, job := range f.training.jobs {
		if job.model == body.ModelARN && f.statusOf(job) == "Completed" && !job.deleted {
			of = job
		}
	}
	if of == nil {
		refuse(w, http.StatusNotFound, "ResourceNotFoundException", "The provided custom model is not found.")
		return
	}
	f.made++
	d := &deployment{
		name: body.ModelDeploymentName, token: token, job: of, began: f.Now(), fails: control.JobFails(r.Context()),
		arn: fmt.Sprintf("arn:aws:bedrock:%s:000000000000:custom-model-deployment/fake%08x", of.region, f.made),
	}
	f.training.deployments[d.name] = d
	f.Control.Accept(control.Acceptance{Provider: Name, Operation: Deploy, ID: d.arn, Model: of.base,
		ClientToken: token, Prompt: d.name, Input: sent})
	write(w, http.StatusAccepted, map[string]string{"customModelDeploymentArn": d.arn})
}

// stateOf returns the status of a deployment.
func (f *fake) stateOf(d *deployment) string {
	switch over := f.Now().Sub(d.began) >= f.took(); {
	case over && d.fails:
		return "Failed"
	case over:
		return "Active"
	}
	return "Creating"
}

// at returns the deployment with a name or ARN, or nil if there is none.
func (t *trainings) at(name string) *deployment {
	for _, d := range t.deployments {
		if d.name == name || d.arn == name {
			return d
		}
	}
	return nil
}

func noDeployment(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, "ResourceNotFoundException", "The provided custom model deployment is not found.")
}

// deployed serves GET /model-customization/custom-model-deployments/{name}.
func (f *fake) deployed(w http.ResponseWriter, r *http.Request) {
	f.training.mu.Lock()
	defer f.training.mu.Unlock()
	d := f.training.at(r.PathValue("name"))
	if d == nil {
		noDeployment(w)
		return
	}
	answer := map[string]any{
		"customModelDeploymentArn": d.arn, "modelDeploymentName": d.name, "modelArn": d.job.model,
		"status":    f.stateOf(d),
		"createdAt": d.began.UTC().Format(time.RFC3339Nano),
	}
	if answer["status"] == "Failed" {
		answer["failureMessage"] = "There is no capacity."
	}
	write(w, http.StatusOK, answer)
}

// undeploy serves DELETE /model-customization/custom-model-deployments/{name}.
func (f *fake) undeploy(w http.ResponseWriter, r *http.Request) {
	f.training.mu.Lock()
	defer f.training.mu.Unlock()
	d := f.training.at(r.PathValue("name"))
	switch {
	case d == nil:
		noDeployment(w)
	case f.stateOf(d) == "Creating":
		refuse(w, http.StatusBadRequest, "ConflictException", "The deployment is being created.")
	default:
		delete(f.training.deployments, d.name)
		write(w, http.StatusOK, map[string]string{})
	}
}

// deleteModel serves DELETE /custom-models/{name}.
func (f *fake) deleteModel(w http.ResponseWriter, r *http.Request) {
	f.training.mu.Lock()
	defer f.training.mu.Unlock()
	name := r.PathValue("name")
	for _, job := range f.training.jobs {
		if job.sent["customModelName"] != name && job.model != name || f.statusOf(job) != "Completed" || job.deleted {
			continue
		}
		for _, d := range f.training.deployments {
			if d.job == job {
				refuse(w, http.StatusBadRequest, "ConflictException", "The model has a deployment.")
				return
			}
		}
		job.deleted = true
		write(w, http.StatusOK, map[string]string{})
		return
	}
	refuse(w, http.StatusNotFound, "ResourceNotFoundException", "The provided model identifier is not found.")
}

// custom returns the id of the base model of a deployment, which is called by its ARN.
func (f *fake) custom(w http.ResponseWriter, called string) (base string, ok bool) {
	f.training.mu.Lock()
	defer f.training.mu.Unlock()
	d := f.training.at(called)
	if d == nil || f.stateOf(d) != "Active" {
		noDeployment(w)
		return "", false
	}
	return d.job.base, true
}

// isCustom reports whether a model is called by the ARN of a deployment.
func isCustom(model string) bool { return strings.Contains(model, ":custom-model-deployment/") }
