package main_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	fake "github.com/content-automation/api/testdata/providers/bedrock"
	"github.com/content-automation/api/testdata/providers/control"
)

const line = `{"schemaVersion": "bedrock-conversation-2024", "system": [{"text": "x"}], "messages": [{"role": "user", "content": [{"text": "y"}]}, {"role": "assistant", "content": [{"text": "z"}]}]}` + "\n"

// newTrainer makes a fake with samples in its bucket, and a clock.
func newTrainer(samples string) (http.Handler, *time.Time) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	return fake.New(fake.Config{
		Control: control.New(), Now: func() time.Time { return now }, Took: time.Minute,
		Read: func(_ context.Context, bucket, key string) ([]byte, error) {
			if bucket != "media-bucket" || key != "training/samples.jsonl" {
				return nil, errors.New("no such file")
			}
			return []byte(samples), nil
		},
	}), &now
}

func TestJobsAreBegunOncePerToken(t *testing.T) {
	h, _ := newTrainer(strings.Repeat(line, 8))
	_, _, first := call(t, h, http.MethodPost, trainings, train, signature)
	status, _, again := call(t, h, http.MethodPost, trainings, train, signature)
	if status != http.StatusCreated || first["jobArn"] == nil || again["jobArn"] != first["jobArn"] {
		t.Errorf("%v, then %d %v", first, status, again)
	}
	for old, replacement := range map[string]string{`"clientRequestToken": "trn-1"`: `"clientRequestToken": "trn-2"`,
		`"5"`: `"4"`} {
		if status, code, _ := call(t, h, http.MethodPost, trainings, strings.Replace(train, old, replacement, 1),
			signature); status != http.StatusBadRequest || code != "ConflictException" {
			t.Errorf("with %s: %d %s", replacement, status, code)
		}
	}
}

func TestJobsReadTheirSamples(t *testing.T) {
	for name, c := range map[string]struct{ samples, want string }{
		"good":            {strings.Repeat(line, 8), "Completed"},
		"few":             {strings.Repeat(line, 7), "Failed"},
		"malformed":       {strings.Repeat(line, 8) + "{}\n", "Failed"},
		"a reserved word": {strings.Repeat(line, 8) + strings.Replace(line, `"y"`, `"User: y"`, 1), "Failed"},
		"no answer":       {strings.Repeat(strings.Replace(line, "assistant", "user", 1), 8), "Failed"},
	} {
		h, now := newTrainer(c.samples)
		call(t, h, http.MethodPost, trainings, train, signature)
		if _, _, job := call(t, h, http.MethodGet, trainings+"/trn-1", "", signature); job["status"] != "InProgress" {
			t.Errorf("%s: %v", name, job)
		}
		*now = now.Add(time.Minute)
		if _, _, job := call(t, h, http.MethodGet, trainings+"/trn-1", "", signature); job["status"] != c.want {
			t.Errorf("%s: %v", name, job)
		}
	}
}

func TestModelsAreDeployedAndRemoved(t *testing.T) {
	const deployments, models = "/model-customization/custom-model-deployments", "/custom-models"
	h, now := newTrainer(strings.Repeat(line, 8))
	call(t, h, http.MethodPost, trainings, train, signature)
	*now = now.Add(time.Minute)
	_, _, job := call(t, h, http.MethodGet, trainings+"/trn-1", "", signature)
	deploy := `{"modelArn": "` + job["outputModelArn"].(string) +
		`", "modelDeploymentName": "trn-1", "clientRequestToken": "trn-1"}`
	_, _, deployed := call(t, h, http.MethodPost, deployments, deploy, signature)
	if status, code, _ := call(t, h, http.MethodDelete, deployments+"/trn-1", "",
		signature); status != http.StatusBadRequest || code != "ConflictException" {
		t.Errorf("deleted while it is created: %d %s", status, code)
	}
	called := "/model/" + strings.ReplaceAll(strings.ReplaceAll(deployed["customModelDeploymentArn"].(string), "/",
		"%2F"), ":", "%3A") + "/converse"
	for _, c := range []struct {
		method, path, body string
		after              time.Duration
		status             int
	}{
		{http.MethodPost, called, bodies["converse"].body, 0, 404}, // not yet active
		{http.MethodPost, called, bodies["converse"].body, time.Minute, 200},
		{http.MethodPost, deployments, deploy, 0, 202},
		{http.MethodPost, trainings + "/trn-1/stop", "", 0, 400},
		{http.MethodDelete, models + "/trn-1", "", 0, 400}, // still deployed
		{http.MethodDelete, deployments + "/trn-1", "", 0, 200},
		{http.MethodDelete, deployments + "/trn-1", "", 0, 404},
		{http.MethodPost, called, bodies["converse"].body, 0, 404},
		{http.MethodDelete, models + "/trn-1", "", 0, 200},
		{http.MethodDelete, models + "/trn-1", "", 0, 404},
		{http.MethodPost, deployments, deploy, 0, 404},
		{http.MethodGet, trainings + "/trn-2", "", 0, 404},
	} {
		*now = now.Add(c.after)
		if status, code, answer := call(t, h, c.method, c.path, c.body, signature); status != c.status {
			t.Errorf("%s %s: %d %s %v, want %d", c.method, c.path, status, code, answer, c.status)
		}
	}
}

func TestJobsAreStopped(t *testing.T) {
	h, now := newTrainer(strings.Repeat(line, 8))
	call(t, h, http.MethodPost, trainings, train, signature)
	call(t, h, http.MethodPost, trainings+"/trn-1/stop", "", signature)
	for _, want := range []string{"Stopping", "Stopped", "Stopped"} {
		*now = now.Add(time.Minute)
		if _, _, job := call(t, h, http.MethodGet, trainings+"/trn-1", "", signature); job["status"] != want ||
			job["outputModelArn"] != nil {
			t.Errorf("%v, want %s", job, want)
		}
	}
}
