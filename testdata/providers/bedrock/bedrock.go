// Package bedrock is a fake of Amazon Bedrock: Converse, InvokeModel and asynchronous
// invocations of its runtime, and the training and deployment of custom models, as AWS
// documents the protocol and the models. It checks requests more strictly than the service,
// and answers with real files.
package bedrock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/strict"
)

// Name is the provider's name in faults.
const Name = "bedrock"

// Filtered is in prompts that the rules of content forbid.
const Filtered = "something forbidden"

// Config configures a fake.
type Config struct {
	Control *control.Control
	Samples control.Samples
	Now     func() time.Time
	// Took is the time that a video takes. 0 means control.JobTime.
	Took time.Duration
	// Write puts an object into the bucket of a caller, as Bedrock does with the
	// caller's permissions.
	Write func(ctx context.Context, bucket, key string, content []byte) error
	// Read reads an object of a caller's bucket, as jobs do. If it is nil, they can read none.
	Read func(ctx context.Context, bucket, key string) ([]byte, error)
	// Legacy are the models that are refused to the account, as AWS refuses those in the state Legacy to an account
	// that has not used them: by the beginnings of their ids. Denied are those whose terms it has not accepted.
	Legacy, Denied []string
}

type fake struct {
	Config
	jobs *control.Jobs[work]

	mu     sync.Mutex
	tokens map[string]begun // by ClientRequestToken
	stored map[string]bool  // videos that are in the bucket
	count  int

	training trainings
	made     int // number of deployments
}

// New makes a fake. It has the operations control.Submit, control.Status and control.Guard.
func New(cfg Config) http.Handler {
	f := &fake{Config: cfg, jobs: control.NewJobs[work](cfg.Now, cfg.Took), tokens: map[string]begun{},
		stored: map[string]bool{}}
	f.training = trainings{jobs: map[string]*customization{}, deployments: map[string]*deployment{}}
	mux := http.NewServeMux()
	handle := func(pattern, operation string, h http.HandlerFunc) {
		mux.HandleFunc(pattern, signed(cfg.Control.Handle(Name, operation, h)))
	}
	handle("POST /model/{model}/converse", control.Submit, f.converse)
	handle("POST /model/{model}/invoke", control.Submit, f.invoke)
	handle("POST /guardrail/{id}/version/{version}/apply", control.Guard, f.guard)
	handle("POST /async-invoke", control.Submit, f.start)
	handle("GET /async-invoke/{arn}", control.Status, f.get)
	f.routes(handle)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "UnknownOperationException", "")
	})
	return mux
}

// authorization matches a signature of version 4 for this service. The fake cannot verify it,
// since only AWS knows the keys.
var authorization = regexp.MustCompile(
	`^AWS4-HMAC-SHA256 Credential=[^/ ]+/\d{8}/[a-z0-9-]+/bedrock/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}$`)

// signed returns h for signed requests. It refuses all others.
func signed(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		match := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
		if match == nil || !slices.Contains(strings.Split(match[1], ";"), "host") || r.Header.Get("X-Amz-Date") == "" {
			refuse(w, http.StatusForbidden, "UnrecognizedClientException",
				"The security token included in the request is invalid.")
			return
		}
		h(w, r)
	}
}

// family describes the models whose ids begin with a prefix.
type family struct {
	prefix string
	kind   string // text, image or video
	// profile reports whether they can only be called by an inference profile.
	profile bool
	ended   bool
	// toolless reports whether they cannot call tools.
	toolless bool
}

var families = []family{
	{prefix: "amazon.nova-micro-", kind: "text", profile: true},
	{prefix: "amazon.nova-lite-", kind: "text", profile: true},
	{prefix: "amazon.nova-pro-", kind: "text", profile: true},
	{prefix: "amazon.nova-premier-", kind: "text", profile: true},
	{prefix: "amazon.nova-2-lite-", kind: "text", profile: true},
	{prefix: "anthropic.claude-haiku-5-5", kind: "text", profile: true},
	{prefix: "anthropic.claude-sonnet-5-5", kind: "text", profile: true},
	{prefix: "anthropic.claude-sonnet-4-5-", kind: "text", profile: true},
	{prefix: "meta.llama3-3-70b-", kind: "text", profile: true},
	{prefix: "deepseek.v3.2", kind: "text", profile: true},
	{prefix: "deepseek.r1-", kind: "text", profile: true, toolless: true},
	{prefix: "openai.gpt-oss-120b-", kind: "text"},
	{prefix: "mistral.mistral-large-3-", kind: "text"},
	{prefix: "stability.", kind: "image"},
	{prefix: "luma.ray-v2:", kind: "video"},
	{prefix: "amazon.nova-canvas-", kind: "image", ended: true},
	{prefix: "amazon.nova-reel-", kind: "video", ended: true},
}

var profiles = []string{"us.", "eu.", "apac.", "jp.", "au.", "global."}

// check refuses a model that cannot be called in this way. It returns the model's id without
// the profile.
func (f *fake) check(w http.ResponseWriter, model, kind string) (id string, ok bool) {
	id = model
	for _, p := range profiles {
		id = strings.TrimPrefix(id, p)
	}
	i := slices.IndexFunc(families, func(f family) bool { return strings.HasPrefix(id, f.prefix) })
	switch {
	case i < 0 || families[i].kind != kind:
		invalid(w, "The provided model identifier is invalid.")
	case families[i].ended:
		refuse(w, http.StatusNotFound, "ResourceNotFoundException",
			"This model version has reached the end of its life.")
	case begins(id, f.Legacy):
		refuse(w, http.StatusNotFound, "ResourceNotFoundException", "Access denied. This Model is marked by provider as "+
			"Legacy and you have not been actively using the model in the last 30 days. Please upgrade to an active "+
			"model on Amazon Bedrock.")
	case begins(id, f.Denied):
		refuse(w, http.StatusForbidden, "AccessDeniedException", "You don't have access to the model with the specified "+
			"model ID.")
	case families[i].profile && id == model:
		invalid(w, fmt.Sprintf("Invocation of model ID %s with on-demand throughput isn't supported. Retry your "+
			"request with the ID or ARN of an inference profile that contains this model.", model))
	case !families[i].profile && id != model:
		invalid(w, "The provided model identifier is invalid.")
	default:
		return id, true
	}
	return "", false
}

// begins reports whether an id begins with one of some beginnings.
func begins(id string, with []string) bool {
	return slices.ContainsFunc(with, func(beginning string) bool { return strings.HasPrefix(id, beginning) })
}

// read reads the body of a request. If the body is wrong, it writes the error.
func read(w http.ResponseWriter, r *http.Request, into any) (sent map[string]any, ok bool) {
	sent, err := strict.JSON(r, into)
	if err == nil {
		err = strict.Query(r.URL.Query())
	}
	if err != nil {
		invalid(w, "Malformed input request: "+err.Error())
		return nil, false
	}
	return sent, true
}

// decode reads a part of a body as strictly as the whole.
func decode(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind the object")
	}
	return nil
}

func invalid(w http.ResponseWriter, message string) {
	refuse(w, http.StatusBadRequest, "ValidationException", message)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Amzn-Errortype", code)
	write(w, status, map[string]string{"message": message})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have gone
}
