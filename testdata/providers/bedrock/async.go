package bedrock

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/sample"
)

// work is an asynchronous invocation.
type work struct {
	model, token, ratio string
	output              place
	message             string // the error, if it fails
}

// place is the folder of an invocation's output.
type place struct{ bucket, folder string }

func (p place) String() string { return "s3://" + path.Join(p.bucket, p.folder) }

// begun is the invocation that a client token has begun.
type begun struct {
	arn  string
	sent map[string]any
}

var (
	clientToken = regexp.MustCompile(`^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,255}$`)
	s3Address   = regexp.MustCompile(`^s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(/.*)?$`)
)

// lumaRatios are the aspect ratios of Ray 2.
var lumaRatios = []string{"1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"}

const maxLumaPrompt = 5000

// start serves POST /async-invoke.
func (f *fake) start(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ClientRequestToken *string         `json:"clientRequestToken"`
		ModelID            string          `json:"modelId"`
		ModelInput         json.RawMessage `json:"modelInput"`
		Output             *struct {
			S3 *struct {
				URI         string  `json:"s3Uri"`
				KMSKeyID    *string `json:"kmsKeyId"`
				BucketOwner *string `json:"bucketOwner"`
			} `json:"s3OutputDataConfig"`
		} `json:"outputDataConfig"`
		Tags []struct{ Key, Value string } `json:"tags"`
	}
	sent, ok := read(w, r, &body)
	if !ok {
		return
	}
	model, ok := f.check(w, body.ModelID, "video")
	if !ok {
		return
	}
	var input struct {
		Prompt      string  `json:"prompt"`
		AspectRatio *string `json:"aspect_ratio"`
		Loop        *bool   `json:"loop"`
		Duration    *string `json:"duration"`
		Resolution  *string `json:"resolution"`
	}
	if err := decode(body.ModelInput, &input); err != nil {
		invalid(w, "modelInput: "+err.Error())
		return
	}
	ratio := "16:9"
	if input.AspectRatio != nil {
		ratio = *input.AspectRatio
	}
	var address []string
	if body.Output != nil && body.Output.S3 != nil {
		address = s3Address.FindStringSubmatch(body.Output.S3.URI)
	}
	switch {
	case address == nil:
		invalid(w, "outputDataConfig: expected an S3 URI")
	case body.ClientRequestToken != nil && !clientToken.MatchString(*body.ClientRequestToken):
		invalid(w, "clientRequestToken: does not match the pattern")
	case input.Prompt == "" || utf8.RuneCountInString(input.Prompt) > maxLumaPrompt:
		invalid(w, "prompt: expected 1 to 5000 characters")
	case !slices.Contains(lumaRatios, ratio):
		invalid(w, "aspect_ratio: "+ratio+" is not a valid enum value")
	case input.Duration != nil && !slices.Contains([]string{"5s", "9s"}, *input.Duration):
		invalid(w, "duration: "+*input.Duration+" is not a valid enum value")
	case input.Resolution != nil && !slices.Contains([]string{"540p", "720p"}, *input.Resolution):
		invalid(w, "resolution: "+*input.Resolution+" is not a valid enum value")
	default:
		token := ""
		if body.ClientRequestToken != nil {
			token = *body.ClientRequestToken
		}
		f.begin(w, r, sent, input.Prompt, work{
			model: model, token: token, ratio: ratio, output: place{address[1], strings.Trim(address[2], "/")},
		})
	}
}

// begin begins an invocation, unless its token has already begun one.
func (f *fake) begin(w http.ResponseWriter, r *http.Request, sent map[string]any, prompt string, job work) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if was, ok := f.tokens[job.token]; ok {
		if !same(was.sent, sent) {
			refuse(w, http.StatusBadRequest, "ConflictException", "The client token was used for another request.")
			return
		}
		write(w, http.StatusOK, map[string]string{"invocationArn": was.arn})
		return
	}
	f.count++
	id := fmt.Sprintf("fake%08x", f.count)
	arn := "arn:aws:bedrock:us-west-2:000000000000:async-invoke/" + id
	job.output.folder = path.Join(job.output.folder, id)
	switch {
	case control.JobFails(r.Context()):
		job.message = "The model could not generate the video."
	case strings.Contains(prompt, Filtered):
		job.message = "The prompt was blocked by our content moderation."
	}
	if job.token != "" {
		f.tokens[job.token] = begun{arn, sent}
	}
	f.jobs.Start(arn, job, job.message != "")
	f.Control.Accept(control.Acceptance{
		Provider: Name, Operation: control.Submit, ID: arn, Model: job.model, ClientToken: job.token,
		Prompt: prompt, Input: sent,
	})
	write(w, http.StatusOK, map[string]string{"invocationArn": arn})
}

// get serves GET /async-invoke/{arn}.
func (f *fake) get(w http.ResponseWriter, r *http.Request) {
	job, phase, _, found := f.jobs.Find(r.PathValue("arn"))
	if !found {
		invalid(w, "The provided async invoke ARN is invalid.")
		return
	}
	answer := map[string]any{
		"invocationArn": job.ID, "modelArn": "arn:aws:bedrock:us-west-2::foundation-model/" + job.Work.model,
		"submitTime":       job.Began.UTC().Format(time.RFC3339Nano),
		"lastModifiedTime": f.Now().UTC().Format(time.RFC3339Nano),
		"status":           "InProgress",
		"outputDataConfig": map[string]any{"s3OutputDataConfig": map[string]string{"s3Uri": job.Work.output.String()}},
	}
	if job.Work.token != "" {
		answer["clientRequestToken"] = job.Work.token
	}
	switch phase {
	case control.Succeeded:
		if err := f.store(r, job.ID, job.Work); err != nil {
			answer["status"], answer["failureMessage"] = "Failed", "The output could not be written: "+err.Error()
			break
		}
		answer["status"], answer["endTime"] = "Completed", job.Ends.UTC().Format(time.RFC3339Nano)
	case control.Failed:
		answer["status"], answer["failureMessage"], answer["endTime"] = "Failed", job.Work.message,
			job.Ends.UTC().Format(time.RFC3339Nano)
	}
	write(w, http.StatusOK, answer)
}

// store puts the video into the caller's bucket, once.
func (f *fake) store(r *http.Request, arn string, job work) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stored[arn] {
		return nil
	}
	_, content, err := f.Samples(sample.Video, job.ratio, 0)
	if err != nil {
		return err
	}
	if err := f.Write(r.Context(), job.output.bucket, path.Join(job.output.folder, "output.mp4"), content); err != nil {
		return err
	}
	f.stored[arn] = true
	return nil
}
