package bedrock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/providertest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media/probe"
	fake "github.com/content-automation/api/testdata/providers/bedrock"
	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/sample"
)

const bucketName = "media-bucket"

// bucket is the bucket that the fake writes to and the adapter reads.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	err     error
}

func (b *bucket) Open(_ context.Context, key string) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, ok := b.objects[key]
	switch {
	case b.err != nil:
		return nil, b.err
	case !ok:
		return nil, errs.New(errs.NotFound, "no %s", key)
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (b *bucket) write(_ context.Context, name, key string, content []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if name != bucketName {
		return errors.New("access denied")
	}
	b.objects[key] = content
	return nil
}

// world is the provider before its fake.
type world struct {
	*Provider
	control *control.Control
	bucket  *bucket

	mu  sync.Mutex
	now time.Time
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func newWorld(t *testing.T, region string) *world {
	t.Helper()
	w := &world{control: control.New(), bucket: &bucket{objects: map[string][]byte{}},
		now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	server := httptest.NewServer(fake.New(fake.Config{
		Control: w.control, Samples: sample.File, Now: w.clock, Took: time.Minute, Write: w.bucket.write,
	}))
	t.Cleanup(server.Close)
	w.Provider = at(server.URL, region, w.bucket)
	return w
}

// at makes the adapter before a server.
func at(endpoint, region string, objects provider.Objects) *Provider {
	return New(Config{
		AWS: aws.Config{
			Region: region,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret"}, nil
			}),
			// As the functions have it: of another service.
			BaseEndpoint: aws.String("http://127.0.0.1:1"),
		},
		Endpoint: endpoint, Bucket: bucketName, Objects: objects,
	})
}

// film is a model of videos. The catalog has none of Bedrock, because no price is published.
const film = "ray-2"

// of makes a request of a model of the catalog, or of film.
func of(t *testing.T, model, prompt string) provider.Request {
	t.Helper()
	if model == film {
		return provider.Request{Kind: provider.KindVideo, Model: "luma.ray-v2:0", Prompt: prompt, ClientToken: model,
			Options: map[string]string{"resolution": "720p"}}
	}
	m, ok := catalog.Find(model)
	if !ok || m.Provider != Name {
		t.Fatalf("the catalog has no model %s here", model)
	}
	return provider.Request{Kind: m.Kind, Model: m.ProviderModel, Options: m.ProviderOptions, Prompt: prompt,
		ClientToken: model}
}

func TestConformance(t *testing.T) {
	w := newWorld(t, "us-west-2")
	var requests, failing []provider.Request
	for _, m := range catalog.Models(catalog.Filter{Provider: Name}) {
		if m.State == catalog.Retired {
			continue
		}
		req := of(t, m.ID, "A bay at sunrise")
		if m.Kind == provider.KindText {
			req.Slides, req.ScriptSeconds, req.Language = 5, 20, "de"
			req.System = prompt.Write(prompt.Writing{Task: prompt.Carousel, Slides: 5}).System + "\n" +
				prompt.Write(prompt.Writing{Task: prompt.Script, Scenes: 1, Seconds: 20}).System
			form := of(t, m.ID, "A bay at sunrise")
			form.Form = &provider.Form{System: "Answer with an object.", Tokens: 500}
			requests = append(requests, form)
		}
		requests = append(requests, req)
		for _, ratio := range m.Capabilities.AspectRatios {
			r := req
			r.AspectRatio, r.ClientToken = ratio, req.ClientToken+" "+ratio
			requests = append(requests, r)
		}
		fails := req
		fails.Prompt, fails.ClientToken = fake.Filtered, req.ClientToken+" fails"
		failing = append(failing, fails)
	}
	long := of(t, film, "A bay at sunrise")
	long.Seconds, long.ClientToken = 9, "nine seconds"
	requests = append(requests, long)

	queue := func(operation string, faults ...control.Fault) func(*testing.T) {
		return func(*testing.T) { w.control.Queue(Name, operation, faults...) }
	}
	submit := func(model string) func(context.Context, provider.Provider) error {
		return func(ctx context.Context, p provider.Provider) error {
			_, err := p.Submit(ctx, of(t, model, "A fault"))
			return err
		}
	}
	poll := func(ctx context.Context, p provider.Provider) error {
		req := of(t, film, "Asked about")
		req.ClientToken = req.Prompt
		submission, err := p.Submit(ctx, req)
		if err != nil {
			return fmt.Errorf("submit: %v", err) // not the expected call
		}
		_, err = p.Poll(ctx, submission.Handle)
		return err
	}
	suite := providertest.Suite{Provider: w, Requests: requests, Failing: failing, Advance: w.advance}
	for _, model := range []string{"nova-lite", "stable-image-core", film} {
		lost := provider.UnknownOutcome
		if model == film {
			lost = provider.Transient // its token finds it again
		}
		for name, c := range map[string]struct {
			fault control.Fault
			want  provider.ErrorKind
		}{
			"limit":                {control.Fault{Kind: control.RateLimited, Seconds: 7}, provider.Transient},
			"trouble":              {control.Fault{Kind: control.ServerError, Status: 500}, provider.Transient},
			"an outage":            {control.Fault{Kind: control.ServerError}, provider.Transient},
			"garbage":              {control.Fault{Kind: control.Garbage}, lost},
			"a cut connection":     {control.Fault{Kind: control.Drop}, lost},
			"a cut after accepted": {control.Fault{Kind: control.DropAfterAccept}, lost},
		} {
			suite.Faults = append(suite.Faults, providertest.Fault{
				Name: name + " of " + model, Arrange: queue(control.Submit, c.fault), Call: submit(model), Want: c.want,
			})
		}
	}
	for name, fault := range map[string]control.Fault{
		"limit": {Kind: control.RateLimited}, "trouble": {Kind: control.ServerError},
		"garbage": {Kind: control.Garbage},
	} {
		suite.Faults = append(suite.Faults, providertest.Fault{Name: name + " when polled",
			Arrange: queue(control.Status, fault), Call: poll, Want: provider.Transient})
	}
	for _, model := range []string{"nova-lite", "stable-image-core"} {
		suite.Faults = append(suite.Faults, providertest.Fault{
			Name: "a failure of " + model, Arrange: queue(control.Submit, control.Fault{Kind: control.JobFailed}),
			Call: submit(model), Want: provider.Rejected,
		})
	}
	providertest.Run(t, suite)
}

func TestModelsAreCalledByTheProfileOfTheRegion(t *testing.T) {
	// The fake refuses a model by its bare id where it has profiles.
	_, err := newWorld(t, "sa-east-1").Submit(t.Context(), of(t, "nova-lite", "x"))
	if provider.KindOf(err) != provider.BadInput {
		t.Errorf("without a profile: %v", err)
	}
	if _, err := newWorld(t, "eu-central-1").Submit(t.Context(), of(t, "nova-lite", "x")); err != nil {
		t.Errorf("with one: %v", err)
	}
}

func TestTextsAreHeldToTheirTokens(t *testing.T) {
	w := newWorld(t, "us-east-1")
	req := of(t, "gpt-oss-120b", "Trail running")
	req.ScriptSeconds, req.Scenes = 30, 5
	written := prompt.Write(prompt.Writing{Task: prompt.Script, Scenes: 5, Seconds: 30, Subject: "Trail running"})
	req.System, req.User = written.System, written.User
	submission, err := w.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if text := submission.Result.Text; text.Title != "Trail running" || len(text.Scenes) != 5 || len(text.Hooks) != 3 {
		t.Errorf("got %+v", text)
	}
	sent := w.control.Accepted()[0].Input
	if most := sent["inferenceConfig"].(map[string]any)["maxTokens"]; most != float64(provider.TextTokens(req).Output) {
		t.Errorf("it may write %v tokens, want %d", most, provider.TextTokens(req).Output)
	}
	system := sent["system"].([]any)[0].(map[string]any)["text"].(string)
	if system != written.System {
		t.Errorf("the system's prompt is %q", system)
	}
}

func TestAPictureHasTheRequestedShape(t *testing.T) {
	w := newWorld(t, "us-west-2")
	req := of(t, "stable-image-core", strings.Repeat("sunrise over the bay ", 600))
	req.AspectRatio = "16:9"
	submission, err := w.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := submission.Result.Media[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := probe.Bytes(content); err != nil || info.Width != 1344 || info.Height != 756 {
		t.Errorf("got %+v, %v", info, err)
	}
	if prompt := w.control.Accepted()[0].Prompt; len(prompt) > maxPrompt || len(prompt) < maxPrompt-30 ||
		!strings.HasSuffix(prompt, "y") && !strings.HasSuffix(prompt, "e") && !strings.HasSuffix(prompt, "r") {
		t.Errorf("the prompt of %d characters ends with %q", len(prompt), prompt[len(prompt)-20:])
	}
	for name, c := range map[string]struct {
		change func(*provider.Request)
		code   string
	}{
		"a ratio of others": {func(r *provider.Request) { r.AspectRatio = "7:1" }, "invalid_input"},
		"another model":     {func(r *provider.Request) { r.Model = "acme.painter-v1" }, "invalid_input"},
	} {
		r := req
		c.change(&r)
		var e *provider.Error
		if _, err := w.Submit(t.Context(), r); !errors.As(err, &e) || e.Kind != provider.BadInput || e.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSameRequestGetsTheSamePicture(t *testing.T) {
	w := newWorld(t, "us-west-2")
	draw := func(token string) string {
		req := of(t, "stable-image-core", "A bay")
		req.ClientToken = token
		submission, err := w.Submit(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := submission.Result.Media[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	first, again, other := draw("one"), draw("one"), draw("two")
	if first != again || first == other {
		t.Error("the picture does not follow from the request")
	}
}
